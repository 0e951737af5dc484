import pytest

from allennlp_sentmatch.nn.checks import check_positive


def test_the_first_size_below_1_is_named():
    check_positive(input_size=1, hidden_size=300)
    check_positive()
    with pytest.raises(ValueError, match=r"^hidden_size must be at least 1, got 0$"):
        check_positive(input_size=1, hidden_size=0, num_layers=-1)
