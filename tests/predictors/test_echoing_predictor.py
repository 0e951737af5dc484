"""Every predictor echoes its input, and refuses and names what it cannot read."""

import bz2
import codecs
import gzip
import io
import json
import math
import os
from types import SimpleNamespace

import numpy
import pytest
from allennlp.commands.predict import _PredictManager
from allennlp.common.checks import ConfigurationError
from hypothesis import strategies as st

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files import texts as checks
from allennlp_sentmatch.predictors import PairGenerator
from tests.fuzzing import cases, check_cases, check_refusal, nested, texts, values

PAIR = {"premise": "a", "hypothesis": "b"}


@pytest.mark.parametrize(
    ("name", "request_", "message"),
    [
        ("esim", {"premise": "a"}, r"expected premise/hypothesis or sentence1/sentence2.*\['prem"),
        ("esim", {**PAIR, "hypothesis": None}, "'hypothesis' must be a string, got None"),
        ("esim", {"sentence1": 3, "sentence2": "a"}, "'sentence1' must be a string, got 3"),
        ("esim", {**PAIR, "hypothesis": "\ud800"}, "^hypothesis has the lone surrogate"),
        ("esim", {**PAIR, "premise": ""}, "'premise' is blank in {'hypothesis': 'b', 'premise'"),
        ("esim", ["premise", "hypothesis"], r"expected a JSON object, got \['premise', 'hypo"),
        ("esim", {"premise": "a", 3: "b"}, r"expected premise/hypothesis .*\['premise', 3\]"),
        ("sentence_classifier", {"tokens": "a"}, r"expected sentence or text .*\['tokens'\]"),
        ("encoder_decoder", {"text": "a"}, r"expected source in the JSON, got \['text'\]"),
        *(
            ("attentive_ranker", {"question": "a", "candidates": candidates}, message)
            for candidates, message in [
                ("a", "must be a list of at least one string, got 'a'"),
                ([], "must be a list of at least one string"),
                (["a", " "], "each of 'candidates' is blank"),
                (["a", 3], "each of 'candidates' must be a string, got 3"),
                (["\udc00"], "^each of the candidates has the lone surrogate"),
            ]
        ),
    ],
)
def test_requests_that_cannot_be_answered(untrained_predictor, name, request_, message):
    predictor = untrained_predictor(name)
    for answer in (predictor.predict_json, lambda json: predictor.predict_batch_json([json])):
        with pytest.raises(ConfigurationError, match=message):
            answer(request_)


@pytest.mark.parametrize(
    ("name", "request_", "texts"),
    [
        ("esim", {"premise": "é", "hypothesis": "ü"}, ["é", "ü"]),
        ("attentive_ranker", {"question": "é", "candidates": ["ü", "ö"]}, ["é", "ü", "ö"]),
        ("encoder_decoder", {"source": "ä"}, ["ä"]),
    ],
)
def test_a_text_is_searched_for_surrogates_once(
    untrained_predictor, monkeypatch, name, request_, texts
):
    predictor = untrained_predictor(name)
    searched = []
    assert predictor.predict_batch_json([]) == []
    monkeypatch.setattr(checks, "_SURROGATE", SimpleNamespace(search=searched.append))
    request = predictor.load_line(json.dumps({**request_, "id": 3}))
    assert request == {**request_, "id": 3}
    predictor.predict_batch_json([request])
    predictor.predict_json(request)
    assert searched == texts


def test_each_predictor_reads_a_request_itself(untrained_predictor):
    esim = untrained_predictor("esim")
    other = untrained_predictor("similarity_regressor")
    expected = other.predict_json(PAIR)
    assert other.predict_json(esim.check(PAIR)) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"premise": "a"', "not valid JSON"),
        (json.dumps({**PAIR, "premise": 5}), "'premise' must be a string, got 5"),
        ('{"premise": "a"}', "hypothesis"),
    ],
)
def test_a_bad_line_is_named_by_its_number(untrained_predictor, line, message):
    predictor = untrained_predictor("esim")
    assert predictor.load_line(json.dumps(PAIR)) == PAIR
    with pytest.raises(ConfigurationError, match=rf"^input line 2: .*{message}"):
        predictor.load_line(line)


