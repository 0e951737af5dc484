import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.commands import demo


@pytest.fixture
def served(monkeypatch):
    """The model, the search, the allowed hosts, the host and the port of each call."""
    calls = []
    monkeypatch.setattr(demo, "create_app", lambda *arguments: arguments)
    monkeypatch.setattr(
        demo, "serve", lambda app, host, port, name: calls.append((*app, host, port))
    )
    return calls


def test_serves_this_machine_alone_and_a_corpus_of_its_own(allennlp, small_archive, served):
    allennlp("demo", small_archive)
    ((model, search, allowed_hosts, host, port),) = served
    assert (allowed_hosts, host, port) == ([], "127.0.0.1", 7860)
    assert [text_input.name for text_input in model.task.inputs] == ["premise", "hypothesis"]
    assert "siamese_classifier · pooled cas_lstm · heuristic" in model.description
    assert search.sentences == demo.CORPUS


def test_searches_the_sentences_of_a_file(allennlp, small_archive, served, tmp_path):
    (tmp_path / "corpus.txt").write_text("A cat.\n\nA dog.\n")
    arguments = ["--corpus", tmp_path / "corpus.txt", "--host", "::1", "--port", 80]
    arguments += ["--allowed-host", "demo.example", "--allowed-host", "other.example"]
    allennlp("demo", small_archive, *arguments)
    ((_, search, allowed_hosts, host, port),) = served
    assert search.sentences == ["A cat.", "A dog."]
    assert (host, port) == ("::1", 80)
    assert allowed_hosts == ["demo.example", "other.example"]


def test_a_corpus_without_a_sentence_is_refused(allennlp, small_archive, served, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n \n")
    with pytest.raises(ConfigurationError, match=r"corpus\.txt has no sentence in it"):
        allennlp("demo", small_archive, "--corpus", tmp_path / "corpus.txt")
    assert served == []
