import pytest
import torch
import torch.distributed
import torch.multiprocessing
from allennlp.common import Params
from allennlp.training.metrics import Metric

from allennlp_sentmatch.training.metrics import MeanSquaredError


def test_by_hand():
    metric = Metric.from_params(Params({"type": "mean_squared_error"}))
    assert metric.get_metric() == 0.0
    metric(torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 4.0]))
    metric(torch.tensor([5.0, 3.0]), torch.tensor([2.0, 9.0]), torch.tensor([True, False]))
    assert metric.get_metric() == pytest.approx((0 + 4 + 9) / 3)
    assert metric.get_metric(reset=True) == pytest.approx((0 + 4 + 9) / 3)
    assert metric.get_metric() == 0.0


def run_worker(rank, address, queue):
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    metric = MeanSquaredError()
    metric(torch.zeros(1 + rank), torch.full((1 + rank,), 2.0 + rank))
    queue.put(metric.get_metric())
    torch.distributed.destroy_process_group()


def test_distributed(tmp_path):
    context = torch.multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    torch.multiprocessing.spawn(
        run_worker, args=(f"file://{tmp_path}/store", queue), nprocs=2, join=True
    )
    assert [queue.get(), queue.get()] == pytest.approx([(4 + 2 * 9) / 3] * 2)
