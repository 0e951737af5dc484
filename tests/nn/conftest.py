"""The backends of `nn`, as a fixture."""

from collections.abc import Iterator

import pytest

from allennlp_sentmatch.nn import use_backend


@pytest.fixture(params=[None, "naive"], ids=["default", "naive"])
def both_backends(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_backend(request.param):
        yield
