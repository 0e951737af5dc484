"""Every encoder is measured and checked, and its arithmetic is what torch counts."""

import json
from types import SimpleNamespace

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.cas_lstm import recurrence
from benchmarks import cases, encoders, measure


@pytest.fixture(autouse=True)
def _process_as_before(monkeypatch):
    for module in (measure, encoders):  # slow in a process as large as this one
        monkeypatch.setattr(module, "return_freed_memory", lambda: None)
    monkeypatch.setattr(encoders, "keep_freed_memory", lambda: None)  # until it ends
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def arguments(path, *more):
    settings = "--device cpu --lengths 2 --batch-sizes 2 --seconds 0 --threads 1 --output"
    return [*settings.split(), str(path), *more]


def test_every_encoder_is_measured_and_reported(tmp_path, capsys):
    pytest.importorskip("seaborn")
    picture = tmp_path / "ratios.png"
    encoders.main(arguments(tmp_path / "results" / "small", "--plot", str(picture)))
    results = json.loads((tmp_path / "results" / "small.json").read_text())
    names = [case.name for case in cases.CASES]
    assert [record["encoder"] for record in results["records"]] == names
    for record in results["records"]:
        for ratio in ("forward_ratio", "training_ratio", "naive_training_ratio"):
            assert record[ratio] > 0
        over_arithmetic = record["training_over_arithmetic"] * record["arithmetic_ratio"]
        assert over_arithmetic == pytest.approx(record["training_ratio"])
        assert record["training_rounds"] >= 1
        assert record["disagreement"] < 1e-5
    assert {"date", "processor", "torch", "threads", "load"} <= set(results["machine"])
    assert set(results["columns"].values()) <= set(results["records"][0])
    assert capsys.readouterr().out.count("\n| ") == len(names) + 2
    assert picture.stat().st_size > 1000


def test_a_wrong_kernel_is_not_measured(tmp_path, monkeypatch):
    layer = recurrence.lstm_layer

    def wrong(*args):
        hidden, cell = layer(*args)
        return hidden * 1.01, cell

    monkeypatch.setattr(recurrence, "lstm_layer", wrong)
    with pytest.raises(SystemExit, match=r"cas_lstm: the default backend is .* off the naive"):
        encoders.main(arguments(tmp_path / "small", "--encoders", "cas_lstm"))
    assert not list(tmp_path.iterdir())


def test_what_is_expected_to_take_too_long_is_left_out():
    lstmn = next(case for case in cases.CASES if case.name == "lstmn")
    shorter = {
        "num_tokens": 2,
        "forward_ms": 9000,
        "training_ms": 11_000,
        "naive_forward_ms": 9000,
    }
    for longest, measured in ((40, {"forward_ratio", "naive_forward_ratio"}), (10, set())):
        record = encoders.measure(lstmn, 4, 2, torch.device("cpu"), 0, longest, shorter)
        ratios = {name for name in record if name.endswith("_ratio")}
        assert ratios == {"arithmetic_ratio", *measured}
        assert ("disagreement" in record) == bool(measured)
        assert record["baseline_training_ms"] > 0
        assert record["left_out"] == f"steps of more than {longest} seconds"


@pytest.mark.parametrize(
    ("name", "T"),
    [
        ("cas_lstm, bidirectional", 5),
        ("subilstm", 5),
        ("subilstm", 20),
        ("subilstm, context of 16", 20),
    ],
)
def test_the_arithmetic_is_what_torch_counts(name, T):
    counter = pytest.importorskip("torch.utils.flop_counter")
    case = next(case for case in cases.CASES if case.name == name)
    # SuBiLSTM's naive form computes all suffixes at each step.
    backend = "eager" if name.startswith("subilstm") else "naive"
    encoder = case.encoder().double()
    inputs = torch.randn(1, T, case.input_size).double()
    in_place = {torch.ops.aten.baddbmm_: lambda _, x, y, **__: counter.bmm_flop(x, y)}
    flops = counter.FlopCounterMode(display=False, custom_mapping=in_place)
    with use_backend(backend), torch.no_grad(), flops:
        encoder(inputs, torch.ones(1, T, dtype=torch.bool))
    products = flops.get_total_flops() / 2  # a multiplication and an addition
    if backend == "eager":  # without the products of each suffix's first state, which is zero
        products += 2 * T * 4 * case.hidden_size**2
    assert products == T * case.products(T)


def test_steps_take_turns_and_slow_ones_run_once(monkeypatch):
    order = []
    clock = iter(range(1000))
    durations = {"longest": 40, "slow": 9, "a": 1, "b": 2}

    def step(name):
        order.append(name)
        for _ in range(durations[name] - 1):
            next(clock)

    monkeypatch.setattr(measure, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    times = measure.interleave(
        {name: lambda name=name: step(name) for name in durations}, 5, torch.device("cpu"), 20
    )
    assert order[:4] == ["longest", "slow", "a", "b"]  # to warm up
    assert order[4:7] == ["slow", "a", "b"]
    assert order[7:] == ["a", "b"] * (len(times["a"]) - 1)
    assert times["longest"] == []
    assert times["slow"] == [9]
    assert set(times["a"]) == {1}
    assert set(times["b"]) == {2}
    assert len(times["a"]) == len(times["b"]) >= 3
    assert measure.median_ratio(times["b"], times["a"]) == 2
