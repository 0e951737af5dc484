"""The optional library FAISS."""

import logging
from typing import Any

from allennlp.common.checks import ConfigurationError

FAISS_LOGGER = logging.getLogger("faiss.loader")


def faiss_library() -> Any:
    """The module `faiss`.

    # Raises

    `ConfigurationError` if it is not installed.
    """
    # At INFO, FAISS reports each instruction set that it has no build for as a failed import.
    if FAISS_LOGGER.level == logging.NOTSET:
        FAISS_LOGGER.setLevel(logging.WARNING)
    try:
        import faiss
    except ImportError as error:
        raise ConfigurationError(
            "searching needs the extra [search]: pip install faiss-cpu"
        ) from error
    return faiss
