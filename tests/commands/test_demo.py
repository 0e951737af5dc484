"""`demo` serves one machine, with a corpus of its own or one of the user's."""

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import serving
from allennlp_sentmatch.serving import page
from allennlp_sentmatch.serving.page import CORPUS


@pytest.fixture
def served(monkeypatch):
    """The service, the settings and the address of each call."""
    calls = []
    monkeypatch.setattr(serving, "create_app", lambda *arguments: arguments)
    monkeypatch.setattr(serving, "serve", lambda app, *address: calls.append((*app, address)))
    return calls


def test_serves_this_machine_alone_and_a_corpus_of_its_own(allennlp, small_archive, served):
    allennlp("demo", small_archive)
    ((service, batch_size, allowed_hosts, _, address),) = served
    assert batch_size == 32
    assert allowed_hosts == []
    assert address == ("127.0.0.1", 7860, "page")
    assert "pooled cas_lstm · heuristic" in service.page["description"]
    assert f"Searches {len(CORPUS)} sentences" in service.page["search"]


def test_searches_the_sentences_of_a_file(allennlp, small_archive, served, tmp_path):
    (tmp_path / "corpus.txt").write_text("A cat.\n\nA dog.\n")
    arguments = ["--corpus", tmp_path / "corpus.txt", "--host", "::1", "--port", 80]
    arguments += ["--allowed-host", "demo.example", "--allowed-host", "other.example"]
    arguments += ["--max-words", 50, "--batch-size", 8]
    allennlp("demo", small_archive, *arguments)
    ((service, *settings),) = served
    assert "Searches 2 sentences" in service.page["search"]
    assert settings == [8, ["demo.example", "other.example"], 50, ("::1", 80, "page")]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], True),
        (["--host", "0.0.0.0"], False),
        (["--allowed-host", "demo.example"], False),
    ],
)
def test_only_this_machine_sees_validation_data(
    allennlp, small_archive, served, monkeypatch, arguments, shown
):
    example = {"premise": "From a file.", "hypothesis": "Of this machine."}
    monkeypatch.setattr(page, "validation_examples", lambda archive, predictor: [example])
    allennlp("demo", small_archive, *arguments)
    ((service, *_),) = served
    assert (example in service.page["examples"]) == shown


def test_a_corpus_without_a_sentence_is_refused(allennlp, small_archive, served, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n \n")
    with pytest.raises(ConfigurationError, match=r"corpus\.txt has no sentences"):
        allennlp("demo", small_archive, "--corpus", tmp_path / "corpus.txt")
    assert served == []


def test_the_page_is_for_archives(allennlp):
    with pytest.raises(ConfigurationError, match="package is not an archive"):
        allennlp("demo", "package")
