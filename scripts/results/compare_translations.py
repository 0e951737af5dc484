"""Compare translation systems: does X translate a test set better than Y?

    python -m scripts.results.compare_translations comparison.json

`data` in that file is a path for the reader `parallel_text`, and `systems` has, for each system and
each of its seeds, an archive or a file of translations (one per line). An archive's translations
are written next to it, to `translations_<name of the data>.txt`; if this file exists, it is read
instead. `comparisons` names two systems each (`higher` and `lower`), `lowercase`, false by default,
says whether BLEU ignores case, and `overrides`, such as `{"model.beam_search.beam_size": 10}`,
changes the archives' settings. This script writes `signature`, SacreBLEU's, and `records`, from
which `fill_tables.py` makes a table:

- The BLEU of X and Y and the difference, for each seed that both have.
- The p of SacreBLEU's paired bootstrap for that seed (1,000 resamples of the sentences): this is
  only about these two translations of the test set, not about other seeds.
- With several seeds, the means over them, each with the standard deviation, and the p of a
  one-tailed paired t-test over the seeds, as in table 5 of the paper of CAS-LSTM: the probability
  of such a gain if X is not better on average.

X is better if each seed has a positive difference and p < 0.05, not if each has a negative one and
p < 0.05; otherwise the question is open.
"""

import argparse
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.predictors import Predictor
from sacrebleu import BLEU
from sacrebleu.significance import PairedTest
from scipy.stats import ttest_rel
from tqdm import tqdm

from allennlp_sentmatch.data.dataset_readers import ParallelTextReader
from allennlp_sentmatch.models.archival import load_archive
from scripts.results.tables import read_table, write_table

COLUMNS = {
    "X": "higher",
    "Y": "lower",
    "seeds": "seeds",
    "BLEU of X": "bleu_higher",
    "BLEU of Y": "bleu_lower",
    "X - Y": "difference",
    "p": "p",
    "p of the t-test": "t_test",
    "X is better": "better",
}
LEVEL = 0.05
BATCH_SIZE = 100


def read_pairs(path: str) -> tuple[list[str], list[str]]:
    """Return the sentences of parallel files and their references."""
    instances: Iterable[Any] = ParallelTextReader(WhitespaceTokenizer()).read(path)
    pairs = [instance["metadata"].metadata for instance in instances]
    return [pair["source"] for pair in pairs], [pair["target"] for pair in pairs]


def translations_of(
    path: Path, sources: Sequence[str], data: str, overrides: dict[str, Any]
) -> list[str]:
    """Return the translations in a file, or an archive's translations, written next to it.

    # Raises

    `ValueError` if there is not one for each of the `sources`.
    """
    if path.name.endswith(".tar.gz"):
        archive = path
        path = path.parent / f"translations_{Path(data).name.partition('.')[0]}.txt"
        if not path.exists():
            loaded = load_archive(archive, overrides=json.dumps(overrides))
            predictor = Predictor.from_archive(loaded)
            lines = []
            for start in tqdm(range(0, len(sources), BATCH_SIZE), f"translating with {archive}"):
                batch = [{"source": source} for source in sources[start : start + BATCH_SIZE]]
                outputs = predictor.predict_batch_json(batch)
                lines += [f"{output['target']}\n" for output in outputs]
            path.write_text("".join(lines), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    if len(lines) != len(sources):
        raise ValueError(f"{path} has {len(lines)} lines, but {data} has {len(sources)} pairs")
    return lines


class Outcome(NamedTuple):
    """The BLEU of X and Y for a seed, and the p of the difference."""

    seed: str
    higher: float
    lower: float
    p: float

    @property
    def verdict(self) -> str:
        """The answer: "yes" if X is better, "no" if Y is better, otherwise "open"."""
        # SacreBLEU's p for equal translations is small: all resamples have the same difference.
        if self.p >= LEVEL or self.higher == self.lower:
            return "open"
        return "yes" if self.higher > self.lower else "no"

    def record(self) -> dict[str, str]:
        """Return the line of the table."""
        difference = self.higher - self.lower
        return {
            "seeds": self.seed,
            "bleu_higher": f"{self.higher:.2f}",
            "bleu_lower": f"{self.lower:.2f}",
            "difference": f"{difference:+.2f}",
            "p": f"{self.p:.3f}" if difference else "",
            "better": self.verdict,
        }


def compare(
    names: tuple[str, str],
    higher: Mapping[str, list[str]],
    lower: Mapping[str, list[str]],
    references: list[str],
    lowercase: bool,
) -> tuple[list[dict[str, str]], str]:
    """Return the table's lines for X and Y, from each seed's translations, and the signature.

    # Raises

    `ValueError` if they have no seed in common.
    """
    seeds = [seed for seed in higher if seed in lower]
    if not seeds:
        raise ValueError(f"{names[0]} and {names[1]} have no seed in common")
    results = []
    for seed in seeds:
        test = PairedTest(
            [(names[1], lower[seed]), (names[0], higher[seed])],
            {"BLEU": BLEU(lowercase=lowercase)},
            [references],
            test_type="bs",
        )
        signatures, scores = test()
        both: Any = scores["BLEU"]
        baseline, system = both
        results.append(Outcome(seed, system.score, baseline.score, system.p_value))
    records = [result.record() for result in results]
    if len(results) > 1:
        records.append(over_seeds(results))
    named = [{"higher": names[0], "lower": names[1], **record} for record in records]
    return named, str(signatures["BLEU"])


def over_seeds(results: list[Outcome]) -> dict[str, str]:
    """Return the line of the table about several seeds."""
    higher = [result.higher for result in results]
    lower = [result.lower for result in results]
    means = statistics.mean(higher), statistics.mean(lower)
    p = ttest_rel(higher, lower, alternative="greater").pvalue
    verdicts = {result.verdict for result in results}
    return {
        "seeds": "all",
        "bleu_higher": f"{means[0]:.2f} ± {statistics.stdev(higher):.2f}",
        "bleu_lower": f"{means[1]:.2f} ± {statistics.stdev(lower):.2f}",
        "difference": f"{means[0] - means[1]:+.2f}",
        "t_test": "" if math.isnan(p) else f"{p:.2g}",  # without any difference, there is no p
        "better": verdicts.pop() if len(verdicts) == 1 else "open",
    }


def main() -> None:
    """Compare the systems and write the records."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("comparison", type=Path)
    path = parser.parse_args().comparison
    table = read_table(path)
    sources, references = read_pairs(table["data"])
    overrides = table.get("overrides", {})
    systems = {
        name: {
            seed: translations_of(Path(file), sources, table["data"], overrides)
            for seed, file in files.items()
        }
        for name, files in table["systems"].items()
    }
    table.update(columns=COLUMNS, records=[])
    for pair in table["comparisons"]:
        higher = pair["higher"]
        lower = pair["lower"]
        both = (systems[higher], systems[lower])
        lowercase = table.get("lowercase", False)
        records, table["signature"] = compare((higher, lower), *both, references, lowercase)
        table["records"] += records
    write_table(path, table)
    for record in table["records"]:
        cells = ((title, record[key]) for title, key in COLUMNS.items() if key in record)
        print(", ".join(f"{title}: {cell}" for title, cell in cells))


if __name__ == "__main__":
    main()
