"""The device of tests/simulated_device.py: what a GPU would refuse, wait for and compute."""

import pytest
import torch

from tests.simulated_device import NAME, SimulatedDevice


@pytest.fixture
def device():
    with SimulatedDevice() as device:
        yield device


@pytest.fixture
def x(device):
    x = torch.arange(6.0, device=NAME).view(2, 3)
    device.launches.clear()
    return x


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x + torch.ones(3),
        lambda x: x @ torch.ones(3, 1),
        lambda x: torch.where(torch.ones(2, 3, dtype=torch.bool), x, 0.0),
        lambda x: x.gather(1, torch.zeros(2, 1, dtype=torch.long)),
        lambda x: torch.stack([x.sum(), torch.tensor(1.0)]),
        lambda x: torch.ones(2, 3) * x.sum(),
        lambda x: torch.ones(3).add_(x[0]),
        lambda x: torch.nn.functional.linear(x, torch.ones(4, 3)),
    ],
)
def test_an_operation_on_two_devices_is_refused(x, operation):
    with pytest.raises(RuntimeError, match=r"two devices: .* on (cpu|simulated:0)"):
        operation(x)


def test_a_number_on_the_cpu_goes_with_any_device_but_its_memory_cannot_be_read(x):
    assert (x * torch.tensor(2.0)).sum().item() == 30
    assert x[torch.tensor([1])].tolist() == [[3, 4, 5]]
    assert x.data_ptr() == 0
    with pytest.raises(RuntimeError, match=r"numpy\(\) is not supported"):
        x.numpy()


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (lambda x: x.sum().item(), "_local_scalar_dense"),
        (lambda x: bool(x.any()), "_local_scalar_dense"),
        (lambda x: x.tolist(), "_to_copy"),
        (lambda x: x.cpu(), "_to_copy"),
        (lambda x: torch.zeros(2, 3).copy_(x), "copy_"),
        (lambda x: x.copy_(torch.zeros(2, 3)), "copy_"),
        (lambda x: torch.tensor([1.0, 2.0], device=x.device), "_to_copy"),
        (lambda x: x[x > 2], "index"),
        (lambda x: x[torch.tensor([0])], "index"),
        (lambda x: x.__setitem__(x > 2, torch.zeros_like(x[0])), "index_put_"),
        (lambda x: (x > 2).nonzero(), "nonzero"),
        (lambda x: torch.equal(x, x), "equal"),
        (lambda x: x.repeat_interleave(torch.ones_like(x[:, 0]).long(), 0), "repeat_interleave"),
    ],
)
def test_what_a_program_waits_for(device, x, operation, name):
    operation(x)
    line = f"{__file__}:{operation.__code__.co_firstlineno}"
    assert dict(device.synchronizations) == {(name, line): 1}
    device.refuses_to_wait = True
    with pytest.raises(RuntimeError, match=f"{name} waits for the device at {line}"):
        operation(x)


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x[:, 1:].t().sum(),
        lambda x: x.double().float(),
        lambda x: torch.zeros(2, device=x.device),
        lambda x: torch.ones(2).to(x.device, non_blocking=True),
        lambda x: x[torch.zeros_like(x[0]).long()],
        lambda x: x.__setitem__(x > 2, 0.0),
        lambda x: x.masked_fill(x > 2, 0.0),
    ],
)
def test_what_a_program_does_not_wait_for(device, x, operation):
    operation(x)
    assert not device.synchronizations


def test_views_and_allocations_launch_nothing(device, x):
    torch.empty_like(x).copy_(x.t().reshape(2, 3)[:, 1:].unsqueeze(0).expand(2, 2, 2).sum())
    assert dict(device.launches) == {"clone": 1, "sum": 1, "copy_": 1}


def test_random_numbers_are_its_own(device):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    assert torch.rand(4, device=NAME).tolist() == expected.tolist()
    assert torch.equal(torch.rand(4), expected)
    with pytest.raises(RuntimeError, match="cannot take a generator of the CPU"):
        torch.rand(4, device=NAME, generator=torch.Generator())


def test_autocast_computes_as_on_a_gpu(device, x):
    linear = torch.nn.Linear(3, 2).to(NAME)
    with torch.autocast(NAME, dtype=torch.bfloat16):
        outputs = linear(x)
        assert outputs.dtype == torch.bfloat16
        assert outputs.softmax(-1).dtype == torch.float32
        assert linear(x.double().float()).sum().dtype == torch.float32
        with pytest.raises(RuntimeError, match="dtype"):
            linear(x.double())
    outputs.sum().backward()
    assert linear.weight.grad.dtype == torch.float32
    assert linear(x).dtype == torch.float32
