"""Batches of sentences: padding, groups of near vectors, and each sentence once."""

import numpy
import pytest
import torch

from scripts.encoder.sentence_batches import GROUP_SIZE, Sentences, near_order
from tests.scripts.encoder.test_train_sentence_encoder import unit_vectors

pytestmark = pytest.mark.slow  # the program made the package's encoder once


def test_sentences_of_a_batch_are_padded():
    sentences = Sentences.__new__(Sentences)
    sentences.lengths = numpy.array([1, 3, 2])
    sentences.starts = torch.tensor([0, 1, 4])
    sentences.pieces = torch.tensor([3, 4, 5, 6, 7, 8])
    assert sentences.batch(numpy.array([2, 1])).tolist() == [[7, 8, 0], [4, 5, 6]]


def test_near_vectors_share_a_group():
    """Sixteen directions, each with 32 vectors near it: groups of 16 hold one direction."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.eye(16).repeat_interleave(32, 0)
    vectors = centres + 0.05 * torch.randn(512, 16, generator=generator)
    mixed = torch.randperm(512, generator=generator)
    order = near_order(vectors[mixed], generator)
    assert sorted(order.tolist()) == list(range(512))
    kinds = (mixed[order] // 32).view(-1, 16)
    assert (kinds == kinds[:, :1]).float().mean() > 0.5  # in a random order 0.06


def test_batches_have_each_sentence_once():
    lengths = numpy.random.default_rng(0).integers(1, 65, 3000)
    sentences = Sentences.__new__(Sentences)
    sentences.lengths = lengths
    batches = sentences.batches(unit_vectors(2900), 16 * 64, 64, (0, 0))
    rows = numpy.concatenate([rows for rows, _ in batches])
    assert len(set(rows)) == len(rows) > 2900 - 8 * 14  # a length's last batch may be dropped
    assert rows.max() < 2900
    for some, groups in batches:
        assert lengths[some].max() <= 1.5 * lengths[some].min() + 5
        assert numpy.unique(groups, return_counts=True)[1].max() <= GROUP_SIZE
    again = sentences.batches(unit_vectors(2900), 16 * 64, 64, (0, 0))
    assert all((a[0] == b[0]).all() for a, b in zip(batches, again))
