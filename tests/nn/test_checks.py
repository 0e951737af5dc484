import pytest

from allennlp_sentmatch.nn.checks import check_fraction, check_positive


def test_the_first_size_below_1_is_named():
    check_positive(input_size=1, hidden_size=300)
    check_positive()
    with pytest.raises(ValueError, match=r"^hidden_size must be at least 1, got 0$"):
        check_positive(input_size=1, hidden_size=0, num_layers=-1)


@pytest.mark.parametrize("size", [6.0, "6", None, True])
def test_a_size_is_an_integer(size):
    with pytest.raises(ValueError, match=rf"^hidden_size must be an integer, got {size!r}$"):
        check_positive(hidden_size=size)


def test_the_first_fraction_out_of_range_is_named():
    check_fraction(dropout=0, label_smoothing=0.999)
    for value in (1, 1.0, -0.1, float("nan")):
        message = f"^dropout must be at least 0 and below 1, got {value}"
        with pytest.raises(ValueError, match=message):
            check_fraction(label_smoothing=0.1, dropout=value)


@pytest.mark.parametrize("fraction", ["0.5", None, True])
def test_a_fraction_is_a_number(fraction):
    with pytest.raises(ValueError, match=rf"^dropout must be a number, got {fraction!r}$"):
        check_fraction(dropout=fraction)
