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
from allennlp_sentmatch.serving.request_errors import RequestError
from allennlp_sentmatch.serving.requests import MAX_BYTES
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
    app = create_app(service_at("package"))
    with serving(app) as port, httpx.Client(timeout=20) as client:
        client.base_url = f"http://127.0.0.1:{port}"
        yield client


def unit_length(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


def unit_vector(text, **encoder):
    """Return the vector of a text by the encoder in the package, with length 1."""
    (vector,) = SentenceEncoder(**encoder).encode([text])
    return unit_length(vector)


@pytest.fixture(scope="module")
def unit_vectors():
    """Return the vectors of `TEXTS` with length 1, (3, 384)."""
    return unit_length(SentenceEncoder().encode(TEXTS))


def embed(http, texts, **settings):
    """Return the answer of /v1/embeddings."""
    return http.post("/v1/embeddings", json={"input": texts, **settings}).json()


def vectors_of(answer):
    return numpy.array([item["embedding"] for item in answer["data"]])


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ({"input": TEXTS[0]}, 1),
        ({"input": TEXTS, "model": "package"}, 3),
    ],
)
def test_embeddings_in_the_form_of_openai(http, unit_vectors, body, count):
    answer = http.post("/v1/embeddings", json=body).json()
    assert answer["object"] == "list"
    assert answer["model"] == "package"
    assert [item["index"] for item in answer["data"]] == list(range(count))
    assert vectors_of(answer) == pytest.approx(unit_vectors[:count], abs=1e-5)


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


def test_usage_counts_words_and_marks(http):
    usage = embed(http, TEXTS)["usage"]
    assert usage == {"prompt_tokens": 16, "total_tokens": 16}


def test_embeddings_in_base64(http, unit_vectors):
    answer = embed(http, TEXTS, encoding_format="base64")
    for item, expected in zip(answer["data"], unit_vectors):
        content = base64.b64decode(item["embedding"])
        vector = numpy.frombuffer(content, "<f4")
        assert vector == pytest.approx(expected, abs=1e-5)


def test_embeddings_of_fewer_dimensions_have_length_1(http, unit_vectors):
    answer = embed(http, TEXTS, dimensions=64)
    shortened = unit_length(unit_vectors[:, :64])
    assert vectors_of(answer) == pytest.approx(shortened, abs=1e-5)


def test_settings_that_are_null_are_as_if_not_given(http):
    unset = {
        "model": None,
        "encoding_format": None,
        "dimensions": None,
        "user": None,
    }
    assert embed(http, TEXTS, **unset) == embed(http, TEXTS, model="package")


def decimals(text):
    """Return the numbers with a decimal point in a text."""
    return [float(figure) for figure in re.findall(r"-?\d+\.\d+", text)]


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/v2/rerank", {"max_tokens_per_doc": 4096, "priority": 0}),  # Cohere's, version 2
        ("/v1/rerank", {"max_chunks_per_doc": 10, "rank_fields": ["text"]}),  # version 1
        ("/v1/rerank", {"truncation": True, "top_k": 2}),  # Voyage's and Jina's
        ("/rerank", {"truncate": True}),  # for Hugging Face's inference servers
        ("/v1/embeddings", {"user": "x", "priority": 1}),
        ("/v1/embeddings", {"input_type": "document", "output_dtype": "float"}),  # Voyage's
        ("/v1/embeddings", {"input_type": "passage", "output_dimension": 384}),  # NVIDIA's
        ("/v1/embeddings", {"truncate": "END", "task": "text-matching", "embedding_type": "float"}),
        ("/v1/embeddings", {"late_chunking": False, "normalized": True, "truncate": True}),
    ],
)
def test_keys_of_clients_that_change_no_answer(http, path, keys):
    body = {"query": TEXTS[0], "documents": TEXTS[1:]}
    if path == "/v1/embeddings":
        body = {"input": TEXTS}
    answer = http.post(path, json={**body, **keys})
    assert answer.status_code == 200, answer.text
    expected = decimals(http.post(path, json=body).text)
    assert decimals(answer.text) == pytest.approx(expected, abs=1e-5)


