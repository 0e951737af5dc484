"""Modules get their mode back after evaluation."""

import contextlib

import torch

from allennlp_sentmatch.nn.evaluation_mode import evaluation_mode


def test_each_module_gets_its_mode_back_even_after_an_error():
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Dropout())
    model[1].eval()
    modes = []
    with contextlib.suppress(ZeroDivisionError), evaluation_mode(model):
        modes += [module.training for module in model.modules()]
        modes.append(1 / 0)
    assert modes == [False, False, False]
    assert [module.training for module in model.modules()] == [True, True, False]
