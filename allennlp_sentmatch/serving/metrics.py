"""Numbers of requests and their times, in Prometheus' text form."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""The upper limits of the times that are counted together."""

MEDIA_TYPE = "text/plain; version=0.0.4"


class Metrics:
    """Counts answers by their path, status and time.

    Paths other than `paths` are counted together, as "other": a visitor could invent any number.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = set(paths)
        self._statuses: Counter[tuple[str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def add(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        path = path if path in self._paths else "other"
        self._statuses[path, status] += 1
        self._sums[path] = self._sums.get(path, 0.0) + seconds
        times = self._times.setdefault(path, [0] * (len(SECONDS) + 1))
        times[bisect_left(SECONDS, seconds)] += 1

    def text(self, num_waiting: int) -> str:
        """All counts, and the number of inputs that wait for the model."""
        requests, seconds = "sentmatch_requests_total", "sentmatch_request_seconds"
        lines = [f"# TYPE {requests} counter"]
        for (path, status), count in self._statuses.items():
            lines.append(f'{requests}{{path="{path}",status="{status}"}} {count}')
        lines.append(f"# TYPE {seconds} histogram")
        for path, counts in self._times.items():
            total = 0
            for limit, count in zip((*SECONDS, "+Inf"), counts):
                total += count
                lines.append(f'{seconds}_bucket{{path="{path}",le="{limit}"}} {total}')
            lines.append(f'{seconds}_sum{{path="{path}"}} {self._sums[path]:.6f}')
            lines.append(f'{seconds}_count{{path="{path}"}} {total}')
        waiting = "sentmatch_inputs_waiting"
        return "\n".join([*lines, f"# TYPE {waiting} gauge", f"{waiting} {num_waiting}\n"])