def test_the_short_names_of_other_clients(http):
    """Voyage's `top_k` is `top_n`, and its `output_dimension` is `dimensions`."""
    body = {"query": TEXTS[0], "documents": TEXTS[1:]}
    (found,) = http.post("/rerank", json={**body, "top_k": 1}).json()["results"]
    assert found == http.post("/rerank", json={**body, "top_n": 1}).json()["results"][0]
    answered = http.post("/v1/embeddings", json={"input": "a", "output_dimension": 64}).json()
    assert len(answered["data"][0]["embedding"]) == 64


def test_a_body_with_a_byte_order_mark(http):
    content = json.dumps({"input": TEXTS}).encode("utf-8-sig")
    assert http.post("/v1/embeddings", content=content).status_code == 200


def test_documents_within_objects(http):
    """Cohere's first clients send documents in this form."""
    body = {
        "query": TEXTS[0],
        "documents": TEXTS[1:],
        "return_documents": True,
    }
    documents = [{"text": text, "title": "-"} for text in TEXTS[1:]]
    expected = http.post("/rerank", json=body).json()["results"]
    found = http.post("/rerank", json={**body, "documents": documents}).json()["results"]
    positions = [row["index"] for row in expected]
    assert [row["index"] for row in found] == positions
    assert [row["document"] for row in found] == [documents[i] for i in positions]


def test_inputs_within_objects(http):
    """Jina's clients send inputs in this form."""
    answer = embed(http, [{"text": text} for text in TEXTS])
    assert answer["usage"]["prompt_tokens"] == 16


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("word " * 1001, 256),
        ("internationally " * 560, 256),
        ("a1" * 600, 1),
        ("word " * 256, 256),
    ],
)
def test_long_texts_are_cut_as_encode_cuts_them(http, text, count):
    """`usage` counts what was encoded."""
    answer = embed(http, [text, "word"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about texts that are cut, or have no known word
        expected = unit_vector(text)
    assert vectors_of(answer)[0] == pytest.approx(expected, abs=1e-5)
    assert answer["usage"]["prompt_tokens"] == count + 1


def test_equal_documents_keep_their_order(http):
    """Equal texts are encoded once, since rounding differs between batches."""
    short = ["b"] * 1500
    long = ["a longer text of some words"] * 40
    documents = short + long + ["b"] * 500
    body = {"query": "a b", "documents": documents}
    ranked = http.post("/rerank", json=body).json()["results"]
    for text in set(documents):
        rows = [row for row in ranked if documents[row["index"]] == text]
        positions = [row["index"] for row in rows]
        assert positions == sorted(positions)
        scores = {row["relevance_score"] for row in rows}
        assert len(scores) == 1


def test_equal_inputs_have_equal_vectors_and_are_all_counted(http):
    answer = embed(http, ["b", "c d", "b"])
    first, _, last = [item["embedding"] for item in answer["data"]]
    assert first == last
    assert answer["usage"]["prompt_tokens"] == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a" * 10_001, "at most 10,000"),
        (" ", "blank"),
        ("a\ud800", "surrogate"),
    ],
)
def test_a_text_that_cannot_be_encoded_is_refused_before_others_are(text, reason):
    route = encoder_routes(SentenceEncoder(tiny_encoder()), "tiny")["/v1/embeddings"]
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
    by_one_network = encoder.similarity(texts[:1] * 3, texts)
    assert scores != pytest.approx(sorted(by_one_network, reverse=True), abs=0.01)


@pytest.mark.parametrize("input_type", ["query", "document"])
def test_an_input_type_chooses_the_network(input_type):
    encoder = SentenceEncoder(Asymmetric())
    service = Service("-", "", encoder_routes(encoder, "-"))
    texts = ["a cat sleeps", "a dog runs"]
    body = {"input": texts, "input_type": input_type}
    items = answer(service, "/v1/embeddings", body)["data"]
    vectors = encoder.encode_query(texts) if input_type == "query" else encoder.encode(texts)
    unit = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    assert numpy.array([item["embedding"] for item in items]) == pytest.approx(unit, abs=1e-5)


