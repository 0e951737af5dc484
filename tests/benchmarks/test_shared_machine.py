import json

import pytest

from benchmarks import shared_machine


@pytest.mark.parametrize("encoder", ["lstm", "cas_lstm"])
def test_a_process_waits_for_the_others_and_prints_the_time_of_a_step(
    encoder, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(shared_machine, "SIZE", 2)  # small networks
    (tmp_path / "another process").touch()
    shared_machine.train(encoder, 0.01, tmp_path, processes=2)
    assert json.loads(capsys.readouterr().out) > 0
    assert len(list(tmp_path.iterdir())) == 2
