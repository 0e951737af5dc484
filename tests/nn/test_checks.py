import pytest

from allennlp_sentmatch.nn.checks import check_positive


def test_the_first_size_below_1_is_named():
    check_positive(input_size=1, hidden_size=300)
    check_positive()
    with pytest.raises(ValueError, match=r"^hidden_size must be at least 1, got 0$"):
        check_positive(input_size=1, hidden_size=0, num_layers=-1)


@pytest.mark.parametrize("size", [6.0, "6", None, True])
def test_a_size_is_an_integer(size):
    with pytest.raises(ValueError, match=rf"^hidden_size must be an integer, got {size!r}$"):
        check_positive(hidden_size=size)