def test_a_small_request_does_not_wait_for_the_end_of_a_large_one(http):
    words = "word " * 92
    texts = [f"text {i:05d} {words}" for i in range(600)]
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(
            http.post,
            "/v1/embeddings",
            json={"input": texts},
            timeout=120,
        )
        while http.get("/health").json()["waiting"] == 0:
            assert not waiting.done()
        assert http.post("/v1/embeddings", json={"input": "a"}).status_code == 200
        assert not waiting.done()
        vectors = vectors_of(waiting.result().json())
    for index in (0, 300, 599):
        expected = unit_vector(texts[index])
        assert vectors[index] == pytest.approx(expected, abs=1e-5)


EXAMPLE = r"^\$ curl http://127.0.0.1:8000(\S+) [\s\\]*-d '(.*?)'\n(.*?)(?=^\$|\Z)"
"""The path, the body and what is shown of the answer."""


def long_decimals(text):
    """Return the numbers with at least five decimals in a text."""
    return [float(figure) for figure in re.findall(r"-?\d\.\d{5,}", text)]


def test_the_answers_of_the_page(http):
    page = (REPOSITORY / "docs/serving.md").read_text(encoding="utf-8")
    flags = re.DOTALL | re.MULTILINE
    (block,) = re.findall(r"^```console\n(.*?)^```$", page, flags)
    examples = re.findall(EXAMPLE, block, flags)
    assert len(examples) == 3
    for path, body, shown in examples:
        answer = http.post(path, content=body)
        assert answer.status_code == 200, answer.text
        first_figure = long_decimals(answer.text)[:1]
        assert long_decimals(shown) == pytest.approx(first_figure, abs=1e-4), path


def test_the_similarity_of_two_texts(http, unit_vectors):
    expected = unit_vectors[0] @ unit_vectors[1]
    found = http.post("/similarity", json={"first": TEXTS[0], "second": TEXTS[1]}).json()
    assert found == {"similarity": pytest.approx(expected, abs=1e-5)}


def test_the_similarities_of_pairs(http, unit_vectors):
    expected = (unit_vectors[:2] * unit_vectors[1:]).sum(1)
    found = http.post("/similarity", json={"first": TEXTS[:2], "second": TEXTS[1:]}).json()
    assert found["similarity"] == pytest.approx(expected, abs=1e-5)


REVERSED_DOCUMENTS = {
    "query": TEXTS[0],
    "documents": TEXTS[::-1],
    "return_documents": True,
}


def test_a_ranking(http, unit_vectors):
    cosines = unit_vectors @ unit_vectors[0]
    ranked = http.post("/rerank", json=REVERSED_DOCUMENTS).json()["results"]
    assert [row["index"] for row in ranked] == [2, 1, 0]
    assert [row["document"]["text"] for row in ranked] == TEXTS
    assert [row["relevance_score"] for row in ranked] == pytest.approx(cosines, abs=1e-5)


