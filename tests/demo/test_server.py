"""The page as it is served: it asks nobody else for anything, and is for this machine only."""

import asyncio
import json
import logging
import re
import socket
import sys
import threading
import traceback
from contextlib import closing, suppress

import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import strategies as st

from allennlp_sentmatch.demo import InMemorySearch, InputError, create_app, middleware, server
from allennlp_sentmatch.demo.middleware import ANSWERS, JOIN
from allennlp_sentmatch.demo.server import MAX_SESSIONS
from allennlp_sentmatch.serving import requests
from tests import fuzzing
from tests.serving.running import serving

ADDRESS = "http://127.0.0.1"
PAIR = ["A dog is running on the beach.", "A dog is moving."]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder that Gradio copies files to."""
    return tmp_path_factory.mktemp("gradio")


@pytest.fixture(scope="module")
def port(pair_model, files):
    """The port of a page whose functions are a prediction, pictures, saliency and a search."""
    pytest.importorskip("gradio")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(files))
        app = create_app(pair_model, InMemorySearch(pair_model, PAIR), ["demo.example"])
        with serving(app) as port:
            yield port


@pytest.fixture
def http(port):
    httpx = pytest.importorskip("httpx")
    with httpx.Client(base_url=f"{ADDRESS}:{port}", timeout=20) as http:
        yield http


@pytest.fixture
def no_traceback(port, caplog, monkeypatch):
    """Gradio prints tracebacks, and uvicorn logs them."""
    printed = []
    monkeypatch.setattr(traceback, "print_exc", lambda: printed.append(traceback.format_exc()))
    logger = logging.getLogger("uvicorn")  # does not pass them on to other loggers
    logger.addHandler(caplog.handler)
    yield
    logger.removeHandler(caplog.handler)
    assert printed == []
    assert "Traceback" not in caplog.text


def test_the_page_may_load_from_its_own_server_alone(http):
    """And loads no script, style or font from elsewhere."""
    response = http.get("/")
    assert response.status_code == 200
    policy = dict(
        part.split(" ", 1) for part in response.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'self'"
    for name, sources in policy.items():
        assert "http" not in sources, name
        assert "*" not in sources, name
    loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*?\s(?:src|href)="([^"]*)"', response.text)
    assert loaded
    stylesheet = http.get("/theme.css").text
    loaded += re.findall(r"""url\(["']?([^"')]*)""", stylesheet)
    for address in loaded:
        assert re.match(r"(https?:)?//(?!127.0.0.1[:/])", address) is None, address
    assert "fonts.googleapis" not in response.text + stylesheet


def form(**changes):
    return {"data": PAIR, "fn_index": 0, "session_hash": "tab", **changes}


def answer(http, **changes):
    """The answer to a request; it ends the session."""
    sent = form(**changes)
    response = http.post(JOIN, json=sent)
    assert response.status_code == 200, response.text
    with http.stream("GET", ANSWERS, params={"session_hash": sent["session_hash"]}) as stream:
        events = [json.loads(line[5:]) for line in stream.iter_lines() if line.startswith("data:")]
    (completed,) = (event for event in events if event["msg"] == "process_completed")
    assert completed["success"]
    return completed["output"]["data"]


def test_the_page_s_own_requests_are_answered(http, no_traceback):
    note, label = answer(http)
    assert note == ""
    assert label["label"] in {"entailment", "contradiction", "neutral"}
    (found,) = answer(http, fn_index=24, data=PAIR[:1])
    assert f"<td>{PAIR[0]}</td>" in found


def test_no_function_field_or_route_takes_a_file(http, files, tmp_path, no_traceback):
    """Gradio would copy it, and tell the path of the copy."""
    (tmp_path / "secret.txt").write_text("secret")
    # A file, one that is missing, one without an end, and one of the working directory.
    paths = [f"{tmp_path}/secret.txt", f"{tmp_path}/missing", "/dev/zero", "setup.py"]
    data = [{"path": path, "meta": {"_type": "gradio.FileData"}} for path in paths]
    for index in range(30):
        for nested in (lambda x: [x], lambda x: [x] * 2, lambda x: ["simple", x, {"a": [x]}]):
            answers = [http.post(JOIN, json=form(fn_index=index, data=nested(x))) for x in data]
            # The same for a file that is missing.
            ((status, _),) = {(answer.status_code, answer.text) for answer in answers}
            assert status in (400, 404)
    for one in data:
        for field in ("event_data", "trigger_id", "session_hash", "fn_index", "files"):
            assert http.post(JOIN, json=form(**{field: one})).status_code == 400
        for route in ("run/predict", "api/predict", "call/predict", "component_server", "cancel"):
            sent = form(fn_index=24, data=[one])
            assert http.post(f"/gradio_api/{route}", json=sent).status_code == 404
    assert not any(path.is_file() for path in files.rglob("*"))


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:",
        b"POST /gradio_api/queue/join HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
        b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nX-Slow:",
    ],
    ids=["no headers", "headers", "body", "second headers"],
)
def test_slow_requests_are_ended(port, monkeypatch, sent):
    """One more byte from time to time does not keep them alive."""
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.5)
    with closing(socket.create_connection(("127.0.0.1", port), timeout=0.2)) as connection:
        connection.sendall(sent)
        for _ in range(100):
            try:
                if connection.recv(100_000) == b"":
                    return
            except ConnectionError:
                return
            except TimeoutError:
                if sent:
                    with suppress(ConnectionError):
                        connection.send(b" ")
    raise AssertionError("the connection is still open")


