"""The server with clients that leave, stay silent, or arrive while it ends."""

import json
import logging
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from allennlp_sentmatch.serving import connections, create_app, requests, routes, serve, server
from allennlp_sentmatch.serving.predictions import service_of
from tests.serving.conftest import sent, serving

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")

PAIR = {"premise": "A kitten is carrying a rose.", "hypothesis": "A cat is moving a flower."}


@pytest.fixture(scope="module")
def predictor(untrained_predictor):
    return untrained_predictor("esim")


@contextmanager
def slow_server(predictor, monkeypatch):
    """A server's client, and the batches of premises; the first batch waits for the event."""
    batches = []
    may_end = threading.Event()
    predict = predictor.predict_batch_json

    def wait(requests):
        batches.append([request["premise"] for request in requests])
        assert may_end.wait(20)
        return predict(requests)

    monkeypatch.setattr(predictor, "predict_batch_json", wait)
    app = create_app(service_of(predictor), max_words=100)
    with httpx.Client(timeout=20) as http, serving(app) as port:
        http.base_url = f"http://127.0.0.1:{port}"
        yield http, batches, may_end


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError


def test_inputs_of_those_who_left_are_not_predicted(predictor, monkeypatch):
    with slow_server(predictor, monkeypatch) as (http, batches, may_end), ExitStack() as open_:
        threads = open_.enter_context(ThreadPoolExecutor(2))
        first = threads.submit(http.post, "/predict", json=PAIR)
        wait_until(lambda: batches)
        body = json.dumps({"inputs": [{**PAIR, "premise": "left"}] * 50}).encode()
        head = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
        for _ in range(6):
            client = socket.create_connection(("127.0.0.1", http.base_url.port))
            client.sendall(head % len(body) + body)
            wait_until(lambda: http.get("/health").json()["waiting"] >= 50)
            client.close()
            wait_until(lambda: http.get("/health").json()["waiting"] == 0)
        last = threads.submit(http.post, "/predict", json={**PAIR, "premise": "last"})
        wait_until(lambda: http.get("/health").json()["waiting"] == 1)
        may_end.set()
        assert [first.result().status_code, last.result().status_code] == [200, 200]
        assert batches == [[PAIR["premise"]], ["last"]]
        counts = http.get("/metrics").text
        assert 'sentmatch_requests_total{path="/predict",status="499"} 6\n' in counts
        assert 'status="503"' not in counts


def test_a_client_that_leaves_within_its_body_is_counted(predictor):
    with serving(create_app(service_of(predictor), max_words=100)) as port:
        head = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(head)
        url = f"http://127.0.0.1:{port}/metrics"
        wait_until(lambda: '{path="/predict",status="499"} 1\n' in httpx.get(url).text)
        assert 'status="400"' not in httpx.get(url).text


@pytest.mark.parametrize("may_finish", [True, False])
def test_accepted_requests_are_answered_at_the_end(predictor, monkeypatch, caplog, may_finish):
    monkeypatch.setattr(server, "SHUTDOWN_SECONDS", 1)
    with ThreadPoolExecutor(22) as threads:
        with slow_server(predictor, monkeypatch) as (http, _, may_end):
            answers = [threads.submit(http.post, "/predict", json=PAIR) for _ in range(20)]
            wait_until(lambda: http.get("/health").json()["waiting"] == 19)
            kept = httpx.Client(base_url=http.base_url)
            kept.get("/health")
            threads.submit(lambda: (time.sleep(0.3), may_finish and may_end.set()))
            late = threads.submit(lambda: (time.sleep(0.2), kept.get("/health"))[1])
        may_end.set()
    answers = [answer.result() for answer in answers]
    if may_finish:
        assert {answer.status_code for answer in answers} == {200}
    else:
        assert {answer.status_code for answer in answers} == {503}
        assert all("shutting down" in answer.json()["detail"] for answer in answers)
        assert all("retry-after" in answer.headers for answer in answers)
    assert late.result().headers["connection"] == "close"
    assert "Traceback" not in caplog.text


def test_a_second_signal_logs_no_traceback(predictor, monkeypatch, caplog):
    uvicorn = pytest.importorskip("uvicorn")

    class Forced(uvicorn.Server):
        """A server that has received a second Ctrl-C when it ends."""

        force_exit = property(lambda server: True, lambda server, value: None)

    monkeypatch.setattr(uvicorn, "Server", Forced)
    log = logging.getLogger("uvicorn")
    with serving(create_app(service_of(predictor), max_words=100)):
        log.addHandler(caplog.handler)
    log.removeHandler(caplog.handler)
    assert "Traceback" not in caplog.text