def test_the_best_document_without_its_text(http):
    body = {
        **REVERSED_DOCUMENTS,
        "top_n": 1,
        "return_documents": False,
    }
    (row,) = http.post("/rerank", json=body).json()["results"]
    assert list(row) == ["index", "relevance_score"]


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/rerank/"])
def test_other_paths_of_rankings(http, path):
    expected = http.post("/rerank", json=REVERSED_DOCUMENTS).json()["results"]
    answered = http.post(path, json=REVERSED_DOCUMENTS)  # httpx follows no redirects
    assert answered.json()["results"] == expected


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 400, "no 'input'"),
        ({"input": []}, 400, "input is an empty list; it needs at least one"),
        ({"input": [1, 2]}, 400, "input[0] must be a string; send texts, not tokens, "),
        ({"input": [[1]]}, 400, "check_embedding_ctx_length=False"),
        ({"input": ["a", None]}, 400, "under the key 'text'; got None."),
        ({"input": ["a", True]}, 400, "under the key 'text'; got True."),
        ({"input": {}}, 400, "a string or a list of strings; got {}."),
        ({"input": 1.5}, 400, "a string or a list of strings; got 1.5."),
        ({"input": ["a", " "]}, 400, "Input 2: the text is blank"),
        ({"input": "a\ud800"}, 400, "half of a UTF-16 pair"),
        ({"input": "a" * 10_001}, 400, "at most 10,000"),
        ({"input": ["a"] * 2049}, 413, "2,048 texts; it has 2,049"),
        ({"input": "a", "model": "other"}, 404, "this server has 'package'"),
        ({"input": "a", "model": NESTED}, 400, "model must be a string; got [[["),
        ({"input": {"a": NESTED}}, 400, "a list of strings; got {'a': [[["),
        ({"input": "a", "encoding_format": "int8"}, 400, "encoding_format"),
        ({"input": "a", "dimensions": 0}, 400, "from 1 to 384"),
        ({"input": "a", "dimensions": 385}, 400, "from 1 to 384"),
        ({"input": "a", "dimensions": True}, 400, "an integer"),
        ({"input": "a", "prefix": "q: "}, 400, "'prefix' is not supported"),
        ({"input": "a", "output_dtype": "int8"}, 400, "output_dtype"),
        ({"input": "a", "output_dimension": 385}, 400, "from 1 to 384"),
        ({"input": "a", "input_type": "image"}, 400, "input_type"),
        ({"input": "a", "truncate": "START"}, 400, "truncate must be True, "),
        ({"input": "a", "normalized": 0}, 400, "normalized must be True"),
        ({"input": "a", "embedding_type": "binary"}, 400, "embedding_type"),
        ({"input": "a", "dimensions": 8, "output_dimension": 9}, 400, "another name of dimensions"),
    ],
)
def test_refused_embeddings_have_the_form_of_openai(http, body, status, reason):
    answer = http.post("/v1/embeddings", content=json.dumps(body))
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert reason in error["message"]
    assert len(answer.content) < 500


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"first": "a"}, "The request has no 'second'."),
        ({"first": "a", "second": ["b"]}, "two strings"),
        ({"first": ["a", "b"], "second": ["b"]}, "of one length"),
        ({"first": ["a"] * 2, "second": ["b", " "]}, "Second 2: the text is"),
    ],
)
def test_refused_similarities(http, body, reason):
    check_refusal(http, "/similarity", body, 400, reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"query": " ", "documents": ["b"]}, "The query: the text is blank"),
        ({"query": "a", "documents": ["b", " "]}, "Document 2: the text is blank"),
        ({"query": ["a"], "documents": ["b"]}, "query must be a string"),
        (
            {"query": "a", "documents": [{"title": "b"}]},
            "documents[0] must be a string, or an object that has one",
        ),
        ({"query": "a", "documents": ["b", {"text": 1}]}, "under the key 'text'"),
        ({"query": "a", "documents": [1]}, "one under the key 'text'; got 1."),
        ({"query": "a", "documents": ["b"], "rank_fields": ["title"]}, "rank_fields"),
        ({"query": "a", "documents": {"text": "b"}}, "a list of strings; got {"),
        ({"query": "a", "documents": ["b"], "top_n": 0}, "top_n"),
        ({"query": "a", "documents": ["b"], "top_n": True}, "top_n"),
        ({"query": "a", "documents": ["b"], "return_documents": "no"}, "return_d"),
        ({"query": None, "documents": ["b"]}, "no 'query'"),
    ],
)
def test_refused_rankings(http, body, reason):
    check_refusal(http, "/rerank", body, 400, reason)


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", '"\\ud800"', '{"\\udc00": 1}'])
def test_a_document_that_cannot_be_returned_is_refused(http, value):
    """JSON has no NaN, and UTF-8 no surrogates; Python reads both."""
    body = '{"query": "a", "documents": [{"text": "b", "x": %s}], "return_documents": %s}'
    refused = http.post("/rerank", content=body % (value, "true"))
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("documents: ")
    assert http.post("/rerank", content=body % (value, "false")).status_code == 200


def test_a_path_that_only_estimators_have(http):
    reason = "Not found; this server answers /v1/embeddings, "
    check_refusal(http, "/predict", {"premise": "a"}, 404, reason)


def check_refusal(http, path, body, status, reason):
    answer = http.post(path, content=json.dumps(body))
    assert answer.status_code == status, answer.text
    error = answer.json()
    sentence = error["error"]["message"] if "error" in error else error["detail"]
    assert reason in sentence
    assert len(answer.content) < 500


