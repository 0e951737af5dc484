"""Vectors, similarities and rankings over HTTP, without AllenNLP, and the counts of requests."""

import base64
import functools
import json
import re
import socket
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder
from allennlp_sentmatch.serving import create_app, service_at
from allennlp_sentmatch.serving.embeddings import encoder_routes
from allennlp_sentmatch.serving.metrics import Metrics
from allennlp_sentmatch.serving.requests import MAX_BYTES, RequestError
from allennlp_sentmatch.serving.routes import Service
from tests.conftest import REPOSITORY
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder
from tests.fresh_process import run_python
from tests.nn.test_without_allennlp import HIDE
from tests.serving.conftest import serving
from tests.serving.test_predictions import answer

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")

NESTED = functools.reduce(lambda inner, _: [inner], range(900), "a")
TEXTS = ["How do I cook rice?", "Where does rice grow?", "A man is asleep."]


@pytest.fixture(scope="module")
def http():
    with serving(create_app(service_at("package"))) as port, httpx.Client(timeout=20) as http:
        http.base_url = f"http://127.0.0.1:{port}"
        yield http


@pytest.fixture(scope="module")
def expected():
    return SentenceEncoder().encode(TEXTS)


def test_embeddings_in_the_form_of_openai(http, expected):
    unit = expected / numpy.linalg.norm(expected, axis=1, keepdims=True)
    for body, count in (({"input": TEXTS[0]}, 1), ({"input": TEXTS, "model": "package"}, 3)):
        answer = http.post("/v1/embeddings", json=body).json()
        assert (answer["object"], answer["model"]) == ("list", "package")
        assert [item["index"] for item in answer["data"]] == [*range(count)]
        vectors = numpy.array([item["embedding"] for item in answer["data"]])
        assert vectors == pytest.approx(unit[:count], abs=1e-5)
    assert answer["usage"] == {"prompt_tokens": 16, "total_tokens": 16}  # words and marks
    coded = http.post("/v1/embeddings", json={"input": TEXTS, "encoding_format": "base64"}).json()
    for item, row in zip(coded["data"], unit):
        vector = numpy.frombuffer(base64.b64decode(item["embedding"]), "<f4")
        assert vector == pytest.approx(row, abs=1e-5)
    first = http.post("/v1/embeddings", json={"input": TEXTS, "dimensions": 64}).json()["data"]
    vectors = numpy.array([item["embedding"] for item in first])
    shortened = unit[:, :64] / numpy.linalg.norm(unit[:, :64], axis=1, keepdims=True)
    assert vectors == pytest.approx(shortened, abs=1e-5)
    unset = dict.fromkeys(["model", "encoding_format", "dimensions", "user"])
    assert http.post("/v1/embeddings", json={"input": TEXTS, **unset}).json() == answer


def test_the_list_of_models(http):
    (model,) = http.get("/v1/models").json()["data"]
    assert http.post("/v1/embeddings", json={"input": "a", "model": model["id"]}).is_success
    assert set(model) == {"id", "object", "created", "owned_by"}
    assert '{path="/v1/models"' in http.get("/metrics").text
    assert "error" in http.post("/v1/models", json={}).json()


def test_a_model_by_its_name(http):
    (model,) = http.get("/v1/models").json()["data"]
    assert http.get("/v1/models/package").json() == model
    wrong = http.get("/v1/models/gpt")
    assert wrong.status_code == 404
    assert "'gpt' does not exist; this server has 'package'" in wrong.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/v2/rerank", {"max_tokens_per_doc": 4096, "priority": 0}),  # Cohere's, version 2
        ("/v1/rerank", {"truncation": True}),  # Voyage's and Jina's
        ("/rerank", {"truncate": True}),  # for Hugging Face's inference servers
        ("/v1/embeddings", {"user": "x", "priority": 1}),
        ("/v1/embeddings", {"truncate": "END", "task": "text-matching", "embedding_type": "float"}),
        ("/v1/embeddings", {"late_chunking": False, "normalized": True, "truncate": True}),
    ],
)
def test_keys_of_clients_that_change_no_answer(http, path, keys):
    body = {"input": TEXTS} if "embeddings" in path else {"query": TEXTS[0], "documents": TEXTS[1:]}
    answer = http.post(path, json={**body, **keys})
    assert answer.status_code == 200, answer.text
    figures = [float(figure) for figure in re.findall(r"-?\d+\.\d+", answer.text)]
    expected = re.findall(r"-?\d+\.\d+", http.post(path, json=body).text)
    assert figures == pytest.approx([*map(float, expected)], abs=1e-5)


