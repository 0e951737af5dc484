"""The checks of encoders on a GPU, applied to encoders that break their contract."""

import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM, StackedRNN
from benchmarks.gpu import contracts

SIZE = contracts.SIZE


class WrongGradient(StackedRNN):
    """Outputs are right; gradients are a thousandth too large."""

    def forward(self, inputs, mask):
        outputs = super().forward(inputs, mask)
        if inputs.requires_grad and inputs.dtype == torch.float32:
            outputs.register_hook(lambda gradient: 1.001 * gradient)
        return outputs


class ReadsItsBatch(StackedRNN):
    """The batch's size is added to each token."""

    def forward(self, inputs, mask):
        outputs = super().forward(inputs, mask)
        return outputs + 1e-4 * len(inputs) * mask.unsqueeze(-1)


class NumbersInPadding(StackedRNN):
    """Padded steps are one."""

    def forward(self, inputs, mask):
        return super().forward(inputs, mask) + (~mask).unsqueeze(-1)


class WithoutAGradient(StackedRNN):
    """One parameter has no gradient."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.spare = torch.nn.Parameter(torch.ones(1))


@pytest.mark.parametrize(
    ("encoder", "failed"),
    [
        (CellAwareLSTM, ""),
        (WrongGradient, "float32"),
        (ReadsItsBatch, "alone"),
        (NumbersInPadding, "empty"),
        (WithoutAGradient, "RuntimeError: there is no gradient of spare"),
    ],
)
def test_a_broken_contract_is_named(encoder, failed, monkeypatch):
    monkeypatch.setitem(contracts.ENCODERS, "encoder", lambda: encoder(SIZE, SIZE))
    record = contracts.measure("encoder", torch.device("cpu"))
    assert record["failed"] == failed, record


def test_what_is_not_finite_is_infinitely_wrong():
    assert contracts._distance(torch.tensor([1.0, torch.nan]), torch.ones(2)) == float("inf")
