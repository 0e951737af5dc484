"""The Penn Treebank's escapes."""

import re

_BRACKETS = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_ESCAPE = re.compile(r"-([LR][RSC]B)-|\\([/*])", re.IGNORECASE)


def unescape(text: str) -> str:
    r"""Brackets for `-LRB-` and its like, `/` for `\/`, `*` for `\*`.

    Works on a token and on a text of several. Quotation marks are left as they are: the treebank's
    (two backquotes, two apostrophes) distinguish left and right, and word vectors include them.
    """
    return _ESCAPE.sub(lambda match: match[2] or _BRACKETS[match[1].upper()], text)