def test_texts_within_objects(http):
    """Cohere's first clients send documents in this form, and Jina's send inputs."""
    body = {"query": TEXTS[0], "documents": TEXTS[1:], "return_documents": True}
    documents = [{"text": text, "title": "-"} for text in TEXTS[1:]]
    expected = http.post("/rerank", json=body).json()["results"]
    found = http.post("/rerank", json={**body, "documents": documents}).json()["results"]
    assert [row["index"] for row in found] == [row["index"] for row in expected]
    assert [row["document"] for row in found] == [documents[row["index"]] for row in expected]
    objects = http.post("/v1/embeddings", json={"input": [{"text": text} for text in TEXTS]})
    assert objects.json()["usage"]["prompt_tokens"] == 16


@pytest.mark.parametrize(
    ("text", "count"),
    [("word " * 1001, 256), ("internationally " * 560, 256), ("a1" * 600, 1), ("word " * 256, 256)],
)
def test_long_texts_are_cut_as_encode_cuts_them(http, text, count):
    """`usage` counts what was encoded."""
    answer = http.post("/v1/embeddings", json={"input": [text, "word"]}).json()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about texts that are cut, or have no known word
        (vector,) = SentenceEncoder().encode([text])
    unit = vector / numpy.linalg.norm(vector)
    assert answer["data"][0]["embedding"] == pytest.approx(unit, abs=1e-5)
    assert answer["usage"]["prompt_tokens"] == count + 1


def test_equal_documents_keep_their_order(http):
    """Equal texts are encoded once, since rounding differs between batches."""
    documents = ["b"] * 1500 + ["a longer text of some words"] * 40 + ["b"] * 500
    ranked = http.post("/rerank", json={"query": "a b", "documents": documents}).json()["results"]
    for text in set(documents):
        positions = [row["index"] for row in ranked if documents[row["index"]] == text]
        assert positions == sorted(positions)
        scores = {row["relevance_score"] for row in ranked if documents[row["index"]] == text}
        assert len(scores) == 1
    answer = http.post("/v1/embeddings", json={"input": ["b", "c d", "b"]}).json()
    first, _, last = [item["embedding"] for item in answer["data"]]
    assert first == last
    assert answer["usage"]["prompt_tokens"] == 4


def test_a_text_that_cannot_be_encoded_is_refused_before_others_are():
    route = encoder_routes(SentenceEncoder(tiny_encoder()), "tiny")["/v1/embeddings"]
    for text, reason in (
        ("a" * 10_001, "at most 10,000"),
        (" ", "blank"),
        ("a\ud800", "surrogate"),
    ):
        with pytest.raises(RequestError, match=f"Input 3: the text .*{reason}") as refused:
            route.parse({"input": ["a", "a", text]})
        assert refused.value.status == 400


class Asymmetric:
    """An encoder with another network for queries, and some words that it counts."""

    def __init__(self):
        self._encoder = tiny_encoder()

    def encode(self, sentences):
        return self._encoder.encode(sentences)

    def encode_query(self, sentences):
        return self.encode(sentences) @ numpy.diag(numpy.linspace(-1, 1, 16))


def test_a_ranking_encodes_the_query_as_a_query():
    encoder = SentenceEncoder(Asymmetric())
    service = Service("-", "", encoder_routes(encoder, "-"))
    texts = ["a cat sleeps", "a dog runs", "a man sees a dog"]
    body = {"query": texts[0], "documents": texts}
    found = answer(service, "/rerank", body)["results"]
    expected = encoder.search(texts[0], texts)
    assert [texts[row["index"]] for row in found] == [hit.sentence for hit in expected]
    scores = [row["relevance_score"] for row in found]
    assert scores == pytest.approx([hit.cosine for hit in expected], abs=1e-5)
    assert scores != pytest.approx(sorted(encoder.similarity(texts[:1] * 3, texts))[::-1], abs=0.01)


