"""The figures of the tasks, as JSON and as a row of SuBiLSTM's table 2."""

from dataclasses import asdict, dataclass
from typing import Any, Optional

COLUMNS = {
    "MR": ("accuracy",),
    "CR": ("accuracy",),
    "SUBJ": ("accuracy",),
    "MPQA": ("accuracy",),
    "SST": ("accuracy",),
    "TREC": ("accuracy",),
    "MRPC": ("accuracy", "f1"),
    "SICK-R": ("pearson",),
    "SICK-E": ("accuracy",),
    "STSB": ("pearson",),
}
"""The table's columns and their figures, with the averaged ones of figure 2 last."""

AVERAGED = {task: names[-1] for task, names in COLUMNS.items()}
"""The figure of each task that SuBiLSTM's figure 2 averages."""

CORRELATIONS = ("pearson", "spearman")


def metric_key(task: str, metric: str) -> str:
    """Return the name of a task's figure in the JSON, such as `sick_r_pearson`."""
    return f"{task}_{metric}".lower().replace("-", "_")


@dataclass(frozen=True)
class TaskResult:
    """The figures of a task.

    # Attributes

    metrics : `dict[str, float]`
        Metrics by name: `accuracy` and `f1`, as fractions of 1, `pearson` and `spearman`.
    l2_penalties : `list[float]`
        The chosen L2 penalties: one, or one for each fold.
    num_training, num_test : `int`
        The numbers of examples.
    seconds : `float`
        The time of training and testing, without encoding.
    """

    metrics: dict[str, float]
    l2_penalties: list[float]
    num_training: int
    num_test: int
    seconds: float


@dataclass(frozen=True)
class TransferReport:
    """The figures of all tasks.

    # Attributes

    name : `str`
        The encoder's name.
    vector_size : `Optional[int]`
        `None` if every task failed before it was encoded.
    settings : `dict[str, Any]`
        The number and the seed of the folds in cross-validation.
    results : `dict[str, TaskResult]`
        By task.
    errors : `dict[str, str]`
        The errors of failed tasks, by task.
    """

    name: str
    vector_size: Optional[int]
    settings: dict[str, Any]
    results: dict[str, TaskResult]
    errors: dict[str, str]

    @property
    def average(self) -> Optional[float]:
        """The mean of SuBiLSTM's figure 2, in percent; `None` unless all ten tasks gave a figure.

        F1 for MRPC, 100 times Pearson's correlation for SICK-R and STSB, and accuracy.
        """
        figures = []
        for task, name in AVERAGED.items():
            result = self.results.get(task)
            if result is None or name not in result.metrics:
                return None
            figures.append(result.metrics[name])
        return 100 * sum(figures) / len(figures)

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "encoder": self.name,
            "vector_size": self.vector_size,
            "settings": self.settings,
            "metrics": {
                metric_key(task, metric): value
                for task, result in self.results.items()
                for metric, value in result.metrics.items()
            },
            "average": self.average,
            "tasks": {task: asdict(result) for task, result in self.results.items()},
            "errors": self.errors,
        }

    def as_markdown(self) -> str:
        """Return the table's row and Spearman's correlations, in Markdown with a header."""
        columns = dict(COLUMNS)
        for task in self.errors:
            columns.setdefault(task, ())
        for task, result in self.results.items():
            # A user's task may have the name of one of the ten, and other metrics.
            known = [name for name in COLUMNS.get(task, ()) if name in result.metrics]
            columns[task] = tuple(known) or tuple(result.metrics)[:1]
        cells = {"Model": self.name}
        for task, metrics in columns.items():
            if task in self.errors:
                cells[task] = "failed"
            elif task in self.results:
                figures = self.results[task].metrics
                cells[task] = "/".join(_rounded(name, figures[name]) for name in metrics)
        for task, result in self.results.items():
            if "spearman" in result.metrics:
                cells[f"{task}, Spearman"] = _rounded("spearman", result.metrics["spearman"])
        if self.average is not None:
            cells["average"] = f"{self.average:.1f}"
        line = ["---"] * len(cells)
        rows = [cells.keys(), line, cells.values()]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rounded(metric: str, figure: float) -> str:
    """Return a correlation with three digits, another figure in percent."""
    return f"{figure:.3f}" if metric in CORRELATIONS else f"{100 * figure:.1f}"
