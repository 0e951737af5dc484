"""Headers without digests, as damaged or hostile folders may have them."""

import json

from allennlp_sentmatch.files.digested_header import DIGESTS


def remove_digests(path):
    """Remove the digests from a header, so that changed files are read."""
    header = json.loads(path.read_text("utf-8"))
    del header[DIGESTS]
    path.write_text(json.dumps(header), "utf-8")
