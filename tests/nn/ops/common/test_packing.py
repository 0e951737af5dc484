import pytest
import torch

from allennlp_sentmatch.nn.ops.common.packing import Packing

LENGTHS = [[4, 2, 6, 1, 6], [3, 3], [1], [5, 0, 2], [0, 0]]


def batch(lengths):
    T = max(lengths) + 1
    mask = torch.arange(T) < torch.tensor(lengths).unsqueeze(1)
    return torch.randn(len(lengths), T, 3), mask


@pytest.mark.parametrize("lengths", LENGTHS)
def test_a_sentence_keeps_its_row_within_the_steps_and_reads_in_its_direction(lengths):
    sequence, mask = batch(lengths)
    packing = Packing.of(sequence, mask, bidirectional=True)
    forward, reverse = (x.split(packing.sizes) for x in packing.pack(sequence))
    order = sorted(range(len(lengths)), key=lambda b: -lengths[b])
    for row, b in enumerate(order):
        for t in range(lengths[b]):
            assert torch.equal(forward[t][row], sequence[b, t])
            assert torch.equal(reverse[t][row], sequence[b, lengths[b] - 1 - t])
    assert packing.sizes == [sum(n > t for n in lengths) for t in range(max(lengths))]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_unpacking_restores_both_directions_with_zeros_at_padding(lengths):
    sequence, mask = batch(lengths)
    packing = Packing.of(sequence, mask, bidirectional=True)
    packed = packing.pack(sequence)
    packed = torch.stack([packed[0], 2 * packed[1]])
    expected = sequence.masked_fill(~mask.unsqueeze(-1), 0)
    assert torch.equal(packing.unpack(packed), torch.cat([expected, 2 * expected], -1))


@pytest.mark.parametrize("lengths", LENGTHS)
def test_previous_gives_each_row_that_of_its_sentence_one_step_before(lengths):
    sequence, mask = batch(lengths)
    packing = Packing.of(sequence, mask, bidirectional=True)
    packed = packing.pack(sequence)
    steps = packed.split(packing.sizes, 1)
    expected = [before[:, : now.size(1)] for before, now in zip(steps, steps[1:])]
    expected = torch.cat(expected, 1) if expected else packed[:, :0]
    assert torch.equal(packing.previous(packed), expected)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (2, 0), (0, 2)])
def test_no_mask_is_one_without_padding(shape, bidirectional):
    sequence = torch.randn(*shape, 3)
    expected = Packing.of(sequence, torch.ones(shape, dtype=torch.bool), bidirectional)
    packing = Packing.of(sequence, None, bidirectional)
    assert packing.sizes == expected.sizes
    assert torch.equal(packing.indices, expected.indices)
    assert torch.equal(packing.unpack(packing.pack(sequence))[..., :3], sequence)
