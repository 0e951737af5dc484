"""Archives are looked at before they are extracted."""

import io
import tarfile

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.models.archival import check_archive, load_archive


def write_archive(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def regular(name):
    member = tarfile.TarInfo(name)
    member.size = 3
    return member


def special(name, type_, linkname=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = type_, linkname
    return member


@pytest.mark.parametrize(
    "member",
    [
        regular("/etc/cron.d/evil"),
        regular("../evil"),
        regular("vocabulary/../../evil"),
        special("weights.th", tarfile.SYMTYPE, "/etc/passwd"),
        special("weights.th", tarfile.LNKTYPE, "config.json"),
        special("pipe", tarfile.FIFOTYPE),
        special("null", tarfile.CHRTYPE),
    ],
    ids=lambda member: f"{member.name}:{member.type.decode()}",
)
def test_a_member_that_could_do_harm_is_refused_by_name(tmp_path, member):
    path = write_archive(tmp_path / "model.tar.gz", regular("config.json"), member)
    with pytest.raises(ConfigurationError, match=r"model\.tar\.gz") as refused:
        load_archive(path)
    assert repr(member.name) in str(refused.value)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["model.tar.gz"]


def test_files_and_folders_pass(tmp_path):
    members = [regular("config.json"), special("vocabulary", tarfile.DIRTYPE)]
    check_archive(write_archive(tmp_path / "model.tar.gz", *members, regular("vocabulary/t.txt")))


@pytest.mark.parametrize("content", [b"", b"not an archive"])
def test_a_file_that_is_no_archive(tmp_path, content):
    path = tmp_path / "model.tar.gz"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="cannot be read as an archive"):
        check_archive(path)


def test_a_cut_archive(tmp_path, small_archive):
    path = tmp_path / "model.tar.gz"
    path.write_bytes(small_archive.read_bytes()[:2000])
    with pytest.raises(ConfigurationError, match="cannot be read as an archive"):
        load_archive(path)


def test_a_trained_model_loads_from_its_archive_and_from_its_folder(small_archive):
    from_archive = load_archive(small_archive).model.state_dict()
    from_folder = load_archive(small_archive.parent).model.state_dict()
    assert from_archive.keys() == from_folder.keys()
    for name, weight in from_archive.items():
        assert weight.equal(from_folder[name]), name
