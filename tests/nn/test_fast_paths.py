import threading

import pytest
import torch

from allennlp_sentmatch.nn.fast_paths import fast_paths, use_fast_path


def test_kernels_are_used_unless_switched_off():
    x = torch.zeros(2)
    assert use_fast_path(x)
    with fast_paths(False):
        assert not use_fast_path(x)
        with fast_paths(True):
            assert use_fast_path(x)
        assert not use_fast_path(x)
    assert use_fast_path(x)


def test_an_exception_restores_the_setting():
    with pytest.raises(KeyError), fast_paths(False):
        raise KeyError
    assert use_fast_path(torch.zeros(2))


def test_the_setting_is_the_thread_s_own():
    seen = []
    with fast_paths(False):
        thread = threading.Thread(target=lambda: seen.append(use_fast_path(torch.zeros(2))))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize(
    ("tensors", "expected"),
    [
        ([torch.zeros(2), torch.zeros(3)], True),
        ([torch.zeros(2).double()], True),
        ([torch.zeros(2), torch.zeros(2).double()], False),
        ([torch.zeros(2).half()], False),
        ([torch.zeros(2).bfloat16()], False),
        ([torch.zeros(2, device="meta")], False),
        ([torch.zeros(2), torch.zeros(2, device="meta")], False),
    ],
)
def test_kernels_take_one_device_and_one_full_precision(tensors, expected):
    assert use_fast_path(*tensors) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, of tracing
def test_tracing_takes_the_plain_path():
    seen = []

    def function(x):
        seen.append(use_fast_path(x))
        return x + 1

    torch.jit.trace(function, torch.zeros(2), check_trace=False)
    assert seen == [False]


@pytest.mark.skipif(not hasattr(torch, "compiler"), reason="this torch has no compiler")
def test_the_compiler_takes_the_plain_path():
    def function(x):
        return x + 1 if use_fast_path(x) else x - 1

    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert compiled(torch.zeros(2)).tolist() == [-1, -1]