def test_errors_before_the_body_is_read_have_the_form_too(http):
    assert "error" in http.post("/v1/embeddings", headers={"Host": "evil.example"}).json()
    assert "error" in http.post("/v1/embeddings", content=b" " * (MAX_BYTES + 1)).json()
    wrong = http.get("/v1/embeddings")
    assert wrong.status_code == 405
    assert wrong.headers["allow"] == "POST"
    message = wrong.json()["error"]["message"]
    assert message.startswith("Method not allowed; this server")


POSTED = ["/v1/embeddings", "/similarity", "/rerank", "/v1/rerank", "/v2/rerank"]


READ = ["/health", "/metrics", "/v1/models", "/v1/models/{name}"]


def test_the_description_has_examples_that_work(http):
    paths = http.get("/openapi.json").json()["paths"]
    assert set(paths) == {*READ, *POSTED}
    for path in POSTED:
        body = paths[path]["post"]["requestBody"]["content"]["application/json"]
        assert http.post(path, json=body["example"]).status_code == 200


def test_requests_are_counted(http):
    http.get("/invented/path")
    lines = http.get("/metrics").text.splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    counts = dict(line.rsplit(" ", 1) for line in samples)
    assert int(counts['sentmatch_requests_total{path="other",status="404"}']) >= 1
    assert counts["sentmatch_inputs_waiting"] == "0"


def test_the_log_says_once_that_no_word_of_a_text_is_known(caplog):
    service = Service("", "", encoder_routes(SentenceEncoder(tiny_encoder()), "tiny"))
    for text in ("A man sleeps.", "Xyzzy", "Plugh"):
        answer(service, "/v1/embeddings", {"input": [text]})
    (message,) = caplog.messages
    assert re.search("knows no word of 1 text .*'Xyzzy'.*; later texts of this kind", message)


@pytest.mark.parametrize(
    "name",
    [
        "sentmatch_requests_total",
        "sentmatch_request_seconds",
        "sentmatch_inputs_waiting",
    ],
)
def test_metrics_are_described_once(http, name):
    lines = http.get("/metrics").text.splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.startswith(f"# HELP {name} ")]
    assert lines[place + 1].startswith(f"# TYPE {name} ")


def test_seconds_are_counted_in_ranges():
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


def test_another_application_may_mount_the_server():
    routing = pytest.importorskip("starlette.routing")
    service = Service("-", "", encoder_routes(SentenceEncoder(tiny_encoder()), "tiny"))
    mounted = routing.Router([routing.Mount("/models", create_app(service))])
    with serving(mounted) as port:
        address = f"http://127.0.0.1:{port}/models"
        same = {"first": "a man", "second": "a man"}
        found = httpx.post(f"{address}/similarity", json=same).json()
        assert found == {"similarity": pytest.approx(1)}
        assert httpx.get(f"{address}/").status_code == 200
        assert httpx.get(f"{address}/health").status_code == 200
        metrics = httpx.get(f"{address}/metrics").text
        assert '{path="/similarity",status="200"} 1' in metrics


RECORDS = [{"premise": first, "hypothesis": second} for first, second in PAIRS]


def saved_service(estimator, folder):
    """Return the service of an estimator that was saved and loaded."""
    estimator.save(folder / "saved")
    return service_at(str(folder / "saved"))


def predictions(service, records):
    return answer(service, "/predict", {"inputs": records})["predictions"]


def test_a_saved_classifier(tmp_path):
    labels = [label == "same" for label in LABELS]
    classifier = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, labels)
    answers = predictions(saved_service(classifier, tmp_path), RECORDS)
    found = [one["label"] for one in answers]
    assert found == classifier.predict(PAIRS).tolist()
    assert found == labels
    probabilities = [list(one["probs_by_label"].values()) for one in answers]
    assert probabilities == pytest.approx(classifier.predict_proba(PAIRS), abs=1e-5)
    assert answers[0].items() >= RECORDS[0].items()


def test_a_saved_regressor(tmp_path):
    regressor = PairRegressor(tiny_encoder(), l2=0.1).fit(PAIRS, SCORES)
    answers = predictions(saved_service(regressor, tmp_path), RECORDS)
    scores = [one["score"] for one in answers]
    assert scores == pytest.approx(regressor.predict(PAIRS).tolist(), abs=1e-5)
    assert answers[0].items() >= RECORDS[0].items()