def test_connections_without_a_request_give_way(predictor, monkeypatch, caplog):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (40, 40))  # at most 20 connections
    with serving(create_app(service_of(predictor), max_words=100)) as port, ExitStack() as open_:
        silent = []
        for _ in range(60):
            silent.append(open_.enter_context(socket.create_connection(("127.0.0.1", port))))
            time.sleep(0.005)  # the kernel drops what comes faster, and is asked again in seconds
        slow = open_.enter_context(socket.create_connection(("127.0.0.1", port)))
        slow.sendall(b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
            assert http.post("/predict", json=PAIR).status_code == 200
        for client in silent[:40]:
            client.settimeout(20)
            refused = client.recv(1000)
            assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert b"\r\nRetry-After: 5\r\n" in refused
        slow.sendall(b"x" * 8)
        assert slow.recv(100).startswith(b"HTTP/1.1 400")
    assert caplog.text.count("\n") < 10


def test_every_error_is_an_object_with_a_detail(predictor, monkeypatch):
    predict = predictor.predict_batch_json
    nan = {**PAIR, "premise": "nan"}

    def with_nan(requests):
        return [
            {**output, "label_probs": [float(request["premise"])]}
            if request["premise"] in ("nan", "inf")
            else output
            for request, output in zip(requests, predict(requests))
        ]

    monkeypatch.setattr(predictor, "predict_batch_json", with_nan)
    with serving(create_app(service_of(predictor), max_words=20)) as port:
        url = f"http://127.0.0.1:{port}/predict"
        gzip = {"Content-Encoding": "gzip"}
        long = {**PAIR, "premise": "a " * 20}
        for status, answer in [
            (400, httpx.post(url, content=b"{")),
            (404, httpx.get(f"{url}/x")),
            (405, httpx.get(url)),
            (413, httpx.post(url, json=long)),
            (415, httpx.post(url, json=PAIR, headers=gzip)),
            (421, httpx.post(url, json=PAIR, headers={"Host": "x"})),
            (500, httpx.post(url, json=nan)),
            (500, httpx.post(url, json={"inputs": [PAIR, {**PAIR, "premise": "inf"}]})),
        ]:
            assert answer.status_code == status
            assert answer.json().keys() == {"detail"}
        assert "The model failed on input 2." in answer.text
        assert sent(port, b"\x16\x03\x01 TLS\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        monkeypatch.setattr(routes, "num_characters", lambda *_: 1 / 0)
        answer = httpx.post(url, json=PAIR)
        assert (answer.status_code, *answer.json()) == (500, "detail")
        assert "content-security-policy" in answer.headers
        counts = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert 'sentmatch_requests_total{path="/predict",status="500"} 3' in counts
        identity = {"Content-Encoding": "identity"}
        assert httpx.post(url, content=b"", headers=identity).status_code != 415


@pytest.mark.parametrize("number", [1, 2])
def test_answers_that_nobody_reads_do_not_stay_in_memory(monkeypatch, number):
    H11Protocol = pytest.importorskip("uvicorn.protocols.http.h11_impl").H11Protocol
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.2)
    lost = []
    lose = H11Protocol.connection_lost
    monkeypatch.setattr(
        H11Protocol, "connection_lost", lambda *given: lost.append(given) or lose(*given)
    )

    async def app(scope, receive, send):
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(50_000_000)})

    with serving(app) as port, socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * number)
        wait_until(lambda: lost)


def test_the_oldest_unread_answer_gives_way(monkeypatch):
    monkeypatch.setattr(connections, "MAX_UNREAD", 60_000_000)
    size = 50_000_000

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(size)})

    with serving(app) as port, ExitStack() as open_:
        clients = []
        for _ in range(2):
            client = open_.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert client.recv(1) == b"H"
            clients.append(client)
        oldest, newest = (len(client.makefile("rb").read()) for client in clients)
        assert oldest < size < newest


def test_only_a_request_that_has_begun_must_arrive_in_time(monkeypatch):
    """Proxies keep connections for a minute or longer, and fail if one was closed."""
    monkeypatch.setattr(requests, "REQUEST_SECONDS", 0.2)

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    with serving(app) as port, socket.create_connection(("127.0.0.1", port), 20) as client:
        for _ in range(2):
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 204")
            time.sleep(0.5)
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert client.recv(1000) == b""


@pytest.mark.parametrize(
    ("host", "others"),
    [
        ("0.0.0.0", "and at this machine's other addresses "),
        ("localhost", ""),
    ],
)
def test_a_server_answers_at_the_address_that_it_prints(predictor, capsys, host, others):
    with serving(create_app(service_of(predictor), max_words=100), host) as port:
        address = f"http://127.0.0.1:{port}/"
        assert f"at {address} {others}(" in capsys.readouterr().out
        assert httpx.get(f"{address}metrics").status_code == 200


def test_the_same_port_again(predictor):
    """The kernel still waits for packets of a connection that the first server has closed."""
    app = create_app(service_of(predictor), max_words=100)
    request = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with serving(app) as port:
        assert b" 200 " in sent(port, request)
    with serving(app, port=port):
        assert b" 200 " in sent(port, request)


def test_ports_that_do_not_exist_or_are_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        for port, reason in ((99999, ".*0-65535"), (-1, ".*0-65535"), (number, "Address")):
            with pytest.raises(ValueError, match=rf"--host 127.0.0.1 --port {port}: {reason}"):
                serve(None, "127.0.0.1", port, "page")


def test_all_addresses_of_both_kinds(predictor):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 here")
    own = {
        "127.0.0.1": ["127.0.0.1", "localhost", "[::ffff:7f00:1]"],
        "[::1]": ["[::1]", "[0:0::1]"],
    }
    with serving(create_app(service_of(predictor), max_words=100), "::") as port:
        for address, hosts in own.items():
            for host, status in [*((f"{host}:{port}", 200) for host in hosts), ("[::2]", 421)]:
                url = f"http://{address}:{port}/predict"
                headers = {"Host": host}
                assert httpx.post(url, json=PAIR, headers=headers).status_code == status
