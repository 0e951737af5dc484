"""Numbers of requests and their times, in Prometheus' text format."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""The upper limits of the histogram's bins."""

MEDIA_TYPE = "text/plain; version=0.0.4"

REQUESTS = "sentmatch_requests_total"
TIMES = "sentmatch_request_seconds"
WAITING = "sentmatch_inputs_waiting"


class Metrics:
    """Counts answers by their path, status and time.

    The format is described at https://prometheus.io/docs/instrumenting/exposition_formats.

    # Parameters

    paths : `Collection[str]`
        The paths to tell apart. Others are counted together, as "other", since a visitor could
        invent any number of them.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = set(paths)
        self._statuses: Counter[tuple[str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def add(self, path: str, status: int, seconds: float) -> None:
        """Count an answer with an HTTP status, which took some seconds."""
        if path not in self._paths:
            path = "other"
        self._statuses[path, status] += 1
        self._sums[path] = self._sums.get(path, 0.0) + seconds
        times = self._times.setdefault(path, [0] * (len(SECONDS) + 1))
        times[bisect_left(SECONDS, seconds)] += 1

    def text(self, num_waiting: int) -> str:
        """Return all counts, and the number of inputs that wait for the model."""
        lines = _head(REQUESTS, "counter", "Answers, by path and status; 499: the client left.")
        for (path, status), count in self._statuses.items():
            lines.append(f'{REQUESTS}{{path="{path}",status="{status}"}} {count}')
        lines += _head(TIMES, "histogram", "Seconds from a request to its answer.")
        for path in self._times:
            lines += self._times_of(path)
        lines += _head(WAITING, "gauge", "Inputs that wait for the model.")
        lines.append(f"{WAITING} {num_waiting}")
        return "\n".join(lines) + "\n"

    def _times_of(self, path: str) -> Iterator[str]:
        """Yield the lines of the histogram of a path."""
        limits = [*SECONDS, "+Inf"]
        total = 0
        for limit, count in zip(limits, self._times[path]):
            total += count
            yield f'{TIMES}_bucket{{path="{path}",le="{limit}"}} {total}'
        yield f'{TIMES}_sum{{path="{path}"}} {self._sums[path]:.6f}'
        yield f'{TIMES}_count{{path="{path}"}} {total}'


def _head(name: str, kind: str, described: str) -> list[str]:
    """Return the lines before a metric."""
    return [f"# HELP {name} {described}", f"# TYPE {name} {kind}"]
