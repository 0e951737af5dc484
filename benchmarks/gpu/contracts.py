"""Check every encoder's guarantees on a device, against float64 on the CPU; print one table.

    python -m benchmarks.gpu.contracts --device cuda --output out/contracts

For each encoder, the outputs and all gradients of a batch whose padding is NaN are compared with
the equations ("naive") in float64 on the CPU: in float32, without TF32, and under autocast to
bfloat16. Errors are relative, in norm, and the largest of them is reported. Empty sentences must
have outputs and gradients of zero, and a sentence must have the same outputs in a batch and alone.
A check that fails makes the exit status 1.
"""

import sys
from typing import Any, Callable, Optional

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn import (
    LSTMN,
    CellAwareLSTM,
    GumbelTreeLSTM,
    Pooling,
    RecurrentlyControlledRNN,
    StackedRNN,
    SuffixBiLSTM,
    use_backend,
)
from benchmarks.gpu.options import option_parser
from benchmarks.report import machine, save, write

SIZE = 100
LENGTHS = (25, 1, 0, 13, 7)
NUM_TOKENS = 27  # no sentence fills the batch's length

ENCODERS: dict[str, Callable[[], nn.Module]] = {
    "cas_lstm": lambda: CellAwareLSTM(SIZE, SIZE),
    "cas_lstm, bidirectional, trainable weight": lambda: CellAwareLSTM(
        SIZE, SIZE, bidirectional=True, vertical_weight="trainable"
    ),
    "cas_lstm, peephole": lambda: CellAwareLSTM(SIZE, SIZE, vertical_gate="peephole"),
    "stacked_rnn, lstm": lambda: StackedRNN(SIZE, SIZE, "lstm", 2, bidirectional=True),
    "stacked_rnn, gru": lambda: StackedRNN(SIZE, SIZE, "gru", 2, bidirectional=True),
    "rcrn, lstm": lambda: RecurrentlyControlledRNN(SIZE, SIZE),
    "rcrn, gru": lambda: RecurrentlyControlledRNN(SIZE, SIZE, cell="gru"),
    "subilstm": lambda: SuffixBiLSTM(SIZE, SIZE),
    "subilstm, gru, untied": lambda: SuffixBiLSTM(SIZE, SIZE, tied=False, cell="gru"),
    "subilstm, gate, context of 4": lambda: SuffixBiLSTM(
        SIZE, SIZE, combination="gate", max_context=4
    ),
    "lstmn": lambda: LSTMN(SIZE, SIZE),
    "lstmn, bidirectional": lambda: LSTMN(SIZE, SIZE, bidirectional=True),
    "gumbel_tree_lstm": lambda: GumbelTreeLSTM(SIZE, SIZE),
    "gumbel_tree_lstm, affine leaves": lambda: GumbelTreeLSTM(SIZE, SIZE, leaf="affine"),
    "pooled, max and attention": lambda: Pooling(SIZE, ["max", "attention"]),
}

LIMITS = {
    "float32": 1e-4,
    "bfloat16": 0.05,
    "empty": 0.0,
    "alone": 1e-5,
}
"""The largest error of each check."""

COLUMNS = {
    "encoder": "encoder",
    "float32, error": "float32",
    "bfloat16 autocast, error": "bfloat16",
    "empty sentences, largest number": "empty",
    "alone and in a batch, difference": "alone",
    "what failed": "failed",
}


