"""Texts entered by visitors, and their limits."""

from dataclasses import dataclass
from typing import Optional, Union

MAX_CHARACTERS = 1000
"""The length of the longest text that is accepted."""

MAX_TOKENS = 60
"""The largest number of tokens in a text: a picture has a row or a column for each."""

MAX_CANDIDATES = 10
"""The largest number of answers that are ranked."""


class InputError(ValueError):
    """An entered text is not accepted; the message says why."""


@dataclass(frozen=True)
class TextInput:
    """A text that a model reads.

    # Parameters

    name : `str`
        Its key in the predictor's JSON.
    label : `str`
        Its name on the page.
    noun : `str`, optional (default = `name`)
        The word for it, or for an element of a list, in messages.
    field : `str`, optional (default = `name`)
        Its field in the predictor's instances.
    lines : `int`, optional (default = `1`)
        The height of its box, which grows up to 10 lines.
    one_per_line : `bool`, optional (default = `False`)
        Whether the text is a list, with one element a line.
    max_characters : `int`, optional (default = `MAX_CHARACTERS`)
    max_tokens : `int`, optional (default = `MAX_TOKENS`)
    """

    name: str
    label: str
    noun: str = ""
    field: str = ""
    lines: int = 1
    one_per_line: bool = False
    max_characters: int = MAX_CHARACTERS
    max_tokens: int = MAX_TOKENS

    def read(self, text: Optional[str]) -> Union[str, list[str]]:
        """The predictor's value for a typed text.

        # Raises

        `InputError` if the text, or an element of a list, is empty or too long.
        """
        if not self.one_per_line:
            return checked_text(text, self.noun or self.name, self.max_characters)
        lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
        if not lines:
            raise InputError("Please write at least one possible answer, each on its own line.")
        if len(lines) > MAX_CANDIDATES:
            raise InputError(
                f"There are {len(lines)} possible answers; at most {MAX_CANDIDATES} are ranked."
            )
        return [checked_text(line, self.noun or self.name, self.max_characters) for line in lines]

    def check_length(self, num_tokens: int) -> None:
        """Check the number of tokens of the text, or of an element of a list.

        # Raises

        `InputError` if there are too many.
        """
        if num_tokens > self.max_tokens:
            raise InputError(
                f"The {self.noun or self.name} has {num_tokens} words and marks; at most "
                f"{self.max_tokens} are read here."
            )


def checked_text(text: Optional[str], name: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Remove the white space around a text.

    # Raises

    `InputError` for one that is empty or too long.
    """
    text = (text or "").strip()
    if not text:
        raise InputError(f"Please write a {name}: there is nothing to read yet.")
    if len(text) > max_characters:
        raise InputError(
            f"The {name} has {len(text):,} characters; at most {max_characters:,} are read here."
        )
    return text
