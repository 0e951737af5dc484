"""Generation from JSON."""

import json

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.predictors import PairGenerator
from tests.models.samples import sample

LABELS = {"entailment", "neutral", "contradiction"}
SOURCE = "A woman in a red coat waits ."


def generator_of(name: str = "cs_lvm", **settings) -> PairGenerator:
    return PairGenerator(sample(name).construct(), sample(name).reader, **settings)


@pytest.fixture(scope="module")
def generator() -> PairGenerator:
    return generator_of()


def test_every_label(generator):
    output = generator.predict_json({"source": SOURCE})
    assert json.loads(json.dumps(output)) == output
    assert output["source"] == SOURCE
    assert output["sentences"].keys() == LABELS
    for beams in output["sentences"].values():
        assert len(beams) == 3
        scores = [beam["score"] for beam in beams]
        assert scores == sorted(scores, reverse=True)
        for beam in beams:
            assert beam["sentence"] == " ".join(beam["tokens"])


def test_one_label_gives_what_it_gives_among_all(generator):
    output = generator.generate(SOURCE, "neutral")
    assert output["sentences"].keys() == {"neutral"}
    among_all = generator.generate(SOURCE)["sentences"]
    (alone,) = output["sentences"].values()
    assert [b["tokens"] for b in alone] == [b["tokens"] for b in among_all["neutral"]]
    assert [b["score"] for b in alone] == pytest.approx([b["score"] for b in among_all["neutral"]])
    assert among_all["neutral"] != among_all["entailment"]


def test_a_batch(generator):
    inputs = [
        {"source": SOURCE, "label": "neutral"},
        {"source": "Two dogs run across the frozen lake in the winter ."},
        {"source": "", "label": None},
    ]
    assert generator.predict_batch_json([]) == []
    for json_dict, output in zip(inputs, generator.predict_batch_json(inputs)):
        alone = generator.predict_json(json_dict)
        assert output["source"] == alone["source"] == json_dict["source"]
        assert output["sentences"].keys() == alone["sentences"].keys()
        for label, beams in output["sentences"].items():
            assert [b["tokens"] for b in beams] == [b["tokens"] for b in alone["sentences"][label]]


def test_sampled_latents():
    generator = generator_of(sample_latent=True)
    first, second = (generator.generate(SOURCE, "neutral") for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"premise": SOURCE}, r"expected source, .*got \['premise'\]"),
        ({"source": None}, "'source' must be a string, got None"),
        ({"source": "\ud800"}, r"'source' in .* has the lone surrogate"),
        (["source"], r"expected a JSON object, got \['source'\]"),
        ({"source": SOURCE, "label": [["neutral"]]}, r"'label' is \[\['neutral'\]\] in"),
        ({"source": SOURCE, "label": "maybe"}, r"'label' is 'maybe' in .* expected one of \['"),
    ],
)
def test_requests_that_cannot_be_answered(generator, request_, message):
    with pytest.raises(ConfigurationError, match=message):
        generator.predict_json(request_)
    with pytest.raises(ConfigurationError, match="needs a cs_lvm model, got VAESiamese"):
        generator_of("vae_siamese")
