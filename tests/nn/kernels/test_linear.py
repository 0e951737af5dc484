import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.kernels.linear import linear


def test_each_map_is_torch_s_linear():
    torch.manual_seed(0)
    for S in (1, 2):
        for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            x, weight, bias = (
                torch.randn(shape, dtype=dtype, requires_grad=True)
                for shape in ((S, 6, 3), (S, 4, 3), (S, 4))
            )
            actual = linear(x, weight, bias)
            expected = torch.stack([F.linear(x[s], weight[s], bias[s]) for s in range(S)])
            torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)
            upstream = torch.randn_like(expected)
            arguments = (x, weight, bias)
            for ours, theirs in zip(
                torch.autograd.grad(actual, arguments, upstream),
                torch.autograd.grad(expected, arguments, upstream),
            ):
                torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)
