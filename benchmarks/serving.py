"""Measure `allennlp serve` with many concurrent clients.

Each archive is served by its own process, one after another. Each client sends a request, waits for
the answer and sends the next one. A request has one sentence, which no other request has. In
addition to the time, the server's processor time is reported, which other programs on the machine
affect less.

    python -m benchmarks.serving sentences.txt bilstm=a/model.tar.gz minilm=b/model.tar.gz
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path

HEADERS = "POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n"


async def client(port: int, bodies: Iterator[bytes], until: float, seconds: list[float]) -> None:
    """Send one request after another, and append the times of the answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        start = time.monotonic()
        body = next(bodies)
        writer.write(HEADERS.format(length=len(body)).encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if not head.startswith("http/1.1 200"):
            raise RuntimeError(head)
        await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
        seconds.append(time.monotonic() - start)
    writer.close()


async def answers(port: int, bodies: Iterator[bytes], number: int, period: float) -> list[float]:
    """Return the times of all answers to all clients."""
    seconds: list[float] = []
    until = time.monotonic() + period
    await asyncio.gather(*(client(port, bodies, until, seconds) for _ in range(number)))
    return sorted(seconds)


def processor_seconds(process: "subprocess.Popen[str]") -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure each archive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sentences", type=Path, help="one per line")
    parser.add_argument("archives", nargs="+", metavar="name=archive")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    sentences = cycle(options.sentences.read_text("utf-8").splitlines())
    bodies = (
        json.dumps({"sentence": f"{number} {sentence}"}).encode()
        for number, sentence in zip(count(), sentences)
    )
    print("| model | clients | answers/s | median, ms | 95 %, ms | processor time, ms/answer |")
    print("| --- | --- | --- | --- | --- | --- |")
    for named in options.archives:
        name, _, archive = named.partition("=")
        command = [str(Path(sys.executable).with_name("allennlp")), "serve", archive, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                port = int(process.stdout.readline().partition("127.0.0.1:")[2].split("/")[0])
                for num_clients in (1, options.clients):
                    asyncio.run(answers(port, bodies, num_clients, 2))  # to warm up
                    before = processor_seconds(process)
                    times = asyncio.run(answers(port, bodies, num_clients, options.seconds))
                    used = processor_seconds(process) - before
                    print(
                        f"| {name} | {num_clients} | {len(times) / options.seconds:.0f} | "
                        f"{1000 * statistics.median(times):.0f} | "
                        f"{1000 * times[int(0.95 * len(times))]:.0f} | "
                        f"{1000 * used / len(times):.1f} |",
                        flush=True,
                    )
            finally:
                process.terminate()


if __name__ == "__main__":
    main()