@pytest.mark.parametrize("line", ["Ein Hund\n", ' {"source": "Ein Hund"}\n'])
@pytest.mark.parametrize("bad", ["\ud800", '{"source": "a"'])
def test_a_line_is_a_sentence_to_translate_or_an_object(untrained_predictor, line, bad):
    predictor = untrained_predictor("encoder_decoder")
    assert predictor.load_line(line) == {"source": "Ein Hund"}
    assert predictor.load_line("[1]\n") == {"source": "[1]"}
    with pytest.raises(ConfigurationError, match=r"^input line 3"):
        predictor.load_line(bad)


def predicted(predictor, lines, folder, batch_size=2, name="input"):
    """The output of `allennlp predict` for a file of these lines, or of these bytes."""
    source = folder / name
    target = folder / "output.jsonl"
    content = lines if isinstance(lines, bytes) else "".join(f"{x}\n" for x in lines).encode()
    source.write_bytes(content)
    manager = _PredictManager(predictor, str(source), str(target), batch_size, False, False)
    manager.run()
    return [json.loads(line) for line in target.read_text().splitlines()]


def test_all_lines_of_a_file_are_counted(untrained_predictor, tmp_path):
    lines = ["", json.dumps(PAIR), "  ", "{", json.dumps(PAIR)]
    with pytest.raises(ConfigurationError, match=r"^input line 4: .*not valid JSON"):
        predicted(untrained_predictor("esim"), lines, tmp_path)


def test_bad_lines_can_be_skipped(untrained_predictor, tmp_path, caplog):
    predictor = untrained_predictor("esim")
    lines = [json.dumps({**PAIR, "premise": text}) for text in "abc"]
    lines[1:1] = ["", "{", '{"premise": 1, "hypothesis": "b"}']
    skipping = type(predictor)(predictor._model, predictor._dataset_reader, on_error="skip")
    outputs = predicted(skipping, lines, tmp_path)
    assert [output["premise"] for output in outputs] == ["a", "b", "c"]
    first, second, count = (text for text in caplog.messages if text.startswith("skipped"))
    assert first.startswith("skipped: input line 3: ")
    assert second.startswith("skipped: input line 4: 'premise' must be a string")
    assert count.startswith("skipped 2 lines")
    with pytest.raises(ConfigurationError, match="on_error must be one of raise, skip; got 'no'"):
        type(predictor)(predictor._model, predictor._dataset_reader, on_error="no")


GERMAN = "Ein Hund läuft.\nEine Frau liest.\n"
ENCODED = {
    "input": codecs.BOM_UTF8 + GERMAN.encode(),
    "utf_16": GERMAN.encode("utf-16"),
    "utf_16_be": codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"),
    "input.gz": gzip.compress(codecs.BOM_UTF8 + GERMAN.encode()),
    "compressed": gzip.compress(GERMAN.encode("utf-16")),
    "input.bz2": bz2.compress(codecs.BOM_UTF8 + GERMAN.encode()),
    "windows": codecs.BOM_UTF8 + GERMAN.replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("name", ENCODED)
def test_a_byte_order_mark_decides_the_encoding(untrained_predictor, tmp_path, name):
    predictor = untrained_predictor("encoder_decoder")
    outputs = predicted(predictor, ENCODED[name], tmp_path, name=name)
    assert [output["source"] for output in outputs] == GERMAN.splitlines()
    assert outputs == predicted(predictor, GERMAN.encode(), tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_json_after_a_byte_order_mark(untrained_predictor, tmp_path, encoding):
    content = (json.dumps(PAIR) + "\n").encode(encoding)
    (output,) = predicted(untrained_predictor("esim"), content, tmp_path)
    assert output.items() >= PAIR.items()


def test_the_standard_input_and_a_pipe(untrained_predictor, tmp_path, monkeypatch):
    predictor = untrained_predictor("encoder_decoder")
    target = tmp_path / "output.jsonl"
    pipe, other_end = os.pipe()
    with open(other_end, "wb") as writer:
        writer.write(ENCODED["utf_16"])
    stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(ENCODED["input"])))
    monkeypatch.setattr("sys.stdin", stdin)
    for source in ("-", f"/dev/fd/{pipe}"):
        _PredictManager(predictor, source, str(target), 2, False, False).run()
        lines = target.read_text().splitlines()
        assert [json.loads(line)["source"] for line in lines] == GERMAN.splitlines()
    os.close(pipe)


