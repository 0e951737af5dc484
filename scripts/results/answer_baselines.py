"""Score simple answers to the questions of a configuration, as baselines for a trained model.

    python -m scripts.results.answer_baselines training_config/fairytaleqa/rnet.jsonnet \
        --overrides training_config/local/fairytaleqa.json --record docs/results/fairytaleqa.json

- The passage's sentence with the most words of the question (in ties, the first one).
- A random span, with the average length of the training set's spans, for each of several seeds.
- The span that the reader would train on. No model that answers with spans can do much better.

The metric is `answer_overlap`. `--record` writes them into the rows of a table for
`fill_tables.py`.
"""

import argparse
import json
import random
import shlex
import statistics
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Callable

import spacy
from allennlp.common import Params
from allennlp.common.params import parse_overrides
from allennlp.data import DatasetReader, Instance
from spacy.language import Language

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.training.metrics import AnswerOverlap
from scripts.results.tables import read_table, write_table

Answerer = Callable[[Instance], str]

TITLES = {
    "bleu_1": "BLEU-1",
    "bleu_4": "BLEU-4",
    "meteor": "METEOR",
    "rouge_l": "ROUGE-L",
    "exact_match": "exact match",
    "f1": "F1",
    "validation_rouge_l": "validation ROUGE-L",
    "validation_f1": "validation F1",
}


def best_sentence(instance: Instance) -> str:
    """Return the sentence of the passage with the most of the question's words."""
    about = metadata(instance)
    question = words(about["question"])
    sentences = [sentence.text.strip() for sentence in sentencizer()(about["passage"]).sents]
    return max(sentences, key=lambda sentence: len(question & words(sentence)), default="")


def random_span(length: int, seed: int) -> Answerer:
    """Choose spans of `length` tokens, or whole passages that are shorter."""
    generator = random.Random(seed)

    def answer(instance: Instance) -> str:
        num_tokens = len(metadata(instance)["passage_tokens"])
        start = generator.randint(0, max(num_tokens - length, 0))
        return span_text(instance, start, min(start + length, num_tokens) - 1)

    return answer


def score(instances: Iterable[Instance], answer: Answerer) -> dict[str, float]:
    """Return the figures of the answers."""
    metric = AnswerOverlap()
    for instance in instances:
        metric([answer(instance)], [metadata(instance)["answers"]])
    return metric.get_metric()


def metadata(instance: Instance) -> dict[str, Any]:
    """Return the instance's texts and tokens."""
    field: Any = instance["metadata"]
    return dict(field.metadata)


def target(instance: Instance) -> tuple[int, int]:
    """Return the first and the last token of the span to learn."""
    start: Any = instance["span_start"]
    end: Any = instance["span_end"]
    return start.sequence_index, end.sequence_index


def span_text(instance: Instance, start: int, end: int) -> str:
    """Return the part of the passage from the token `start` to the token `end`."""
    about = metadata(instance)
    offsets = about["passage_offsets"]
    return str(about["passage"][offsets[start][0] : offsets[end][1]])


def words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    tokens = (token.text.lower() for token in sentencizer().tokenizer(text))
    return {token for token in tokens if any(map(str.isalnum, token))}


@cache
def sentencizer() -> Language:
    """Return the rules of spaCy for words and sentences."""
    language = spacy.blank("en")
    language.add_pipe("sentencizer")
    return language


def rows(configuration: dict[str, Any], seeds: list[int]) -> Iterator[dict[str, Any]]:
    """Yield a row of figures, on the validation set and any test set, for each way to answer."""
    settings = configuration["dataset_reader"]
    reader = DatasetReader.from_params(Params(settings.copy()))
    spans = map(target, reader.read(configuration["train_data_path"]))
    length = round(statistics.mean(end - start + 1 for start, end in spans))
    settings = configuration.get("validation_dataset_reader", settings)
    reader = DatasetReader.from_params(Params(settings.copy()))
    parts = {
        prefix: list(reader.read(configuration[key]))
        for prefix, key in (("validation_", "validation_data_path"), ("", "test_data_path"))
        if configuration.get(key) is not None
    }

    def figures(answer: Answerer) -> dict[str, float]:
        return {
            f"{prefix}{name}": round(value, 2)
            for prefix, instances in parts.items()
            for name, value in score(instances, answer).items()
        }

    by_seed = [figures(random_span(length, seed)) for seed in seeds]
    metrics = {name: [run[name] for run in by_seed] for name in by_seed[0]}
    name = f"random span of average length ({length} tokens)"
    yield {"model": name, "metrics": metrics, "seeds": seeds}
    name = "sentence with the most words of the question"
    yield {"model": name, "metrics": figures(best_sentence)}
    best = figures(lambda instance: span_text(instance, *target(instance)))
    yield {"model": "best span", "metrics": best}


def record(path: Path, made: list[dict[str, Any]]) -> None:
    """Put the rows first in a file of results; they replace rows with the same names."""
    table = read_table(
        path,
        {
            "data": "",
            "vectors": "",
            "metrics": TITLES,
            "rows": [],
        },
    )
    names = {row["model"] for row in made}
    table["rows"] = made + [row for row in table["rows"] if row["model"] not in names]
    write_table(path, table)


def main() -> None:
    """Print the figures for the configuration of the command line."""
    parser = argparse.ArgumentParser(description="Score simple answers to questions.")
    parser.add_argument("config", type=Path)
    parser.add_argument("--overrides", default="{}", help="a JSON or Jsonnet file")
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        default=[1, 2, 3, 4, 5],
    )
    parser.add_argument("--record", type=Path, help="a JSON file of results to put the figures in")
    arguments = parser.parse_args()
    is_file = arguments.overrides.endswith((".json", ".jsonnet", ".libsonnet"))
    text = f"import '{arguments.overrides}'" if is_file else arguments.overrides
    params = Params.from_file(str(arguments.config), json.dumps(parse_overrides(text)))
    command = shlex.join(["python", *sys.argv])
    made = list(rows(params.as_dict(quiet=True), arguments.seeds))
    for row in made:
        row["command"] = command
        print(row["model"])
        for name, value in row["metrics"].items():
            print(f"  {name}: {statistics.mean(value) if isinstance(value, list) else value:.2f}")
    if arguments.record is not None:
        record(arguments.record, made)


if __name__ == "__main__":
    main()