@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        (PairClassifier, LABELS),
        (PairRegressor, SCORES),
    ],
)
def test_a_saved_estimator_embeds_and_refuses(tmp_path, kind, targets):
    estimator = kind(tiny_encoder(), l2=0.1).fit(PAIRS, targets)
    service = saved_service(estimator, tmp_path)
    (embedded,) = answer(service, "/v1/embeddings", {"input": "a", "model": "saved"})["data"]
    expected = unit_vector("a", encoder=tiny_encoder())
    assert embedded["embedding"] == pytest.approx(expected, abs=1e-5)
    job = service.routes["/predict"].job
    for broken in ({}, {"premise": "a"}, {"premise": " ", "hypothesis": "a"}):
        with pytest.raises(job.mistakes, match="premise"):
            job.read(broken)
    with pytest.raises(job.mistakes, match="expected a JSON object"):
        job.read(["premise", "hypothesis"])


FORWARD = [("a cat sleeps", "a cat runs"), ("a dog sleeps", "a man runs")]


BACK = [(second, first) for first, second in FORWARD]


def frame(names, pairs):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(pairs, columns=names)


def classifier_of_order(names):
    """Return an estimator of the order of two texts, which were given in these columns."""
    pairs = [*FORWARD, *BACK] * 3
    labels = ["forward", "forward", "back", "back"] * 3
    estimator = PairClassifier(tiny_encoder(), matcher="heuristic", l2=0.01)
    return estimator.fit(frame(names, pairs), labels)


NAMES = [
    ("hypothesis", "premise"),
    ("answer", "question"),
    ("b", "a"),
    ("inputs", "outputs"),  # "inputs" is also the key of a list of records
    ("outputs", "inputs"),
]


@pytest.mark.parametrize("names", NAMES)
def test_an_estimator_gets_records_by_its_names(tmp_path, names):
    """The order is that of `fit`, not of the request or of the package's own names."""
    estimator = classifier_of_order(names)
    service = saved_service(estimator, tmp_path)
    labels = set()
    for first, second in FORWARD + BACK:
        record = {names[1]: second, names[0]: first}
        label = answer(service, "/predict", record)["label"]
        assert label == estimator.predict([record])[0]
        assert label == estimator.predict(frame(names, [(first, second)]))[0]
        in_order = {names[0]: first, names[1]: second}
        assert answer(service, "/predict", in_order)["label"] == label
        labels.add(label)
    assert labels == {"forward", "back"}


@pytest.mark.parametrize("names", NAMES)
def test_the_names_of_an_estimator_are_shown(tmp_path, names):
    first, second = names
    service = saved_service(classifier_of_order(names), tmp_path)
    with serving(create_app(service)) as port:
        described = httpx.get(f"http://127.0.0.1:{port}/openapi.json").json()
        page = httpx.get(f"http://127.0.0.1:{port}/").text
    body = described["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    assert list(body["example"]) == [first, second]
    assert body["schema"]["oneOf"][0]["required"] == [first, second]
    assert f'"{first}": ..., "{second}": ...' in page
    with pytest.raises(ValueError, match=f"an object with {first}/{second}; it has 'text1'"):
        service.routes["/predict"].job.read({"text1": "a"})


def test_columns_of_one_name_are_no_names(tmp_path):
    """`pandas.concat` of the same column of two frames gives such a frame."""
    estimator = PairClassifier(tiny_encoder(), l2=0.1).fit(frame(["text", "text"], PAIRS), LABELS)
    estimator.save(tmp_path / "saved")
    service = service_at(str(tmp_path / "saved"))
    found = answer(service, "/predict", {"premise": PAIRS[1][0], "hypothesis": PAIRS[1][1]})
    assert found["label"] == estimator.predict(PAIRS[1:2])[0]


def test_an_estimator_without_names_takes_questions_with_answers(tmp_path):
    estimator = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS)
    service = saved_service(estimator, tmp_path)
    (expected,) = estimator.predict(PAIRS[1:2])
    for keys in (("question", "answer"), ("sentence1", "sentence2"), ("premise", "hypothesis")):
        record = dict(zip(keys, PAIRS[1]))
        assert answer(service, "/predict", record)["label"] == expected


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
