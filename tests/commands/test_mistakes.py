"""Sentences about mistakes of users."""

import errno
import os

from allennlp_sentmatch.commands.mistakes import sentence_about

FULL = os.strerror(errno.ENOSPC)


def test_a_full_disk_is_reported_of_the_copy():
    """`shutil.copyfile` names the source first."""
    error = OSError(errno.ENOSPC, FULL, "source", None, "copy")
    assert sentence_about(error) == f"copy: {FULL}"
    assert sentence_about(OSError(errno.ENOSPC, FULL, "file")) == f"file: {FULL}"
    assert sentence_about(OSError(errno.ENOSPC, FULL)) == f"the output cannot be written: {FULL}"
