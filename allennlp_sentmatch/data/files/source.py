"""Where an example comes from."""

from os import PathLike
from typing import NamedTuple, Optional, Union

from allennlp_sentmatch.data.text import printable


class Source(NamedTuple):
    """Where an example is, for errors about it: `str(source)` is `pairs.tsv, line 3`."""

    file_path: Union[str, "PathLike[str]"]
    """The file, as the user named it."""
    line: Optional[int] = None
    """The example's first line, counted from 1; `None` if the file is not read by lines."""
    part: Optional[str] = None
    """The part of a JSON document that holds the example, such as `data[0].paragraphs[2]`."""

    @property
    def position(self) -> str:
        """Where in the file the example is; an empty string if it is the whole file."""
        return f"line {self.line}" if self.line is not None else self.part or ""

    def __str__(self) -> str:
        return printable(", ".join(filter(None, (str(self.file_path), self.position))))
