"""Where an example comes from."""

from os import PathLike
from typing import NamedTuple, Optional, Union

from allennlp_sentmatch.data.text import printable


class Source(NamedTuple):
    """The place of an example, for errors about it: `str(source)` is `pairs.tsv, line 3`."""

    file_path: Union[str, "PathLike[str]"]
    """The file, as the user named it."""
    line: Optional[int] = None
    """The example's first line, counted from 1; `None` if the example is the whole file."""

    def __str__(self) -> str:
        place = str(self.file_path)
        return printable(place if self.line is None else f"{place}, line {self.line}")
