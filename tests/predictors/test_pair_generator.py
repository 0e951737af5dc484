"""The generator writes sentences for every label, and its evaluation judges them."""

import json

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors import PairGenerator
from allennlp_sentmatch.predictors.pair_generator import evaluate_generator
from allennlp_sentmatch.training.metrics import Distinct
from tests.conftest import REPOSITORY
from tests.models.samples import sample

PAIRS = str(REPOSITORY / "fixtures" / "data" / "snli.jsonl")

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
        {"source": "Xyzzy", "label": None},
    ]
    assert generator.predict_batch_json([]) == []
    for json_dict, output in zip(inputs, generator.predict_batch_json(inputs)):
        alone = generator.predict_json(json_dict)
        assert output["source"] == json_dict["source"]
        assert alone["source"] == json_dict["source"]
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
        ({"source": SOURCE, "label": [["neutral"]]}, r"'label' is \[\['neutral'\]\] in"),
        ({"source": SOURCE, "label": "maybe"}, r"'label' is 'maybe' in .* expected one of \['"),
    ],
)
def test_requests_that_cannot_be_answered(generator, request_, message):
    with pytest.raises(ConfigurationError, match=message):
        generator.predict_json(request_)
    with pytest.raises(ConfigurationError, match="needs a cs_lvm model, got VAESiamese"):
        generator_of("vae_siamese")


def test_artificial_pairs_and_their_metrics(
    generator_archives, allennlp, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("allennlp.common.logging.FILE_FRIENDLY_LOGGING", False)
    pairs_file = tmp_path / "pairs.jsonl"
    metrics_file = tmp_path / "metrics.json"
    generator, classifier = generator_archives
    files = ("--output-file", metrics_file, "--predictions-output-file", pairs_file)
    options = ("--classifier", classifier, "--batch-size", 3, "--file-friendly-logging")
    allennlp("evaluate-generator", generator, PAIRS, *options, *files)
    metrics = json.loads(metrics_file.read_text())
    printed = [f"{name}: {value:.4f}" for name, value in metrics.items()]
    assert capsys.readouterr().out.splitlines() == printed
    pairs = [json.loads(line) for line in pairs_file.read_text().splitlines()]

    # The premises and labels of the data set, with the generator's sentences.
    true_pairs = [
        (instance["metadata"].metadata["premise"], instance["label"].label)
        for instance in sample("cs_lvm").reader.read(PAIRS)
    ]
    assert [(pair["premise"], pair["label"]) for pair in pairs] == true_pairs
    generator = Predictor.from_path(generator_archives[0], "pair_generator")
    classifier = Predictor.from_path(generator_archives[1], "sentence_pair")
    for pair in pairs:
        output = generator.generate(pair["premise"], pair["label"])
        assert pair["hypothesis"] == output["sentences"][pair["label"]][0]["sentence"]
        judged = classifier.predict(pair["premise"], pair["hypothesis"])
        assert pair["predicted_label"] == judged["label"]

    again = list(sample("cs_lvm").reader.read(str(pairs_file)))
    assert [instance["label"].label for instance in again] == [pair["label"] for pair in pairs]

    right = sum(pair["label"] == pair["predicted_label"] for pair in pairs)
    assert metrics["accuracy"] == pytest.approx(right / len(pairs))
    expected = {"distinct-1": Distinct(1), "distinct-2": Distinct(2)}
    expected["distinct-2-per-bigram"] = Distinct(2, per_ngram=True)
    for name, metric in expected.items():
        metric(pair["hypothesis"].split() for pair in pairs)
        assert metrics[name] == pytest.approx(metric.get_metric())


@pytest.mark.parametrize("option", ["--output-file", "--predictions-output-file"])
def test_no_file_is_replaced(allennlp, tmp_path, option):
    """It is refused before the archives are loaded, not after hours of generating."""
    file = tmp_path / "pairs.jsonl"
    file.write_text("the pairs of another run")
    with pytest.raises(ConfigurationError, match=f"{file} exists already"):
        allennlp("evaluate-generator", "none", PAIRS, "--classifier", "none", option, file)
    assert file.read_text() == "the pairs of another run"


def test_pairs_without_labels(generator_archives, tmp_path):
    path = tmp_path / "unlabeled.jsonl"
    path.write_text('{"premise": "A man sleeps .", "hypothesis": "He is awake ."}\n')
    names = ("pair_generator", "sentence_pair")
    predictors = map(Predictor.from_path, generator_archives, names)
    with pytest.raises(ConfigurationError, match=r"unlabeled\.jsonl: this pair has no label"):
        evaluate_generator(*predictors, str(path))


def test_a_batch_has_at_least_a_pair(generator):
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1; got 0"):
        evaluate_generator(generator, None, PAIRS, batch_size=0)


@pytest.mark.parametrize("predicted", sorted(LABELS))
def test_the_accuracy_is_the_fraction_of_equal_labels(generator, tmp_path, predicted):
    class Classifier:
        def predict_batch_json(self, batch):
            return [{"label": predicted}] * len(batch)

    path = tmp_path / "pairs.jsonl"
    labels = ["contradiction", "entailment", "entailment", "neutral"]
    pair = {"premise": SOURCE, "hypothesis": "He is awake ."}
    path.write_text("".join(json.dumps({**pair, "label": label}) + "\n" for label in labels))
    metrics, _ = evaluate_generator(generator, Classifier(), str(path))
    assert metrics["accuracy"] == labels.count(predicted) / 4
