"""Processes forked from a process that computed with several threads."""

import os
import subprocess
import sys

import pytest

PARENT = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import torch

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.nn import CellAwareLSTM

torch.set_num_threads(2)
encoder, lstm = SentenceEncoder(), CellAwareLSTM(64, 64, bidirectional=True)

@torch.no_grad()
def encode(number):
    vectors = encoder.encode(["A man is asleep.", f"{number} dogs run."] * 50)
    states = lstm(torch.full((32, 40, 64), number / 9), torch.ones(32, 40, dtype=torch.bool))
    return vectors.sum().item(), states.sum().item()

def in_pool(method):
    with method() as pool:
        return list(pool.map(encode, range(2)))

if __name__ == "__main__":
    expected = list(map(encode, range(2)))
    context = multiprocessing.get_context("fork")
    for method in (lambda: context.Pool(2), lambda: ProcessPoolExecutor(2, mp_context=context)):
        for found, sums in zip(in_pool(method), expected):
            for x, y in zip(found, sums):
                assert abs(x - y) < 1e-4 * max(1, abs(y)), (found, sums)
"""

DATASETS = """
    import datasets
    datasets.disable_progress_bars()
    table = datasets.Dataset.from_dict({"text": ["Two dogs run."] * 4})
    vectors = table.map(lambda row: {"v": encoder.encode([row["text"]])[0]}, num_proc=2)["v"]
    assert abs(encoder.encode(["Two dogs run."])[0] - vectors[3]).max() < 1e-5
"""


def test_forked_processes_answer(tmp_path):
    run(PARENT, tmp_path)


@pytest.mark.slow
def test_datasets_map_forks(tmp_path):
    pytest.importorskip("datasets")
    run(PARENT + DATASETS, tmp_path)


def run(program, folder):
    """Run a program in a process of two threads."""
    (folder / "parent.py").write_text(program)
    # Not `run_python`: its processes are forks themselves.
    subprocess.run(
        [sys.executable, folder / "parent.py"],
        env={**os.environ, "OMP_NUM_THREADS": "2", "HF_DATASETS_CACHE": str(folder)},
        timeout=120,
        check=True,
    )
