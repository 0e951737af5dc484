"""The endpoint answers as `predict` does, and refuses with a reason."""

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.inspection import SALIENCY_METHODS
from allennlp_sentmatch.serving import Job, batcher, create_app, endpoint, requests
from allennlp_sentmatch.serving.limits import MAX_TEXT
from allennlp_sentmatch.serving.predictions import service_of
from allennlp_sentmatch.serving.requests import MAX_BYTES
from allennlp_sentmatch.serving.routes import MAX_INPUTS, JobRoute, Service
from tests import fuzzing
from tests.serving.conftest import sent, serving

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")

PAIR = {"premise": "A kitten is carrying a rose.", "hypothesis": "A cat is moving a flower."}
OTHER = {"sentence1": "A dog sleeps.", "sentence2": "A man is carrying a long, red rose."}


@pytest.fixture(scope="module")
def predictor(untrained_predictor):
    return untrained_predictor("esim")


@pytest.fixture(scope="module")
def http(predictor):
    app = create_app(service_of(predictor), 4, ["Model.Example"])
    with serving(app) as port, httpx.Client(timeout=20) as http:
        http.base_url = f"http://127.0.0.1:{port}"
        yield http


def test_the_answers_to_many_programs_are_those_of_predict(http, predictor):
    texts = [f"A dog {'really ' * number}sleeps." for number in range(20)]
    pairs = [OTHER, *({"premise": text, "hypothesis": "A cat."} for text in texts)]
    several = http.post("/predict", json={"inputs": pairs}).json()["predictions"]
    with ThreadPoolExecutor(20) as threads:
        alone = list(threads.map(lambda pair: http.post("/predict", json=pair).json(), pairs))
    expected = predictor.predict_batch_json(pairs)
    for pair, answer, prediction in zip(pairs * 2, [*several, *alone], expected * 2):
        assert answer.keys() == prediction.keys()
        assert pair.items() <= answer.items()
        assert answer["label"] == prediction["label"]
        assert answer["label_probs"] == pytest.approx(prediction["label_probs"], abs=1e-5)