LATIN_1 = b'{"premise": "Cafe", "hypothesis": "x"}\n{"premise": "Caf\xe9", "hypothesis": "x"}\n'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("esim", LATIN_1, r"input, line 2: not utf-8 \(.*\); convert the file"),
        ("encoder_decoder", b"Ein Caf\xe9\n", r"input, line 1: not utf-8 \(.*\); convert"),
        ("esim", json.dumps(PAIR).encode("utf-16-le"), "line 1: null characters.*may be UTF-16"),
        ("esim", codecs.BOM_UTF16_LE + b"{\0\n", "line 1: not utf-16"),
        ("esim", gzip.compress(LATIN_1[:40], mtime=0)[:-9], "input: damaged gzip data"),
    ],
)
def test_another_encoding_is_named_by_its_line(
    untrained_predictor, tmp_path, name, content, message
):
    with pytest.raises(ConfigurationError, match=message):
        predicted(untrained_predictor(name), content, tmp_path)


def test_lines_of_another_encoding_can_be_skipped(untrained_predictor, tmp_path, caplog):
    predictor = untrained_predictor("esim")
    skipping = type(predictor)(predictor._model, predictor._dataset_reader, on_error="skip")
    (output,) = predicted(skipping, LATIN_1, tmp_path)
    assert output["premise"] == "Cafe"
    first, count = (text for text in caplog.messages if text.startswith("skipped"))
    assert "input, line 2: not utf-8" in first
    assert count.startswith("skipped 1 lines")


def test_the_input_of_another_predictor(tmp_path):
    """The reader or model is AllenNLP's, or another package's."""
    theirs = SimpleNamespace(
        load_line=json.loads,
        predict_json=lambda request: request,
        predict_batch_json=lambda requests: requests,
        dump_line=lambda output: json.dumps(output) + "\n",
    )
    content = codecs.BOM_UTF8 + b'{"a": 1}\n\n{"a": 2}\n'
    assert predicted(theirs, content, tmp_path) == [{"a": 1}, {"a": 2}]
    with pytest.raises(ConfigurationError, match="input, line 1: not utf-8"):
        predicted(theirs, b'{"a": "\xe9"}\n', tmp_path)


def test_a_table_is_said_to_need_the_reader(untrained_predictor, tmp_path):
    lines = ["text_a\ttext_b\tsame", "a\tb\tyes"]
    with pytest.raises(
        ConfigurationError, match=r"line 1: .*such as a table, is read with --use-d"
    ):
        predicted(untrained_predictor("esim"), lines, tmp_path)
    with pytest.raises(ConfigurationError) as error:
        predicted(untrained_predictor("esim"), ["{"], tmp_path)
    assert "--use-dataset-reader" not in str(error.value)


def test_translations_are_aligned_with_the_lines(untrained_predictor, tmp_path):
    predictor = untrained_predictor("encoder_decoder")
    lines = ["Ein Hund", "", "Zwei Kinder", "  ", '{"source": ""}']
    outputs = predicted(predictor, lines, tmp_path)
    assert [output["source"] for output in outputs] == ["Ein Hund", "", "Zwei Kinder", "", ""]
    for output in outputs:
        assert bool(output["target"]) == bool(output["source"])
        if not output["source"]:
            assert output == {**predictor.translate(""), "source": ""}
            assert output["n_best"] == [{"target": "", "score": 0.0}]
            assert predictor.attention_maps(output) == []


