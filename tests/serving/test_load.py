"""The page with many concurrent visitors, one of them hostile."""

import asyncio
import subprocess
import time
from itertools import cycle, islice
from urllib.parse import urlsplit

import pytest

PAIR = {"premise": "A dog is running on the beach.", "hypothesis": "A dog is moving."}
QUICK = [("predict", PAIR), ("search", {"sentence": "A dog is moving."})]
SLOW = [("inspect", PAIR), ("saliency/integrated", PAIR)]

NUM_CLIENTS = 100
NUM_ATTACKS = 1000
SECONDS = 60
MAX_GROWTH = 300
"""The memory limit in MiB."""

DEAR = {"premise": "a dog " * 400, "hypothesis": "a dog " * 400}
ATTACKS = [
    (400, {"method": "POST", "url": "predict", "content": b"[" * 900_000}),
    (400, {"method": "POST", "url": "search", "json": {"sentence": {"path": "/dev/zero"}}}),
    (405, {"method": "POST", "url": "saliency/none", "json": PAIR}),
    (413, {"method": "POST", "url": "inspect", "content": b" " * 6_000_000}),
    (413, {"method": "POST", "url": "saliency/smooth", "json": DEAR}),
    (404, {"method": "GET", "url": "..%2fexamples.json"}),
    (421, {"method": "GET", "url": "", "headers": {"Host": "evil.example"}}),
]
"""Requests, and the status of the answer to each."""


def resident(process):
    """The memory of a process in MiB."""
    command = ["ps", "-o", "rss=", "-p", str(process.pid)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024


async def visit(http, requests, until):
    """Send one request after another, and return the number of answers."""
    number = 0
    while time.monotonic() < until:
        path, inputs = requests[number % len(requests)]
        response = await http.post(path, json=inputs)
        assert response.status_code == 200, response.text
        number += 1
    return number


async def attack(http, address):
    """Send malformed requests, and leave connections half-open."""
    parts = urlsplit(address)
    for number, (status, sent) in enumerate(islice(cycle(ATTACKS), NUM_ATTACKS)):
        response = await http.request(**sent)
        assert response.status_code == status, (sent["url"], response.text)
        if number < 200:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(b"GET / HTTP/1.1\r\nX-Slow:")
        await asyncio.sleep(0.5 * SECONDS / NUM_ATTACKS)
    return 0


async def load(address):
    """The number of answers to all visitors."""
    httpx = pytest.importorskip("httpx")
    limits = httpx.Limits(max_keepalive_connections=0)  # a connection may end when it is reused
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as http:
        until = time.monotonic() + SECONDS
        visits = [
            visit(http, QUICK if number % 25 else QUICK + SLOW, until)
            for number in range(NUM_CLIENTS)
        ]
        return sum(await asyncio.gather(attack(http, address), *visits))


@pytest.mark.slow
def test_visitors_do_not_notice_a_hostile_one(demo_process):
    process, address = demo_process
    before = resident(process)
    num_answers = asyncio.run(load(address))
    grown = resident(process) - before
    print(f"{num_answers} answers; {before:.0f} MiB at first, {grown:.0f} MiB more")
    assert num_answers >= NUM_CLIENTS
    assert grown < MAX_GROWTH