def test_answers_are_sent_at_once(http, monkeypatch):
    H11Protocol = pytest.importorskip("uvicorn.protocols.http.h11_impl").H11Protocol
    connections = []
    made = H11Protocol.connection_made

    def connection_made(protocol, transport):
        made(protocol, transport)
        connections.append(transport.get_extra_info("socket"))

    monkeypatch.setattr(H11Protocol, "connection_made", connection_made)
    with httpx.Client(base_url=http.base_url) as client:
        client.get("/health")
        assert connections[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_it_describes_itself(http):
    assert http.get("/health").json() == {"status": "ok", "waiting": 0}
    described = http.get("/openapi.json").json()
    saliency = {f"/saliency/{method}" for method in SALIENCY_METHODS}
    assert set(described["paths"]) == {"/health", "/metrics", "/predict", "/inspect", *saliency}
    assert '{"premise": ..., "hypothesis": ...}' in described["info"]["description"]
    page = http.get("/")
    assert page.headers["content-type"].startswith("text/plain")
    assert '"sentence2": ...' in page.text
    for path in ("/docs", "/model", "/page.js"):
        assert http.get(path).status_code == 404


def test_a_health_check_needs_no_name_and_no_body(http):
    answer = sent(http.base_url.port, b"GET /health HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b'"waiting":0}')
    assert sent(http.base_url.port, b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")
    assert http.get("/health", headers={"Host": "x"}).is_success
    for path in ("/health", "/", "/openapi.json"):
        answer = http.head(path)
        assert answer.status_code == 200
        assert answer.content == b""


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        (b"", 400, "The body: not valid JSON"),
        (b"\xff", 400, "not UTF-8"),
        (b"[" * 900_000, 400, "nested too deeply"),
        (b'{"premise": NaN, "hypothesis": "a"}', 400, "'premise' must be a string, got nan"),
        (b'{"premise": %s, "hypothesis": "a"}' % (b"9" * 5000), 400, "4300 digits"),
        (b'{"premise": "\\ud800", "hypothesis": "a"}', 400, "surrogate"),
        (b'{"premise": "a", "premise": "b"}', 400, "'premise' occurs twice"),
        (b" " * (MAX_BYTES + 1), 413, "limited to 5,000,000 bytes"),
        ([PAIR], 400, """expected a JSON object, as in {"key": "value"}, got [{"premise":"""),
        ({"inputs": PAIR}, 400, "inputs must be a list of objects"),
        ({"inputs": [PAIR, 1]}, 400, "Input 2: expected a JSON object"),
        ({"inputs": [PAIR, {}]}, 400, "Input 2: expected premise/hypothesis"),
        ({"inputs": [PAIR] * (MAX_INPUTS + 1)}, 413, "limited to 256 inputs"),
        ({**PAIR, "premise": "a" * MAX_TEXT}, 413, "have 20,025 characters; the limit is 20,000"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_request_that_cannot_be_answered_has_a_reason(http, body, status, detail):
    content = body if isinstance(body, bytes) else json.dumps(body)
    response = http.post("/predict", content=content)
    assert response.status_code == status
    assert detail in response.json()["detail"]
    assert len(response.content) < 1000


def test_names_are_checked(http):
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Host": "model.example"}, 200),
        ({"Host": "127.0.0.1/other"}, 200),  # FastAPI 0.110 reads a part of the path there
        ({"Origin": "http://evil.example"}, 403),
    ):
        assert http.post("/predict", json=PAIR, headers=headers).status_code == status


def test_an_answer_that_takes_too_long_is_given_up(http, monkeypatch):
    monkeypatch.setattr(batcher, "STALLED_SECONDS", 0)
    many = {"inputs": [PAIR] * 200}  # a single pair may be done before the first look
    response = http.post("/predict", json=many)
    assert response.status_code == 503
    assert response.json()["detail"][:21] == "The model is too busy"
    assert int(response.headers["retry-after"]) >= 1


class Counting(Job):
    """Counts its inputs."""

    number = 0

    def read(self, inputs):
        return inputs, {"text": (1, 1)}

    def compute(self, batch):
        self.number += len(batch)
        return [b"1"] * len(batch)

    def dearest(self, num_words):
        raise NotImplementedError


def test_a_small_answer_does_not_wait_for_large_ones(monkeypatch):
    job = Counting()
    may_end = threading.Event()
    render = JobRoute.render

    def wait(route, question, results):
        assert len(results) == 1 or may_end.wait(20)
        return render(route, question, results)

    monkeypatch.setattr(JobRoute, "render", wait)
    app = create_app(Service("title", "", {"/predict": JobRoute(job, {})}))
    large = {"inputs": [{}] * (endpoint.LARGE_ANSWER + 1)}
    number = 40  # more than a loop has threads
    with serving(app) as port, httpx.Client(timeout=20) as http:
        http.base_url = f"http://127.0.0.1:{port}"
        with ThreadPoolExecutor(number) as threads:
            answers = [threads.submit(http.post, "/predict", json=large) for _ in range(number)]
            while job.number < number * len(large["inputs"]):
                time.sleep(0.01)
            assert http.post("/predict", json={}).content == b"1"
            assert not any(answer.done() for answer in answers)
            may_end.set()
        assert {answer.result(20).status_code for answer in answers} == {200}


def test_large_bodies_share_a_limit(http, monkeypatch):
    """Small bodies are still read at the same time."""
    monkeypatch.setattr(requests, "MAX_BUFFERED", 150_000)
    several = {"inputs": [{**PAIR, "note": "a" * 400}] * 200}
    assert http.post("/predict", json=several).status_code == 200
    monkeypatch.setattr(requests, "MAX_BUFFERED", 0)
    refused = http.post("/predict", json={"inputs": [{**PAIR, "note": "a" * 600}] * 200})
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "5"
    assert "bodies of 100,000 bytes at most" in refused.json()["detail"]
    assert http.post("/predict", json=PAIR).status_code == 200


KEYS = "premise hypothesis sentence inputs input encoding_format dimensions model first second"
KEYS += " query documents top_n return_documents"
INPUTS = st.one_of(
    fuzzing.values,
    st.fixed_dictionaries({"inputs": st.lists(fuzzing.values, max_size=3)}),
    st.fixed_dictionaries({"premise": fuzzing.texts, "hypothesis": fuzzing.texts}),
    st.dictionaries(
        st.sampled_from(KEYS.split()),
        st.one_of(fuzzing.texts, fuzzing.values, st.lists(fuzzing.texts, max_size=3)),
        max_size=3,
    ),
)
BODIES = st.one_of(
    INPUTS.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=30),
    fuzzing.texts.map(lambda text: text.encode("utf-8", "surrogatepass")),
)
PATHS = "predict inspect saliency/smooth search v1/embeddings similarity rerank"


@fuzzing.cases(25, 3000)
def test_any_body_is_answered_or_refused(untrained_predictor, served, num_cases, caplog):
    logging.getLogger("uvicorn").addHandler(caplog.handler)

    def check(request):
        response = http.post(request[0], content=request[1])
        assert response.status_code in (200, 400, 404, 413), response.text
        json.loads(response.text, parse_constant=pytest.fail)  # without NaN

    predictor = untrained_predictor("similarity_regressor")
    with served(predictor) as port, httpx.Client(timeout=20) as http:
        http.base_url = f"http://127.0.0.1:{port}"
        fuzzing.check_cases(check, st.tuples(st.sampled_from(PATHS.split()), BODIES), num_cases)
    logging.getLogger("uvicorn").removeHandler(caplog.handler)
    assert "Traceback" not in caplog.text


def test_a_missing_extra_is_named(predictor, monkeypatch):
    monkeypatch.setattr(endpoint, "FastAPI", None)
    with pytest.raises(ValueError, match=r"\[serve\]: pip install fastapi uvicorn"):
        create_app(service_of(predictor))