def test_a_small_request_does_not_wait_for_the_end_of_a_large_one(http):
    large = {"input": [f"text {i:05d} " + "word " * 92 for i in range(600)]}
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(http.post, "/v1/embeddings", json=large, timeout=120)
        while http.get("/health").json()["waiting"] == 0:
            assert not waiting.done()
        assert http.post("/v1/embeddings", json={"input": "a"}).status_code == 200
        assert not waiting.done()
        data = waiting.result().json()["data"]
    for index in (0, 300, 599):
        (vector,) = SentenceEncoder().encode([large["input"][index]])
        unit = vector / numpy.linalg.norm(vector)
        assert data[index]["embedding"] == pytest.approx(unit, abs=1e-5)


def test_the_answers_of_the_page(http):
    page = (REPOSITORY / "docs/serving.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    examples = re.findall(
        r"^\$ curl http://127.0.0.1:8000(\S+) [\s\\]*-d '(.*?)'\n(.*?)(?=^\$|\Z)",
        block,
        re.DOTALL | re.MULTILINE,
    )
    assert len(examples) == 3
    for path, body, shown in examples:
        answer = http.post(path, content=body)
        assert answer.status_code == 200, answer.text
        printed = [float(figure) for figure in re.findall(r"-?\d\.\d{5,}", shown)]
        figures = [float(figure) for figure in re.findall(r"-?\d\.\d{5,}", answer.text)]
        assert printed == pytest.approx(figures[:1], abs=1e-4), path


