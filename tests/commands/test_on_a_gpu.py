"""Commands with `--cuda-device 0`, on a simulated GPU, have the same output as on a CPU."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from allennlp_sentmatch.encoding import ArchiveEncoder
from tests.calibration.test_calibrate_archive import draw_labels
from tests.simulated_device import WHY_MISSING
from tests.transfer.small_data import write_small_data

pytestmark = pytest.mark.skipif(bool(WHY_MISSING), reason=WHY_MISSING)

COMMANDS = {
    "encode": "{archive} {sentences} {out}/vectors.npy --dtype bfloat16",
    "search": "{archive} {sentences} {vectors} --queries {sentences} --rescore "
    "--output-file {out}/neighbors.jsonl",
    "transfer": "{archive} --data {data} --folds 3 --tasks TREC MR --output-file {out}/report.json",
    "calibrate": "{archive} {test} {out}/calibrated --test-file {test}",
    "inspect": "{archive} {pairs} {out}/drawings",
    "evaluate-generator": "{generator} {nli} --classifier {classifier} "
    "--output-file {out}/metrics.json",
}


@pytest.fixture(scope="module")
def inputs(small_archive, generator_archives, fixtures, tmp_path_factory) -> dict[str, Path]:
    tmp_path = tmp_path_factory.mktemp("inputs")
    generator, classifier = generator_archives
    sentences = ["A man is asleep.", "Two dogs run.", "A woman sings."]
    (tmp_path / "sentences.txt").write_text("".join(f"{x}\n" for x in sentences))
    vectors = ArchiveEncoder.from_archive(small_archive).encode(sentences)
    numpy.save(tmp_path / "vectors.npy", vectors)
    pair = {"premise": sentences[0], "hypothesis": sentences[1]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    draw_labels(
        small_archive, fixtures / "quick_start" / "test.tsv", tmp_path / "drawn.tsv", number=60
    )
    return {
        "archive": small_archive,
        "generator": generator,
        "classifier": classifier,
        "test": tmp_path / "drawn.tsv",
        "nli": fixtures / "data" / "snli.jsonl",
        "sentences": tmp_path / "sentences.txt",
        "vectors": tmp_path / "vectors.npy",
        "pairs": tmp_path / "pairs.jsonl",
        "data": write_small_data(tmp_path / "data"),
    }


def numbers(x: Any) -> list[float]:
    """All numbers in a JSON value except times, in order."""
    if isinstance(x, dict):
        return [n for key, value in x.items() if "second" not in key for n in numbers(value)]
    if isinstance(x, list):
        return [number for value in x for number in numbers(value)]
    return [x] if isinstance(x, (int, float)) else []


def written(folder: Path) -> dict[str, list[float]]:
    """The numbers in each file."""
    results = {}
    for file in filter(Path.is_file, sorted(folder.rglob("*"))):
        if file.suffix == ".npy":
            results[file.name] = numpy.load(file).ravel().tolist()
        elif file.suffix in (".json", ".jsonl"):
            text = file.read_text()
            lines = text.splitlines() if file.suffix == ".jsonl" else [text]
            results[file.name] = [n for line in lines for n in numbers(json.loads(line))]
        else:
            results[file.name] = []
    return results


@pytest.mark.parametrize("command", COMMANDS)
def test_it_writes_what_it_does_on_a_cpu(command, allennlp, request, inputs, tmp_path):
    def run(device: str) -> dict[str, list[float]]:
        out = tmp_path / device
        out.mkdir()
        arguments = COMMANDS[command].format(out=out, **inputs).split()
        allennlp(command, *arguments, "--cuda-device", device)
        return written(out)

    on_cpu = run("-1")
    simulated_gpu = request.getfixturevalue("simulated_gpu")
    on_gpu = run("0")
    assert simulated_gpu.launches
    assert on_cpu
    assert on_gpu.keys() == on_cpu.keys()
    for name, expected in on_cpu.items():
        assert on_gpu[name] == pytest.approx(expected, abs=1e-3, rel=1e-3), name
