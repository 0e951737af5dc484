"""Processes that are forked from one that has computed with several threads."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

PARENT = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import torch

torch.set_num_threads(2)
{imported}

def in_child(number):
    return encode(number).sum().item()

def in_pool(method):
    with method() as pool:
        return list(pool.map(in_child, range(2)))

if __name__ == "__main__":
    expected = [encode(number).sum().item() for number in range(2)]
    context = multiprocessing.get_context("fork")
    for method in (lambda: context.Pool(2), lambda: ProcessPoolExecutor(2, mp_context=context)):
        for found, number in zip(in_pool(method), expected):
            assert abs(found - number) < 1e-4 * max(1, abs(number)), (found, number)
    {more}
"""

SENTENCE_ENCODER = """
from allennlp_sentmatch import SentenceEncoder
encoder = SentenceEncoder()

def encode(number):
    return encoder.encode(["A man is asleep.", f"{number} dogs run."] * 50)
"""

DATASETS = """
    import datasets
    datasets.disable_progress_bars()
    table = datasets.Dataset.from_dict({"text": ["Two dogs run."] * 4})
    vectors = table.map(lambda row: {"v": encoder.encode([row["text"]])[0]}, num_proc=2)["v"]
    assert abs(encoder.encode(["Two dogs run."])[0] - vectors[3]).max() < 1e-5
"""

MODULE = """
from allennlp_sentmatch.nn import CellAwareLSTM
lstm = CellAwareLSTM(64, 64, bidirectional=True)

@torch.no_grad()
def encode(number):
    return lstm(torch.full((32, 40, 64), number / 9), torch.ones(32, 40, dtype=torch.bool))
"""


@pytest.mark.parametrize("imported", [SENTENCE_ENCODER, MODULE], ids=["encoder", "module"])
def test_forked_processes_answer(imported, tmp_path):
    more = ""
    if imported == SENTENCE_ENCODER and find_spec("datasets"):
        more = DATASETS.strip()
    (tmp_path / "parent.py").write_text(PARENT.format(imported=imported, more=more))
    # Not `run_python`: its processes are forks themselves.
    subprocess.run(
        [sys.executable, tmp_path / "parent.py"],
        env={**os.environ, "OMP_NUM_THREADS": "2", "HF_DATASETS_CACHE": str(tmp_path)},
        timeout=120,
        check=True,
    )