def test_similarities_and_rankings(http, expected):
    unit = expected / numpy.linalg.norm(expected, axis=1, keepdims=True)
    cosines = unit @ unit.T
    one = http.post("/similarity", json={"first": TEXTS[0], "second": TEXTS[1]}).json()
    assert one == {"similarity": pytest.approx(cosines[0, 1], abs=1e-5)}
    several = http.post("/similarity", json={"first": TEXTS[:2], "second": TEXTS[1:]}).json()
    assert several["similarity"] == pytest.approx([cosines[0, 1], cosines[1, 2]], abs=1e-5)
    body = {"query": TEXTS[0], "documents": TEXTS[::-1], "return_documents": True}
    ranked = http.post("/rerank", json=body).json()["results"]
    assert [row["index"] for row in ranked] == [2, 1, 0]
    assert [row["document"]["text"] for row in ranked] == TEXTS
    assert [row["relevance_score"] for row in ranked] == pytest.approx(cosines[0], abs=1e-5)
    best = http.post("/rerank", json={**body, "top_n": 1, "return_documents": False}).json()
    assert [[*row] for row in best["results"]] == [["index", "relevance_score"]]
    for path in ("/v1/rerank", "/v2/rerank", "/rerank/"):
        answered = http.post(path, json=body)  # httpx follows no redirects
        assert answered.json()["results"] == ranked


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/v1/embeddings", {}, 400, "no 'input'"),
        ("/v1/embeddings", {"input": []}, 400, "input is an empty list; it needs at least one"),
        (
            "/v1/embeddings",
            {"input": [1, 2]},
            400,
            "input[0] must be a string; send texts, not tokens, ",
        ),
        ("/v1/embeddings", {"input": [[1]]}, 400, "check_embedding_ctx_length=False"),
        ("/v1/embeddings", {"input": ["a", None]}, 400, "under the key 'text'; got None."),
        ("/v1/embeddings", {"input": ["a", True]}, 400, "under the key 'text'; got True."),
        ("/v1/embeddings", {"input": {}}, 400, "a string or a list of strings; got {}."),
        ("/v1/embeddings", {"input": 1.5}, 400, "a string or a list of strings; got 1.5."),
        ("/v1/embeddings", {"input": ["a", " "]}, 400, "Input 2: the text is blank"),
        ("/v1/embeddings", {"input": "a\ud800"}, 400, "half of a UTF-16 pair"),
        ("/v1/embeddings", {"input": "a" * 10_001}, 400, "at most 10,000"),
        ("/v1/embeddings", {"input": ["a"] * 2049}, 413, "2,048 texts; it has 2,049"),
        ("/v1/embeddings", {"input": "a", "model": "other"}, 404, "this server has 'package'"),
        ("/v1/embeddings", {"input": "a", "model": NESTED}, 400, "model must be a string; got [[["),
        ("/v1/embeddings", {"input": {"a": NESTED}}, 400, "a list of strings; got {'a': [[["),
        ("/v1/embeddings", {"input": "a", "encoding_format": "int8"}, 400, "encoding_format"),
        ("/v1/embeddings", {"input": "a", "dimensions": 0}, 400, "from 1 to 384"),
        ("/v1/embeddings", {"input": "a", "dimensions": 385}, 400, "from 1 to 384"),
        ("/v1/embeddings", {"input": "a", "dimensions": True}, 400, "an integer"),
        ("/v1/embeddings", {"input": "a", "prefix": "q: "}, 400, "'prefix' is not supported"),
        ("/v1/embeddings", {"input": "a", "truncate": "START"}, 400, "truncate must be True, "),
        ("/v1/embeddings", {"input": "a", "normalized": 0}, 400, "normalized must be True"),
        ("/v1/embeddings", {"input": "a", "embedding_type": "binary"}, 400, "embedding_type"),
        ("/similarity", {"first": "a"}, 400, "The request has no 'second'."),
        ("/similarity", {"first": "a", "second": ["b"]}, 400, "two strings"),
        ("/similarity", {"first": ["a", "b"], "second": ["b"]}, 400, "of one length"),
        ("/similarity", {"first": ["a"] * 2, "second": ["b", " "]}, 400, "Second 2: the text is"),
        ("/rerank", {"query": " ", "documents": ["b"]}, 400, "The query: the text is blank"),
        ("/rerank", {"query": "a", "documents": ["b", " "]}, 400, "Document 2: the text is blank"),
        ("/rerank", {"query": ["a"], "documents": ["b"]}, 400, "query must be a string"),
        (
            "/rerank",
            {"query": "a", "documents": [{"title": "b"}]},
            400,
            "documents[0] must be a string, or an object that has one",
        ),
        ("/rerank", {"query": "a", "documents": ["b", {"text": 1}]}, 400, "under the key 'text'"),
        ("/rerank", {"query": "a", "documents": {"text": "b"}}, 400, "a list of strings; got {"),
        ("/rerank", {"query": "a", "documents": ["b"], "top_n": 0}, 400, "top_n"),
        ("/rerank", {"query": "a", "documents": ["b"], "top_n": True}, 400, "top_n"),
        ("/rerank", {"query": "a", "documents": ["b"], "return_documents": "no"}, 400, "return_d"),
        ("/rerank", {"query": None, "documents": ["b"]}, 400, "no 'query'"),
        ("/predict", {"premise": "a"}, 404, "Not found; this server answers /v1/embeddings, "),
    ],
)
def test_what_is_refused(http, path, body, status, reason):
    answer = http.post(path, content=json.dumps(body))
    assert answer.status_code == status, answer.text
    error = answer.json()
    if path == "/v1/embeddings":
        assert error["error"].keys() == {"message", "type", "param", "code"}
        assert error["error"]["type"] == "invalid_request_error"
    sentence = error["error"]["message"] if "error" in error else error["detail"]
    assert reason in sentence
    assert len(answer.content) < 500


def test_errors_before_the_body_is_read_have_the_form_too(http):
    assert "error" in http.post("/v1/embeddings", headers={"Host": "evil.example"}).json()
    assert "error" in http.post("/v1/embeddings", content=b" " * (MAX_BYTES + 1)).json()
    wrong = http.get("/v1/embeddings")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json()["error"]["message"].startswith("Method not allowed; this server")


