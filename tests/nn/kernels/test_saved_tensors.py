import torch

from allennlp_sentmatch.nn.kernels.saved_tensors import writable


class Exponential(torch.autograd.Function):
    """exp(x), whose backward pass writes where its forward pass saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.exp())
        return x.exp()

    @staticmethod
    def backward(ctx, grad):
        return writable(*ctx.saved_tensors).mul_(grad)


def test_a_kept_graph_gives_the_same_gradient_again():
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    y = (3 * Exponential.apply(x)).sum()
    for retain_graph in (True, True, False):
        (gradient,) = torch.autograd.grad(y, x, retain_graph=retain_graph)
        torch.testing.assert_close(gradient, 3 * x.detach().exp())
