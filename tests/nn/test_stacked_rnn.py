import pytest
import torch

from allennlp_sentmatch.nn import StackedRNN


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_is_torch_s_network(cell: str, bidirectional: bool):
    torch.manual_seed(0)
    encoder = StackedRNN(3, 4, cell, 2, bidirectional, dropout=0.3).double().eval()
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    network = kind(3, 4, 2, batch_first=True, bidirectional=bidirectional).double()
    network.load_state_dict(encoder.network.state_dict())
    inputs = torch.randn(3, 5, 3, dtype=torch.float64)
    lengths = [5, 2, 4]
    outputs = encoder(inputs, torch.arange(5) < torch.tensor(lengths).unsqueeze(1))
    assert outputs.shape == (3, 5, encoder.output_size) == (3, 5, 8 if bidirectional else 4)
    for row, length in enumerate(lengths):
        expected = network(inputs[row : row + 1, :length])[0][0]
        torch.testing.assert_close(outputs[row, :length], expected, atol=1e-12, rtol=1e-12)
        assert not outputs[row, length:].any()
    assert encoder.network.dropout == 0.3


def test_dropout_without_a_second_layer_warns():
    with pytest.warns(UserWarning, match="num_layers"):
        StackedRNN(3, 4, num_layers=1, dropout=0.5)


def test_a_gru_has_no_memory_cells():
    with pytest.raises(ValueError, match='need cell="lstm"'):
        StackedRNN(3, 4, "gru").last_states(torch.zeros(1, 2, 3), torch.ones(1, 2) > 0)
