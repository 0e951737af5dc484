"""Reading a line of an input file."""

import json

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict


def parse_json_object(line: str, where: str = "an input line") -> JsonDict:
    """The JSON object on a line.

    # Raises

    `ConfigurationError`, which begins with `where`, if the line holds something else.
    """
    shown = line.strip()[:80]
    try:
        parsed: JsonDict = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{where} is not JSON ({error}): {shown}") from None
    if not isinstance(parsed, dict):
        raise ConfigurationError(f"{where} must be a JSON object, got {shown}")
    return parsed