class Checks:
    """The checks of one encoder on a device, one method for each."""

    def __init__(self, build: Callable[[], nn.Module], device: torch.device) -> None:
        torch.manual_seed(0)
        self.reference = build().double().eval()
        torch.manual_seed(0)
        self.encoder = build().to(device).eval()  # in training mode, the trees' noise would differ
        self.device = device
        steps = torch.arange(NUM_TOKENS)
        self.mask = steps < torch.tensor(LENGTHS).unsqueeze(1)  # (B, T)
        inputs = torch.randn(len(LENGTHS), NUM_TOKENS, SIZE)
        self.inputs = inputs.masked_fill(~self.mask.unsqueeze(-1), float("nan"))
        self.merges: Optional[Tensor] = None
        if isinstance(self.reference, GumbelTreeLSTM):  # rounding may choose another tree
            with use_backend("naive"), torch.no_grad():
                composed = self.reference.compose(self.inputs.double(), self.mask)
            self.merges = composed.merges
        with use_backend("naive"):
            self.expected = self._results(self.reference, self.inputs.double(), self.mask)

    def float32(self) -> float:
        """Return the error of outputs and gradients in float32, without TF32."""
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            return self._error()

    def bfloat16(self) -> float:
        """Return the error of outputs and gradients under autocast to bfloat16."""
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            return self._error()

    def empty(self) -> float:
        """Return the largest output and gradient of a batch of empty sentences."""
        mask = torch.zeros(2, 3, dtype=torch.bool, device=self.device)
        inputs = torch.full((2, 3, SIZE), float("nan"), device=self.device)
        results = self._results(self.encoder, inputs, mask)
        largest = [x.abs().max().item() if x.numel() else 0.0 for x in results.values()]
        return max(largest)

    def alone(self) -> float:
        """Return the largest difference between a sentence's outputs in a batch and alone."""
        differences = [0.0]
        inputs = self.inputs.to(self.device)
        mask = self.mask.to(self.device)
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            together = self._outputs(self.encoder, inputs, mask, self.merges)
            for row, length in enumerate(LENGTHS):
                one = slice(row, row + 1)
                merges = None if self.merges is None else self.merges[one, : max(length - 1, 0)]
                single = self._outputs(
                    self.encoder, inputs[one, :length], mask[one, :length], merges
                )
                of_batch = together[one] if together.dim() == 2 else together[one, :length]
                if single.numel():
                    differences.append((of_batch - single).abs().max().item())
        return max(differences)

    def _error(self) -> float:
        actual = self._results(self.encoder, self.inputs.to(self.device), self.mask.to(self.device))
        errors = [_distance(actual[name], value) for name, value in self.expected.items()]
        return max(errors)

    def _results(self, encoder: nn.Module, inputs: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Return the outputs and all gradients, on the CPU in float64."""
        encoder.zero_grad(set_to_none=True)
        leaf = inputs.clone().requires_grad_()
        is_batch = len(inputs) == len(LENGTHS)
        outputs = self._outputs(encoder, leaf, mask, self.merges if is_batch else None)
        weights = torch.linspace(-1, 1, outputs.size(-1), device=outputs.device)
        (outputs * weights.to(outputs.dtype)).sum().backward()
        tensors = {"outputs": outputs.detach(), "inputs": leaf.grad}
        for name, parameter in encoder.named_parameters():
            if name != "query":  # the choice of a tree has no gradient in evaluation
                tensors[name] = parameter.grad
        missing = [name for name, tensor in tensors.items() if tensor is None]
        if missing:
            raise RuntimeError(f"there is no gradient of {', '.join(missing)}")
        return {name: x.double().cpu() for name, x in tensors.items() if x is not None}

    def _outputs(
        self, encoder: nn.Module, inputs: Tensor, mask: Tensor, merges: Optional[Tensor]
    ) -> Tensor:
        outputs: Tensor
        if isinstance(encoder, GumbelTreeLSTM) and merges is not None:
            outputs = encoder.compose(inputs, mask, merges.to(inputs.device)).hidden
        else:
            outputs = encoder(inputs, mask)
        return outputs


def _distance(actual: Tensor, expected: Tensor) -> float:
    """Return the distance relative to the norm, or infinity if it is not finite."""
    if not actual.isfinite().all():
        return float("inf")
    distance = (actual - expected).norm() / expected.norm().clamp(min=1e-12)
    return float(distance)


def measure(name: str, device: torch.device) -> dict[str, Any]:
    """Return one row of the table: the errors, and which exceed their limits."""
    record: dict[str, Any] = {"encoder": name}
    failed = []
    try:
        checks = Checks(ENCODERS[name], device)
        for check, limit in LIMITS.items():
            error = getattr(checks, check)()
            record[check] = error
            if not error <= limit:
                failed.append(check)
    except Exception as error:  # the other encoders are still checked
        failed.append(f"{type(error).__name__}: {error}")
    record["failed"] = "; ".join(failed)
    return record


def main() -> None:
    parser = option_parser(__doc__)
    options = parser.parse_args()
    device = torch.device(options.device)
    info = machine(device)
    records: list[dict[str, Any]] = []
    for name in ENCODERS:
        records.append(measure(name, device))
        save(options.output, info, records, COLUMNS)
    write(options.output, info, records, COLUMNS)
    failed = [record["encoder"] for record in records if record["failed"]]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
