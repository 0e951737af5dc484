"""Requests are batched by their cost, in turns, and nobody waits for others' errors."""

import asyncio
import threading
import time
from functools import partial

import pytest

from allennlp_sentmatch.serving import Batcher, Job, batch, batcher
from allennlp_sentmatch.serving.batcher import MAX_WAITING
from allennlp_sentmatch.serving.request_errors import RequestError
from allennlp_sentmatch.serving.waiting_request import SMALL_REQUEST


class Model:
    """Repeats its inputs, and records the batches; the first one waits until it may end."""

    def __init__(self):
        self.batches = []
        self.may_end = threading.Event()

    def predict(self, texts):
        self.batches.append(texts)
        assert self.may_end.wait(20)
        if "broken" in texts:
            raise RuntimeError("secret")
        if "panic" in texts:
            raise PanicException
        if "nan" in texts:
            raise ValueError("not finite")
        return [{"heard": text} for text in texts]

    def batcher(self, **settings):
        return partial(Batcher(**settings), Repeating(self))


class PanicException(BaseException):
    """What PyO3 raises where Rust panics, such as in the library tokenizers."""


class Repeating(Job):
    def __init__(self, model, weight=1):
        self.model = model
        self.weight = weight

    def read(self, inputs):
        if inputs["text"] == "unreadable":
            raise TypeError("this cannot be read")
        if inputs["text"] == "unread panic":
            raise PanicException
        return inputs["text"], {"text": inputs.get("shape", (1, 1))}

    def compute(self, batch):
        return self.model.predict(batch)

    def dearest(self, num_words):
        raise NotImplementedError


def ask(batcher, *texts, size=1, **more):
    names = [f"input {n}" for n, _ in enumerate(texts, start=1)]
    return batcher([{"text": text, **more} for text in texts], [size] * len(texts), names)


async def after_the_first(model, batcher, *callers):
    """The answers or errors of callers who come while the model is busy."""
    first = asyncio.create_task(ask(batcher, "first"))
    while not model.batches:
        await asyncio.sleep(0.01)
    waiting = [asyncio.create_task(caller) for caller in callers]
    await asyncio.sleep(0)
    model.may_end.set()
    assert await first == [{"heard": "first"}]
    return await asyncio.gather(*waiting, return_exceptions=True)


def heard(*texts):
    """Return the model's answers to these texts."""
    return [{"heard": text} for text in texts]


def busy(model, batcher, *callers):
    """Return the answers or errors of callers who come while the model is busy."""
    return asyncio.run(after_the_first(model, batcher, *callers))


def test_what_comes_while_the_model_computes_is_the_next_batch():
    model = Model()
    batcher = model.batcher(batch_size=3)
    first, second = busy(model, batcher, ask(batcher, "a", "b"), ask(batcher, "c", "d"))
    assert first == heard("a", "b")
    assert second == heard("c", "d")
    assert model.batches == [["first"], ["a", "b", "c"], ["d"]]


def test_a_batch_costs_no_more_than_the_dearest_input():
    model = Model()
    batcher = model.batcher(max_words=20)
    shapes = {
        "a": (1, 10),
        "b": (1, 10),
        "c": (1, 14),
        "d": (30, 2),
        "e": (1, 6),
        "dear": (1, 21),
    }
    callers = [ask(batcher, name, shape=shape) for name, shape in shapes.items()]
    *_, refused = busy(model, batcher, *callers)
    # Padded, c and d would be 30 texts of 14 words, and d and e 30 of 6.
    assert model.batches == [["first"], ["a", "b"], ["c"], ["d"], ["e"]]
    assert refused.status == 413
    assert str(refused).startswith("Input 1: the words of the longe")


