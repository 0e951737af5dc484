"""Generation from JSON."""

import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model

from allennlp_sentmatch.predictors import PairGenerator
from tests.conftest import REPOSITORY

LABELS = {"entailment", "neutral", "contradiction"}
SOURCE = "A woman in a red coat waits ."


def from_fixture(name):
    params = Params.from_file(REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet")
    reader = DatasetReader.from_params(params["dataset_reader"])
    instances = list(reader.read(REPOSITORY / params["train_data_path"]))
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(
        instances, tokens_to_add=params["vocabulary"]["tokens_to_add"].as_dict()
    )
    torch.manual_seed(0)
    return Model.from_params(params["model"], vocab=vocab).eval(), reader


@pytest.fixture(scope="module")
def generator():
    return PairGenerator(*from_fixture("cs_lvm"))


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
    for json_dict, output in zip(inputs, generator.predict_batch_json(inputs)):
        alone = generator.predict_json(json_dict)
        assert output["source"] == alone["source"] == json_dict["source"]
        assert output["sentences"].keys() == alone["sentences"].keys()
        for label, beams in output["sentences"].items():
            assert [b["tokens"] for b in beams] == [b["tokens"] for b in alone["sentences"][label]]


def test_sampled_latents():
    generator = PairGenerator(*from_fixture("cs_lvm"), sample_latent=True)
    first, second = (generator.generate(SOURCE, "neutral") for _ in range(2))
    assert first != second


def test_bad_inputs(generator):
    with pytest.raises(ConfigurationError, match=r"expected source, .*got \['premise'\]"):
        generator.predict_json({"premise": SOURCE})
    with pytest.raises(ConfigurationError, match="'source' must be a string, got None"):
        generator.predict_json({"source": None})
    with pytest.raises(ConfigurationError, match=r"'source' in .* has the lone surrogate"):
        generator.generate("\ud800")
    with pytest.raises(ConfigurationError, match=r"expected a JSON object, got \['source'\]"):
        generator.predict_json(["source"])
    with pytest.raises(ConfigurationError, match=r"'label' is \[\['neutral'\]\] in"):
        generator.generate(SOURCE, [["neutral"]])
    with pytest.raises(ConfigurationError, match=r"'label' is 'maybe' in .* expected one of \['"):
        generator.generate(SOURCE, "maybe")
    with pytest.raises(ConfigurationError, match="needs a cs_lvm model, got VAESiamese"):
        PairGenerator(*from_fixture("vae_siamese"))


def test_no_requests(generator):
    assert generator.predict_batch_json([]) == []
