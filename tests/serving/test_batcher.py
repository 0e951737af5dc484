import asyncio
import threading

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.serving import Batcher
from allennlp_sentmatch.serving.requests import MAX_BYTES, MAX_TEXT, RequestError


class Model:
    """Repeats its inputs, and notes the batches; the first one waits until it may end."""

    def __init__(self):
        self.batches = []
        self.may_end = threading.Event()

    def predict(self, inputs):
        self.batches.append([one["text"] for one in inputs])
        assert self.may_end.wait(20)
        if any(one["text"] == "unreadable" for one in inputs):
            raise ConfigurationError("this cannot be read")
        if any(one["text"] == "broken" for one in inputs):
            raise ValueError("secret")
        return [{"heard": one["text"]} for one in inputs]


def ask(batcher, *texts, size=1):
    return batcher([{"text": text} for text in texts], [size] * len(texts))


async def after_the_first(model, batcher, *callers):
    """The answers or errors of callers that come while the model computes for another one."""
    first = asyncio.create_task(ask(batcher, "first"))
    while not model.batches:
        await asyncio.sleep(0.01)
    waiting = [asyncio.create_task(caller) for caller in callers]
    await asyncio.sleep(0)
    model.may_end.set()
    assert await first == [{"heard": "first"}]
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_what_comes_while_the_model_computes_is_the_next_batch():
    model = Model()
    batcher = Batcher(model.predict, batch_size=3)
    answers = asyncio.run(
        after_the_first(model, batcher, ask(batcher, "a", "b"), ask(batcher, "c", "d"))
    )
    assert answers == [[{"heard": "a"}, {"heard": "b"}], [{"heard": "c"}, {"heard": "d"}]]
    assert model.batches == [["first"], ["a", "b", "c"], ["d"]]


def test_long_texts_share_a_batch_with_fewer():
    model = Model()
    batcher = Batcher(model.predict)
    callers = [ask(batcher, name, size=MAX_TEXT) for name in "abc"]
    asyncio.run(after_the_first(model, batcher, ask(batcher, "short"), *callers))
    assert model.batches == [["first"], ["short", "a"], ["b", "c"]]


def test_an_input_that_fails_does_not_affect_the_others():
    model = Model()
    batcher = Batcher(model.predict)
    callers = [ask(batcher, "a", "unreadable"), ask(batcher, "broken"), ask(batcher, "b")]
    unreadable, broken, answered = asyncio.run(after_the_first(model, batcher, *callers))
    assert (unreadable.status, str(unreadable)) == (400, "Input 2: this cannot be read")
    assert (broken.status, str(broken)) == (500, "The model failed on input 1.")
    assert answered == [{"heard": "b"}]


def test_nothing_is_predicted_for_those_who_left():
    model = Model()
    batcher = Batcher(model.predict)
    left = asyncio.wait_for(ask(batcher, "left"), 0)
    asyncio.run(after_the_first(model, batcher, left, ask(batcher, "a")))
    assert model.batches == [["first"], ["a"]]


def test_a_queue_is_limited_but_not_a_single_request():
    model = Model()
    batcher = Batcher(model.predict)
    whole = ask(batcher, *"ab", size=MAX_BYTES // 2)
    answers = asyncio.run(after_the_first(model, batcher, whole, ask(batcher, "c")))
    assert answers[0] == [{"heard": "a"}, {"heard": "b"}]
    assert isinstance(answers[1], RequestError)
    assert answers[1].status == 503
    assert batcher.num_waiting == 0


def test_no_input_has_no_prediction():
    assert asyncio.run(ask(Batcher(lambda inputs: inputs))) == []


def test_a_batch_has_an_input():
    with pytest.raises(ConfigurationError, match="batch_size must be at least 1, got 0"):
        Batcher(lambda inputs: inputs, batch_size=0)
