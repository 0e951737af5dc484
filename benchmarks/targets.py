"""Measure what the encoders' speed is held to; print one table of figures and targets.

The results are written to benchmarks/results/.

    python benchmarks/targets.py                                    # a minute or two
"""

import argparse
from functools import partial
from typing import Any

import torch
from cases import CASES
from encoders import measure
from measure import Candidate, interleave, median_ratio
from report import RESULTS, machine, write

from allennlp_sentmatch.nn import SuffixBiLSTM

COLUMNS = {"what": "what", "measured": "measured", "target": "target"}


def suffixes_one_by_one(device: torch.device, seconds: float, num_tokens: int = 32) -> float:
    """For one sentence: the time of an LSTM call for each suffix by that of SuBiLSTM's."""
    encoder = SuffixBiLSTM(300, 300).to(device)
    lstms = [torch.nn.LSTM(300, 300, batch_first=True).to(device) for _ in range(2)]
    inputs = torch.randn(1, num_tokens, 300, device=device)
    mask = torch.ones(1, num_tokens, dtype=torch.bool, device=device)

    def one_by_one(sentence: torch.Tensor) -> torch.Tensor:
        directions = zip(lstms, (sentence, sentence.flip(1)))
        # Of the tied model, the first suffix's states are the prefixes.
        return torch.stack(
            [lstm(x[:, i:])[0][:, -1] for lstm, x in directions for i in range(num_tokens)]
        )

    candidates = {
        "one by one": Candidate(torch.nn.ModuleList(lstms), one_by_one),
        "together": Candidate.encoder(encoder, mask, fast=True),
    }
    steps = {name: partial(x.forward, inputs) for name, x in candidates.items()}
    times = interleave(steps, seconds, device)
    return median_ratio(times["one by one"], times["together"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seconds", type=float, default=5.0, help="for each measurement")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = torch.device(options.device)
    info = machine(device)
    cases = {case.name: case for case in CASES}

    def ratio(name: str, num_tokens: int, batch_size: int, key: str) -> Any:
        return measure(cases[name], num_tokens, batch_size, device, options.seconds)[key]

    def training(name: str, num_tokens: int, batch_size: int, target: str) -> dict[str, Any]:
        case = cases[name]
        return {
            "what": f"{name}, training step by that of a {case.baseline_name} "
            f"({batch_size} x {num_tokens} tokens, {case.input_size} -> {case.hidden_size})",
            "measured": ratio(name, num_tokens, batch_size, "training_ratio"),
            "target": target,
        }

    tree = ratio("gumbel_tree_lstm", 64, 32, "plain_forward_ratio") / ratio(
        "gumbel_tree_lstm", 64, 32, "forward_ratio"
    )
    records = [
        training("cas_lstm", 25, 64, "at most 1.4 (CPU), 1.25 (CUDA)"),
        training("rcrn", 32, 32, "at most 1.1"),
        training("subilstm", 32, 32, "at most 1.5 * 9.25 = 13.9"),
        {
            "what": "an LSTM call for each suffix of one sentence of 32 tokens, by subilstm",
            "measured": suffixes_one_by_one(device, options.seconds),
            "target": "at least 4",
        },
        training("lstmn", 32, 32, "at most 3"),
        {
            "what": "gumbel_tree_lstm in evaluation, all candidates recomputed by the fast path "
            "(32 x 64 tokens)",
            "measured": tree,
            "target": "at least 4",
        },
    ]
    info["load_after"] = machine(device)["load"]
    write(RESULTS / f"targets_{device.type}", info, records, COLUMNS)


if __name__ == "__main__":
    main()
