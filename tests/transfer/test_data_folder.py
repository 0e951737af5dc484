"""The files of data sets are found under the names that people give their folders."""

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer.data_folder import find_file


@pytest.mark.parametrize(
    ("path", "data_set", "name"),
    [
        ("MR/rt-polarity.neg", "MR", "rt-polarity.neg"),
        ("mr/rt-polarity.neg.gz", "MR", "rt-polarity.neg"),
        ("MRPC/msr_paraphrase_train.txt", "MRPC", "msr_paraphrase_train.txt"),
        ("msrp/msr_paraphrase_train.txt", "MRPC", "msr_paraphrase_train.txt"),
        ("stsb/sts-dev.csv", "STS-B", "sts-dev.csv"),
        ("STS/STSBenchmark/sts-dev.csv", "STS-B", "sts-dev.csv"),
    ],
)
def test_found(tmp_path, path, data_set, name):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    assert find_file(tmp_path, data_set, name) == tmp_path / path


def test_not_found(tmp_path):
    (tmp_path / "msrp").touch()
    with pytest.raises(ConfigurationError, match="there is no mrpc/x or msrp/x,"):
        find_file(tmp_path, "MRPC", "x")