def test_an_input_that_fails_does_not_affect_the_others():
    model = Model()
    batcher = model.batcher()
    unreadable, broken, not_finite, answered = busy(
        model,
        batcher,
        ask(batcher, "a", "unreadable"),
        ask(batcher, "broken"),
        ask(batcher, "c", "nan"),
        ask(batcher, "b"),
    )
    assert unreadable.status == 400
    assert str(unreadable) == "Input 2: this cannot be read"
    assert broken.status == 500
    assert str(broken) == "The model failed on input 1."
    assert not_finite.status == 500
    assert str(not_finite) == "The model failed on input 2: not finite"
    assert answered == heard("b")


@pytest.mark.parametrize("text", ["panic", "unread panic"])
def test_a_panic_of_a_tokenizer_does_not_stop_the_server(text):
    model = Model()
    batcher = model.batcher()
    failed, answered = busy(model, batcher, ask(batcher, text), ask(batcher, "a"))
    assert (failed.status, str(failed)) == (500, "The model failed on input 1.")
    assert answered == heard("a")


def test_nothing_is_predicted_for_those_who_left_or_ask_nothing():
    model = Model()
    batcher = model.batcher()
    left = asyncio.wait_for(ask(batcher, "left"), 0)
    _, nothing, _ = busy(model, batcher, left, ask(batcher), ask(batcher, "a"))
    assert nothing == []
    assert model.batches == [["first"], ["a"]]


HALF = MAX_WAITING // 2