def test_the_log_says_once_that_no_word_of_a_text_is_known(untrained_predictor, caplog):
    predictor = untrained_predictor("esim")
    vocabulary = predictor._model.vocab.get_token_to_index_vocabulary("tokens")
    known = next(word for word in vocabulary if word.isalpha())
    caplog.clear()
    predictor.check_model()  # with texts that are not the user's
    predictor.predict_json({"premise": f"{known} xyzzy", "hypothesis": known})
    assert not caplog.messages
    for _ in range(2):
        predictor.predict_json({"premise": known, "hypothesis": "Qqq zzz!"})
        predictor.predict_batch_json([{"premise": "xyzzy", "hypothesis": known}])
    (message,) = caplog.messages
    assert message == "the model knows no word of 'Qqq zzz !', nor perhaps of later texts"


KEYS = "premise hypothesis sentence1 sentence2 sentence text source label question candidates id"
KEYS += " passage"

some_values = st.one_of(texts, texts, st.lists(texts, max_size=3), values, st.just(nested(900)))
objects = st.one_of(
    st.fixed_dictionaries({"premise": some_values, "hypothesis": some_values}),
    st.fixed_dictionaries({"sentence": some_values}, optional={"label": some_values}),
    st.fixed_dictionaries({"question": some_values, "candidates": some_values}),
    st.fixed_dictionaries({"question": some_values, "passage": some_values}),
    st.fixed_dictionaries({"source": some_values}, optional={"label": some_values}),
    st.dictionaries(st.sampled_from(KEYS.split()), some_values),
)
drawn_requests = st.one_of(objects, objects, objects, values)
batches = st.lists(drawn_requests, max_size=3)
drawn_lines = st.one_of(drawn_requests.filter(lambda value: value != nested(900)).map(str), texts)
calls = st.one_of(
    st.tuples(st.just("predict_json"), drawn_requests),
    st.tuples(st.just("predict_batch_json"), batches),
    st.tuples(st.just("load_line"), drawn_lines),
)


@pytest.fixture(scope="module")
def predictors(untrained_predictor):
    generator = untrained_predictor("cs_lvm")
    names = ("esim", "sentence_classifier", "attentive_ranker", "rnet", "encoder_decoder")
    own = PairGenerator(generator._model, generator._dataset_reader)
    return [own, *map(untrained_predictor, names)]


@cases(60, 3000)
def test_predictors(predictors, num_cases):
    def check(case):
        number, (method, argument) = case
        try:
            outputs = getattr(predictors[number], method)(argument)
        except ConfigurationError as error:
            check_refusal(error, "", 1000)
            return
        if method == "load_line":
            assert isinstance(outputs, dict)
            return
        json.dumps(outputs, ensure_ascii=False).encode()
        for output in outputs if method == "predict_batch_json" else [outputs]:
            numbers = [*output.get("label_probs", ()), *output.get("scores", ())]
            for candidate in output.get("n_best", ()):
                numbers.append(candidate.get("probability", candidate.get("score")))
            assert all(map(math.isfinite, numbers))
            assert isinstance(output.get("label", ""), str)

    check_cases(check, st.tuples(st.integers(0, 5), calls), num_cases)


@cases(20, 1000)
def test_sentence_encoder(predictors, num_cases):
    encoder = ArchiveEncoder(predictors[2]._model, predictors[2]._dataset_reader)
    sizes = st.one_of(st.integers(-1, 5), st.floats(), st.none(), st.booleans(), texts)

    def check(case):
        sentences, batch_size = case
        try:
            vectors = encoder.encode(sentences, batch_size=batch_size, show_progress_bar=False)
        except ConfigurationError as error:
            check_refusal(error, "", 1000)
            return
        assert vectors.shape == (len(sentences), encoder.vector_size)
        assert numpy.isfinite(vectors).all()

    sentences = st.one_of(st.lists(texts, max_size=4), values)
    check_cases(check, st.tuples(sentences, sizes), num_cases)
