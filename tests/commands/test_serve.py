"""`serve` passes its settings to the server, and reports bad ones before it loads a model."""

import signal
from contextlib import suppress

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import serving
from allennlp_sentmatch.__main__ import main
from allennlp_sentmatch.models import archival
from allennlp_sentmatch.predictors import SentencePairPredictor, SingleSentencePredictor
from allennlp_sentmatch.serving import Service, predictions


@pytest.fixture
def served(monkeypatch):
    """The predictor, the settings and the address of each call."""
    calls = []
    monkeypatch.setattr(serving, "create_app", lambda *arguments: arguments)
    monkeypatch.setattr(predictions, "service_of", lambda x: Service("", "", {}, {"predictor": x}))
    monkeypatch.setattr(Service, "most_words", lambda service: 500)

    def keep(app, host, port, name):
        service, *settings = app
        calls.append((service.page and service.page["predictor"], *settings, host, port))

    monkeypatch.setattr(serving, "serve", keep)
    return calls


def test_serves_this_machine_alone_with_the_model_s_predictor(allennlp, small_archive, served):
    allennlp("serve", small_archive)
    ((predictor, batch_size, *others),) = served
    assert type(predictor) is SentencePairPredictor
    assert batch_size == 32
    assert others == [[], 500, "127.0.0.1", 8000]


def test_sigterm_ends_it_while_the_archive_is_loaded(allennlp, small_archive, monkeypatch):
    def load(*arguments, **settings):
        with suppress(Exception):  # as h5py's import does
            signal.raise_signal(signal.SIGTERM)
        raise AssertionError

    monkeypatch.setattr(archival, "load_archive", load)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            allennlp("serve", small_archive)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert ended.value.code is None


def test_serves_with_other_settings(allennlp, small_archive, served):
    arguments = ["--predictor-args", '{"threshold": 0.99}', "--batch-size", 8, "--max-words", 50]
    address = ["--host", "::1", "--port", 80, "--allowed-host", "a.example"]
    allennlp("serve", small_archive, *arguments, *address)
    allennlp("serve", small_archive, "--predictor", "single_sentence")
    (predictor, *others), (other, *_) = served
    assert predictor.predict("A cat sleeps.", "A dog runs.")["label"] is None
    assert others == [8, ["a.example"], 50, "::1", 80]
    assert type(other) is SingleSentencePredictor


def test_serves_the_encoder_in_the_package_without_an_archive_s_settings(allennlp, served):
    allennlp("serve", "package")
    assert served == [(None, 32, [], 500, "127.0.0.1", 8000)]
    for options in (["--predictor", "single_sentence"], ["--cuda-device", 0]):
        with pytest.raises(ConfigurationError, match=f"not an archive.*; leave out {options[0]}"):
            allennlp("serve", "package", *options)


@pytest.mark.parametrize("value", ["[1]", "{", "NaN"])
def test_predictor_args_are_a_json_object(allennlp, small_archive, served, value):
    with pytest.raises(ConfigurationError, match=r"--predictor-args: .*expected an? .*object"):
        allennlp("serve", small_archive, "--predictor-args", value)
    assert served == []


def test_impossible_settings_are_sentences(allennlp, small_archive):
    pytest.importorskip("fastapi")
    for option, value in (("--batch-size", 0), ("--max-words", 0), ("--port", 99999)):
        with pytest.raises(ConfigurationError, match=f"(?i){option[2:].replace('-', '.')}"):
            allennlp("serve", small_archive, option, value)


@pytest.mark.parametrize(
    ("model", "served"),
    [
        ("archive", "SiameseClassifier of allennlp_sentmatch: /predict, /inspect, "),
        ("package", ""),
    ],
)
def test_it_says_what_it_serves_without_the_program_of_allennlp(
    small_archive, monkeypatch, capsys, model, served
):
    """An archive is served with its predictions, too."""
    pytest.importorskip("fastapi")
    monkeypatch.setattr(serving, "serve", lambda *arguments: None)
    monkeypatch.setattr(signal, "signal", lambda *arguments: None)
    main(["serve", str(small_archive) if model == "archive" else model, "--max-words", "50"])
    printed = capsys.readouterr().out
    assert served in printed
    assert "/v1/embeddings, /similarity, /rerank" in printed