def test_a_forgotten_session_does_not_stop_the_queue(pair_model, monkeypatch):
    """Somebody who invents many sessions pushes out the one that waits."""
    pytest.importorskip("gradio")
    httpx = pytest.importorskip("httpx")
    monkeypatch.setattr(server, "MAX_EVENTS", 3)
    started, done = threading.Event(), threading.Event()

    def explain(*texts, method):
        started.set()
        done.wait(20)
        raise InputError

    monkeypatch.setattr(pair_model, "explain", explain)
    with (
        serving(create_app(pair_model)) as port,
        httpx.Client(base_url=f"{ADDRESS}:{port}") as http,
    ):
        for _ in range(3):  # one that runs, two that wait
            waiting = form(fn_index=12, data=["simple", *PAIR], session_hash="waiting")
            assert http.post(JOIN, json=waiting).status_code == 200
        assert started.wait(20)
        for number in range(5):
            answer(http, session_hash=f"other{number}")
        done.set()
        for number in range(5):
            answer(http, session_hash=f"last{number}")


def test_old_sessions_and_unread_answers_are_dropped(pair_model, monkeypatch):
    pytest.importorskip("gradio")
    monkeypatch.setattr(server, "MAX_UNREAD", 5)
    app = create_app(pair_model)
    (mounted,) = (route.app for route in app.routes if hasattr(route.app, "state_holder"))
    for number in range(MAX_SESSIONS + 10):
        mounted.state_holder[str(number)]
    assert len(mounted.state_holder.session_data) == MAX_SESSIONS
    queue = mounted.get_blocks()._queue
    queue.pending_messages_per_session["tab"] = asyncio.Queue()
    queue.pending_event_ids_session["tab"] = set()
    for number in range(100):
        queue.pending_messages_per_session["tab"].put_nowait(number)
        queue.pending_event_ids_session["tab"].add(number)
    messages = queue.pending_messages_per_session["tab"]
    assert [messages.get_nowait() for _ in range(messages.qsize())] == [*range(95, 100)]
    assert len(queue.pending_event_ids_session["tab"]) == 5


def test_a_missing_extra_is_named(pair_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(ConfigurationError, match=r"\[demo\]: pip install 'gradio"):
        create_app(pair_model)


METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "a"])
TARGETS = st.one_of(
    st.just(JOIN),
    st.sampled_from([*middleware.PATHS, "*", "http://evil.example/", "/gradio_api/upload"]),
    st.builds(
        "{}{}?{}".format,
        st.sampled_from(["/", "/assets/", "/static/", "/svelte/", "/gradio_api/", ANSWERS]),
        st.text("./%0aefEF?&=#~\\", max_size=12),
        st.text("pagedplink=&sehoi_0%", max_size=30),
    ),
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            ["Host", "Origin", "Cookie", "Content-Length", "Transfer-Encoding", "Expect"]
            + ["Accept-Encoding", "Range", "Upgrade", "X-Forwarded-Host", "X-Gradio-Server"]
        ),
        st.one_of(
            st.sampled_from(["", "0", "-1", "9" * 30, "chunked", "gzip, br", "null", "["]),
            st.sampled_from(["127.0.0.1", "http://127.0.0.1", "evil.example", "bytes=0-,1-"]),
            st.text("a:/[]@.,;=\x00\xff\r\n", max_size=9),
        ),
    ),
    max_size=3,
)
FIELDS = ["data", "fn_index", "session_hash", "trigger_id", "event_data", "batched"]
FORMS = st.one_of(
    fuzzing.values,
    st.builds(lambda name, value: form(**{name: value}), st.sampled_from(FIELDS), fuzzing.values),
    st.builds(
        lambda index, data: form(fn_index=index, data=data),
        st.integers(-1, 30),
        st.lists(st.one_of(fuzzing.texts, st.just("smooth"), fuzzing.values), max_size=4),
    ),
).map(json.dumps)
BODIES = st.one_of(
    FORMS.map(str.encode),
    st.builds(lambda text, end: text[:end].encode(), FORMS, st.integers(0, 60)),
    st.binary(max_size=30),
)
REQUESTS = st.one_of(
    st.tuples(st.just("POST"), st.just(JOIN), st.just([]), BODIES),
    st.tuples(METHODS, TARGETS, HEADERS, st.one_of(st.just(b""), BODIES)),
    st.binary(max_size=100),
)


def request(method, target, headers, body):
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body


@fuzzing.cases(40, 2000)
def test_any_request_is_ended_without_a_failure(port, num_cases, no_traceback, monkeypatch):
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.2)

    def check(sent):
        sent = sent if isinstance(sent, bytes) else request(*sent)
        answer = b""
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
        # What is too large is not read to its end.
        with closing(connection), suppress(ConnectionError):
            connection.sendall(sent)
            answer = connection.recv(100)
        assert not answer.startswith(b"HTTP/1.1 5"), answer

    fuzzing.check_cases(check, REQUESTS, num_cases)
