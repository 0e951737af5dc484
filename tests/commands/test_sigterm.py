"""SIGTERM removes what is not whole, and nothing goes on after it."""

import os
import signal
from contextlib import suppress

import pytest

from allennlp_sentmatch.commands.sigterm import ending_at_sigterm
from allennlp_sentmatch.files.folders import written_text


def test_no_temporary_file_is_left(tmp_path):
    def command():
        with ending_at_sigterm("sentmatch search"), written_text(tmp_path / "found.jsonl"):
            # Code that goes on after errors, such as the next task of `transfer`.
            with suppress(Exception):
                signal.raise_signal(signal.SIGTERM)
            raise AssertionError("the command went on")

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="sentmatch search: stopped by SIGTERM"):
        command()
    assert os.listdir(tmp_path) == []
    assert signal.getsignal(signal.SIGTERM) == before
