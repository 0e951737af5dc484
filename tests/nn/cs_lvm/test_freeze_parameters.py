import torch

from allennlp_sentmatch.nn.cs_lvm import freeze_parameters


def test_gradient_passes_through_but_does_not_stay():
    first, second = torch.nn.Linear(2, 2), torch.nn.LSTM(2, 3, batch_first=True)
    inputs = torch.randn(1, 4, 2)
    with freeze_parameters(second):
        outputs, _ = second(first(inputs))
    outputs.sum().backward()
    assert first.weight.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in second.parameters())


def test_restores_what_was_trainable():
    module = torch.nn.Linear(2, 2)
    module.bias.requires_grad_(False)
    try:
        with freeze_parameters(module):
            assert not module.weight.requires_grad
            raise RuntimeError
    except RuntimeError:
        pass
    assert module.weight.requires_grad
    assert not module.bias.requires_grad


def test_statistics_of_batch_normalization_stay():
    normalization = torch.nn.BatchNorm1d(2)
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), normalization)
    before = {name: buffer.clone() for name, buffer in normalization.named_buffers()}
    inputs = torch.randn(5, 3)
    with freeze_parameters(module):
        outputs = module(inputs)
    for name, buffer in normalization.named_buffers():
        assert torch.equal(buffer, before[name])
    torch.testing.assert_close(outputs, module(inputs))  # normalized by the batch in both cases
    assert normalization.num_batches_tracked == 1