@pytest.mark.parametrize(
    ("texts", "weight", "size", "room"),
    [
        pytest.param("ab", 1, 1, 0, id="full"),
        pytest.param("a", 4, MAX_WAITING // 7, MAX_WAITING - HALF, id="a dear input"),
    ],
)
def test_a_queue_is_limited(texts, weight, size, room):
    """An expensive input counts as several, and a request of any size is taken if none waits."""
    model = Model()
    whole = Batcher()
    batcher = partial(whole, Repeating(model))
    last = partial(whole, Repeating(model, weight))
    taken = ask(batcher, *texts, size=HALF)
    answer, refused = busy(model, batcher, taken, ask(last, "c", size=size))
    assert answer == heard(*texts)
    assert isinstance(refused, RequestError)
    assert refused.status == 503
    assert f"There is room for {room:,} characters now" in str(refused)
    assert whole.num_waiting == 0


@pytest.mark.parametrize("num_large", [1, 20])
def test_a_small_request_waits_for_one_batch_of_large_ones(num_large):
    """This holds for any number of them, and none waits for another one's end."""
    model = Model()
    batcher = model.batcher(batch_size=2)
    names = [str(number) for number in range(num_large)]
    large = []
    for name in names:
        texts = [f"{name}{i}" for i in range(8)]
        large.append(ask(batcher, *texts, size=SMALL_REQUEST))
    answers = busy(model, batcher, *large, ask(batcher, "small"))
    assert [len(answer) for answer in answers] == [8] * num_large + [1]
    assert ["small"] in model.batches[:3]
    owners = [batch[0][:-1] for batch in model.batches]
    owners_of_large = [owner for owner in owners if owner.isdigit()]
    assert owners_of_large == names * 4


def test_large_requests_go_on_however_many_small_ones_come():
    model = Model()
    batcher = model.batcher(batch_size=1)
    large = ask(batcher, *"abcd", size=SMALL_REQUEST)
    small = [ask(batcher, str(number)) for number in range(50)]
    busy(model, batcher, large, *small)
    assert [model.batches.index([text]) for text in "abcd"] == [2, 5, 8, 11]


def test_inputs_share_batches_in_the_order_of_their_lengths():
    model = Model()
    batcher = model.batcher(batch_size=2)
    a = "a " * 9
    c = "c " * 8
    e = "e " * 9
    texts = [a, "b", c, "d", e]
    sizes = [200 * len(text) for text in texts]
    model.may_end.set()
    inputs = [{"text": text} for text in texts]
    answers = asyncio.run(batcher(inputs, sizes, ["-"] * 5))
    assert answers == heard(*texts)
    assert model.batches == [["b", "d"], [c, a], [e]]


class Slow(Repeating):
    """Needs a tenth of a millisecond for a word, and some milliseconds for any batch."""

    def __init__(self, model, overhead):
        super().__init__(model)
        self.overhead = overhead

    def compute(self, batch):
        num_words = sum(len(text.split()) for text in batch)
        until = time.thread_time() + 0.001 * self.overhead + 0.0001 * num_words
        while time.thread_time() < until:
            pass
        return self.model.predict(batch)

    def read(self, inputs):
        return inputs["text"], {"text": (1, len(inputs["text"].split()))}


@pytest.mark.parametrize(("overhead", "fewest", "most"), [(0, 5, 20), (100, 16, 32)])
def test_a_turn_takes_as_long_as_it_should_or_twice_as_long_as_one_input(
    monkeypatch, overhead, fewest, most
):
    """If one input takes as long as many, many are computed at a time."""
    monkeypatch.setattr(batch, "TURN_SECONDS", 0.05)
    model = Model()
    model.may_end.set()
    inputs = [{"text": "word " * 50}] * 64
    asyncio.run(Batcher()(Slow(model, overhead), inputs, [50] * 64, ["-"] * 64))
    sizes = [len(batch) for batch in model.batches]
    assert sum(sizes) == 64
    assert fewest <= max(sizes) <= most


class Sleeping(Repeating):
    """Needs a tenth of a second for a batch."""

    def compute(self, batch):
        time.sleep(0.1)
        return super().compute(batch)


def test_a_request_that_goes_on_is_not_given_up(monkeypatch):
    monkeypatch.setattr(batcher, "STALLED_SECONDS", 0.5)
    model = Model()
    model.may_end.set()
    one_by_one = partial(Batcher(batch_size=1), Sleeping(model))
    assert asyncio.run(ask(one_by_one, *"abcdefgh")) == heard(*"abcdefgh")


def test_a_request_of_which_nothing_is_computed_is_given_up(monkeypatch):
    monkeypatch.setattr(batcher, "STALLED_SECONDS", 0.5)
    model = Model()
    with pytest.raises(RequestError, match="too busy") as refused:
        asyncio.run(ask(model.batcher(), "a"))
    assert refused.value.status == 503
    model.may_end.set()


def test_a_request_that_is_left_is_not_computed_further():
    """The inputs of a started batch are computed; the others leave the queue."""
    model = Model()
    whole = Batcher(batch_size=2)
    assert asyncio.run(leave_and_ask(model, whole)) == heard("last")
    assert model.batches == [["a", "b"], ["last"]]


async def leave_and_ask(model, whole):
    """Leave while the first batch is computed, and return the answer to the next request."""
    batcher = partial(whole, Repeating(model))
    asked = asyncio.create_task(ask(batcher, *"abcdefgh"))
    while not model.batches:
        await asyncio.sleep(0.01)
    asked.cancel()
    await asyncio.wait([asked])
    assert whole.num_waiting == 0
    model.may_end.set()
    return await ask(batcher, "last")


def test_jobs_do_not_share_a_batch_and_a_dear_one_weighs_more():
    model = Model()
    whole = Batcher(max_words=20)
    batcher = partial(whole, Repeating(model))
    dear = partial(whole, Repeating(model, 4))
    *_, refused = busy(
        model,
        batcher,
        ask(batcher, "a"),
        ask(dear, "b", shape=(1, 10)),
        ask(dear, "c"),
        ask(batcher, "d"),
        ask(dear, "e", shape=(1, 11)),
    )
    assert model.batches == [["first"], ["a"], ["b"], ["c"], ["d"]]
    assert refused.status == 413
    assert "(text 1 x 11), 4 times are" in str(refused)


@pytest.mark.parametrize("name", ["batch_size", "max_words"])
def test_impossible_limits(name):
    wrong = {name: 0}
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1; got 0"):
        Batcher(**wrong)
