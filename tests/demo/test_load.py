"""The page for many visitors at a time, one of them hostile."""

import asyncio
import json
import subprocess
import time
from itertools import cycle, islice
from urllib.parse import urlsplit

import pytest

JOIN = "/gradio_api/queue/join"
PAIR = ["A dog is running on the beach.", "A dog is moving."]
QUICK = [(0, PAIR), (24, PAIR[:1])]
"""A prediction and a search: a function's index and its inputs."""
SLOW = [(11, PAIR), (12, ["simple", *PAIR])]
"""The prediction's picture and its saliency, which are made for one visitor at a time."""

NUM_CLIENTS = 100
NUM_ATTACKS = 1000
SECONDS = 60
MAX_GROWTH = 300
"""In MiB."""

FILE = {"path": "/dev/zero", "meta": {"_type": "gradio.FileData"}}


def form(index, data, session):
    return {"data": data, "fn_index": index, "session_hash": session}


def attacks(address):
    """Requests, and the status of the answer to each."""
    form_of = form(0, PAIR, "attack")
    bodies = [
        (400, b"[" * 900_000),
        (400, json.dumps({**form_of, "event_data": FILE}).encode()),
        (404, json.dumps({**form_of, "fn_index": 25}).encode()),
        (413, b" " * 1_500_000),
    ]
    sent = [(status, {"method": "POST", "url": JOIN, "content": body}) for status, body in bodies]
    for status, url, headers in [
        (404, "/gradio_api/file=/etc/passwd", {}),
        (421, "/", {"Host": "evil.example"}),
        (200, "/config", {"X-Forwarded-Host": "evil.example"}),
    ]:
        sent.append((status, {"method": "GET", "url": url, "headers": headers}))
    return sent


def resident(process):
    """The memory of a process in MiB."""
    command = ["ps", "-o", "rss=", "-p", str(process.pid)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024


async def visit(http, name, requests, until, seconds):
    """Ask for one thing after the other, and append the times of the answers."""
    for number, (index, data) in enumerate(cycle(requests)):
        start = time.monotonic()
        if start > until:
            return
        sent = form(index, data, f"{name}x{number}")
        response = await http.post(JOIN, json=sent)
        assert response.status_code == 200, response.text
        address = f"/gradio_api/queue/data?session_hash={sent['session_hash']}"
        async with http.stream("GET", address) as stream:
            messages = [line async for line in stream.aiter_lines() if "process_completed" in line]
        (message,) = messages
        assert json.loads(message[5:])["success"], message
        seconds.append(time.monotonic() - start)


async def attack(http, address):
    """Send malformed requests, and leave connections half-open."""
    parts = urlsplit(address)
    opened = []
    for status, sent in islice(cycle(attacks(address)), NUM_ATTACKS):
        response = await http.request(**sent)
        assert response.status_code == status, (sent["url"], response.text)
        assert "evil.example" not in response.text or status == 421
        if len(opened) < 200:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(b"GET / HTTP/1.1\r\nX-Slow:")
            opened.append(writer)
        await asyncio.sleep(0.5 * SECONDS / NUM_ATTACKS)
    for writer in opened:
        writer.close()


async def load(address):
    """The times of the answers to all visitors."""
    httpx = pytest.importorskip("httpx")
    limits = httpx.Limits(max_keepalive_connections=0)  # one may end when it is used again
    seconds = []
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as http:
        until = time.monotonic() + SECONDS
        visits = [
            visit(http, f"client{number}", QUICK if number % 25 else QUICK + SLOW, until, seconds)
            for number in range(NUM_CLIENTS)
        ]
        await asyncio.gather(attack(http, address), *visits)
    return seconds


@pytest.mark.slow
def test_visitors_do_not_notice_a_hostile_one(demo_process):
    process, address = demo_process
    before = resident(process)
    seconds = asyncio.run(load(address))
    grown = resident(process) - before
    print(f"{len(seconds)} answers, median {sorted(seconds)[len(seconds) // 2]:.1f} s, ", end="")
    print(f"longest {max(seconds):.1f} s; {before:.0f} MiB at first, {grown:.0f} MiB more")
    assert len(seconds) >= NUM_CLIENTS
    assert grown < MAX_GROWTH
