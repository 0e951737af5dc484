import asyncio
import threading
from functools import partial

import pytest

from allennlp_sentmatch.serving import Batcher, Job
from allennlp_sentmatch.serving.requests import MAX_BYTES, RequestError


class Model:
    """Repeats its inputs, and notes the batches; the first one waits until it may end."""

    def __init__(self):
        self.batches = []
        self.may_end = threading.Event()

    def read(self, inputs):
        if inputs["text"] == "unreadable":
            raise TypeError("this cannot be read")
        return inputs["text"], {"text": inputs.get("shape", (1, 1))}

    def predict(self, texts):
        self.batches.append(texts)
        assert self.may_end.wait(20)
        if "broken" in texts:
            raise RuntimeError("secret")
        if "nan" in texts:
            raise ValueError("not finite")
        return [{"heard": text} for text in texts]

    def job(self, **settings):
        return Job(self.read, self.predict, **settings)

    def batcher(self, **settings):
        return partial(Batcher(**settings), self.job())


def ask(batcher, *texts, size=1, **more):
    names = [f"input {n}" for n, _ in enumerate(texts, start=1)]
    return batcher([{"text": text, **more} for text in texts], [size] * len(texts), names)


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
    batcher = model.batcher(batch_size=3)
    answers = asyncio.run(
        after_the_first(model, batcher, ask(batcher, "a", "b"), ask(batcher, "c", "d"))
    )
    assert answers == [[{"heard": "a"}, {"heard": "b"}], [{"heard": "c"}, {"heard": "d"}]]
    assert model.batches == [["first"], ["a", "b", "c"], ["d"]]


def test_a_batch_costs_no_more_than_the_dearest_input():
    model = Model()
    batcher = model.batcher(max_words=20)
    shapes = {"a": (1, 10), "b": (1, 10), "c": (1, 14), "d": (30, 2), "e": (1, 6), "dear": (1, 21)}
    callers = [ask(batcher, name, shape=shape) for name, shape in shapes.items()]
    *_, refused = asyncio.run(after_the_first(model, batcher, *callers))
    # Padded, c and d would be 30 texts of 14 words, and d and e 30 of 6.
    assert model.batches == [["first"], ["a", "b"], ["c"], ["d"], ["e"]]
    assert (refused.status, str(refused)[:31]) == (413, "Input 1: the words of the longe")


def test_an_input_that_fails_does_not_affect_the_others():
    model = Model()
    batcher = model.batcher()
    callers = [ask(batcher, "a", "unreadable"), ask(batcher, "broken"), ask(batcher, "c", "nan")]
    callers.append(ask(batcher, "b"))
    unreadable, broken, nan, answered = asyncio.run(after_the_first(model, batcher, *callers))
    assert (unreadable.status, str(unreadable)) == (400, "Input 2: this cannot be read")
    assert (broken.status, str(broken)) == (500, "The model failed on input 1.")
    assert (nan.status, str(nan)) == (500, "The model failed on input 2: not finite")
    assert answered == [{"heard": "b"}]


def test_nothing_is_predicted_for_those_who_left_or_ask_nothing():
    model = Model()
    batcher = model.batcher()
    left = asyncio.wait_for(ask(batcher, "left"), 0)
    _, nothing, _ = asyncio.run(
        after_the_first(model, batcher, left, ask(batcher), ask(batcher, "a"))
    )
    assert (nothing, model.batches) == ([], [["first"], ["a"]])


@pytest.mark.parametrize(("texts", "weight", "size"), [("ab", 1, 1), ("a", 4, MAX_BYTES // 7)])
def test_a_queue_is_limited_but_not_a_single_request(texts, weight, size):
    """A dear input counts for several."""
    model = Model()
    whole = Batcher()
    batcher, last = partial(whole, model.job()), partial(whole, model.job(weight=weight))
    callers = ask(batcher, *texts, size=MAX_BYTES // 2), ask(last, "c", size=size)
    answer, refused = asyncio.run(after_the_first(model, batcher, *callers))
    assert answer == [{"heard": text} for text in texts]
    assert isinstance(refused, RequestError)
    assert (refused.status, whole.num_waiting) == (503, 0)


def test_jobs_do_not_share_a_batch_and_a_dear_one_weighs_more():
    model = Model()
    whole = Batcher(max_words=20)
    batcher, dear = partial(whole, model.job()), partial(whole, model.job(weight=4))
    callers = [ask(batcher, "a"), ask(dear, "b", shape=(1, 10)), ask(dear, "c"), ask(batcher, "d")]
    callers.append(ask(dear, "e", shape=(1, 11)))
    *_, refused = asyncio.run(after_the_first(model, batcher, *callers))
    assert model.batches == [["first"], ["a"], ["b"], ["c"], ["d"]]
    assert (refused.status, "(text 1 x 11), 4 times are" in str(refused)) == (413, True)


@pytest.mark.parametrize("name", ["batch_size", "max_words"])
def test_impossible_limits(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        Batcher(**{name: 0})
