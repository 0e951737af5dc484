"""The choice of torch's fused implementation of an optimizer."""

from typing import Any, Callable


def construct_fused(construct: Callable[..., None], **settings: Any) -> None:
    """Construct an optimizer of torch in the fused form, or in the usual one in an older torch."""
    try:
        construct(**settings, fused=True)
    except (TypeError, RuntimeError):
        construct(**settings)
