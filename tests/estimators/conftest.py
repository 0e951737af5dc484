"""Fewer penalties for estimators to choose from."""

from collections.abc import Iterator

import pytest

from allennlp_sentmatch.estimators import linear


@pytest.fixture(scope="module")
def few_penalties() -> Iterator[None]:
    """Let `fit` choose from two penalties: the weakest of all six take most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "L2_PENALTIES", (1.0, 0.1))
        yield