def test_the_description_has_examples_that_work(http):
    paths = http.get("/openapi.json").json()["paths"]
    posted = {"/v1/embeddings", "/similarity", "/rerank", "/v1/rerank", "/v2/rerank"}
    assert set(paths) == {"/health", "/metrics", "/v1/models", "/v1/models/{name}", *posted}
    for path in posted:
        body = paths[path]["post"]["requestBody"]["content"]["application/json"]
        assert http.post(path, json=body["example"]).status_code == 200


def test_requests_are_counted(http):
    http.get("/invented/path")
    lines = http.get("/metrics").text.splitlines()
    counts = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    for name in (
        "sentmatch_requests_total",
        "sentmatch_request_seconds",
        "sentmatch_inputs_waiting",
    ):
        (place,) = [i for i, line in enumerate(lines) if line.startswith(f"# HELP {name} ")]
        assert lines[place + 1].startswith(f"# TYPE {name} ")
    assert int(counts['sentmatch_requests_total{path="other",status="404"}']) >= 1
    assert counts["sentmatch_inputs_waiting"] == "0"
    metrics = Metrics(["/predict"])
    for seconds in (0.001, 0.02, 0.02, 100):
        metrics.add("/predict", 200, seconds)
    text = metrics.text(7)
    limits = [float(limit) for limit in re.findall('_bucket.*le="(.*?)"', text)]
    assert len(limits) == 13
    assert limits == sorted(limits)
    for line in (
        'sentmatch_requests_total{path="/predict",status="200"} 4',
        'sentmatch_request_seconds_bucket{path="/predict",le="0.005"} 1',
        'sentmatch_request_seconds_bucket{path="/predict",le="0.025"} 3',
        'sentmatch_request_seconds_bucket{path="/predict",le="30"} 3',
        'sentmatch_request_seconds_bucket{path="/predict",le="+Inf"} 4',
        'sentmatch_request_seconds_sum{path="/predict"} 100.041000',
        'sentmatch_request_seconds_count{path="/predict"} 4',
        "sentmatch_inputs_waiting 7",
    ):
        assert f"{line}\n" in text


def test_the_log_says_once_that_no_word_of_a_text_is_known(caplog):
    service = Service("", "", encoder_routes(SentenceEncoder(tiny_encoder()), "tiny"))
    for text in ("A man sleeps.", "Xyzzy", "Plugh"):
        answer(service, "/v1/embeddings", {"input": [text]})
    (message,) = caplog.messages
    assert re.search("knows no word of 1 text .*'Xyzzy'.*; later texts of this kind", message)


def test_another_application_may_mount_the_server():
    routing = pytest.importorskip("starlette.routing")
    service = Service("-", "", encoder_routes(SentenceEncoder(tiny_encoder()), "tiny"))
    with serving(routing.Router([routing.Mount("/models", create_app(service))])) as port:
        address = f"http://127.0.0.1:{port}/models"
        same = httpx.post(f"{address}/similarity", json={"first": "a man", "second": "a man"})
        assert same.json() == {"similarity": pytest.approx(1)}
        assert [httpx.get(address + path).status_code for path in ("/", "/health")] == [200, 200]
        assert '{path="/similarity",status="200"} 1' in httpx.get(f"{address}/metrics").text


@pytest.mark.parametrize("kind", [PairClassifier, PairRegressor])
def test_a_saved_estimator(tmp_path, kind):
    labels = [label == "same" for label in LABELS]
    estimator = kind(tiny_encoder(), l2=0.1).fit(
        PAIRS, labels if kind is PairClassifier else SCORES
    )
    estimator.save(tmp_path / "saved")
    service = service_at(str(tmp_path / "saved"))
    pairs = [{"premise": a, "hypothesis": b} for a, b in PAIRS]
    answers = answer(service, "/predict", {"inputs": pairs})["predictions"]
    expected = estimator.predict(PAIRS).tolist()
    if kind is PairClassifier:
        assert [one["label"] for one in answers] == expected == labels
        shown = [[*one["probs_by_label"].values()] for one in answers]
        assert shown == pytest.approx(estimator.predict_proba(PAIRS), abs=1e-5)
    else:
        assert [one["score"] for one in answers] == pytest.approx(expected, abs=1e-5)
    assert answers[0].items() >= pairs[0].items()
    (embedded,) = answer(service, "/v1/embeddings", {"input": "a", "model": "saved"})["data"]
    vector = tiny_encoder().encode(["a"])[0]
    assert embedded["embedding"] == pytest.approx(vector / numpy.linalg.norm(vector), abs=1e-5)
    job = service.routes["/predict"].job
    for broken in ({}, {"premise": "a"}, {"premise": " ", "hypothesis": "a"}):
        with pytest.raises(job.mistakes, match="premise"):
            job.read(broken)


SWAPPED = [("a cat sleeps", "a cat runs"), ("a dog sleeps", "a man runs")]


def frame(names, pairs):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(pairs, columns=names)


@pytest.mark.parametrize("names", [("hypothesis", "premise"), ("answer", "question"), ("b", "a")])
def test_an_estimator_gets_records_by_its_names(tmp_path, names):
    """The order is that of `fit`, not of the request or of the package's own names."""
    pairs = [*SWAPPED, *((second, first) for first, second in SWAPPED)] * 3
    labels = ["forward", "forward", "back", "back"] * 3
    estimator = PairClassifier(tiny_encoder(), matcher="heuristic", l2=0.01)
    estimator.fit(frame(names, pairs), labels).save(tmp_path / "saved")
    service = service_at(str(tmp_path / "saved"))
    for first, second in pairs[:4]:
        record = {names[1]: second, names[0]: first}
        answered = answer(service, "/predict", record)
        assert answered["label"] == estimator.predict([record])[0]
        assert answered["label"] == estimator.predict(frame(names, [(first, second)]))[0]
    assert {answer(service, "/predict", dict(zip(names, pair)))["label"] for pair in pairs} == {
        "forward",
        "back",
    }
    with serving(create_app(service)) as port:
        described = httpx.get(f"http://127.0.0.1:{port}/openapi.json").json()
        body = described["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
        assert list(body["example"]) == list(names)
        assert body["schema"]["oneOf"][0]["required"] == list(names)
        assert (
            f'"{names[0]}": ..., "{names[1]}": ...' in httpx.get(f"http://127.0.0.1:{port}/").text
        )
    with pytest.raises(ValueError, match=f"an object with {'/'.join(names)}; it has 'text1'"):
        service.routes["/predict"].job.read({"text1": "a"})


def test_an_estimator_without_names_takes_questions_with_answers(tmp_path):
    estimator = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS)
    estimator.save(tmp_path / "saved")
    service = service_at(str(tmp_path / "saved"))
    for keys in (("question", "answer"), ("sentence1", "sentence2"), ("premise", "hypothesis")):
        found = answer(service, "/predict", dict(zip(keys, PAIRS[1])))
        assert found["label"] == estimator.predict(PAIRS[1:2])[0]


def test_sources_that_are_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        service_at(str(tmp_path / "nothing"))
    (tmp_path / "pair_estimator.json").write_text('{"type": "PairClassifier"}')
    with pytest.raises(ValueError, match=r"pair_estimator\.json"):
        service_at(str(tmp_path))


VISITED = """
import os, signal, threading, httpx
from allennlp_sentmatch.__main__ import main

def visit():
    body = {"first": "A man is asleep.", "second": "Somebody sleeps."}
    address = f"http://127.0.0.1:{sys.argv[1]}"
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=7), timeout=60) as http:
            print(http.post(f"{address}/similarity", json=body).json()["similarity"])
    finally:
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=visit, daemon=True).start()
main(["serve", "package", "--port", sys.argv[1]])
"""
"""The program and a client that ends it."""


def test_the_program_that_serves_without_allennlp():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ended = run_python(f"{HIDE}sys.modules['spacy'] = None\n{VISITED}", port)
    assert ended.returncode == 0, ended.stderr
    assert 0.3 < float(ended.stdout.split()[-1]) < 1
