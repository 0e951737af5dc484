"""Extracting archives, valid and invalid ones."""

import gzip
import io
import tarfile

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.models.extraction import extract_archive


def write_archive(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member_of(name, size=0, type=tarfile.REGTYPE, **settings):
    member = tarfile.TarInfo(name)
    for setting, value in {"size": size, "type": type, **settings}.items():
        setattr(member, setting, value)
    return member


def regular(name, size=3, **settings):
    return member_of(name, size, **settings)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "in" / "here"
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    "member",
    [
        regular("/etc/cron.d/evil"),
        regular("../evil"),
        regular("vocabulary/../../evil"),
        member_of("weights.th", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member_of("weights.th", type=tarfile.LNKTYPE, linkname="config.json"),
        member_of("pipe", type=tarfile.FIFOTYPE),
        member_of("null", type=tarfile.CHRTYPE),
    ],
    ids=lambda member: f"{member.name}:{member.type.decode()}",
)
def test_a_member_that_could_do_harm_is_refused_by_name(tmp_path, folder, member):
    path = write_archive(tmp_path / "model.tar.gz", regular("config.json"), member)
    with pytest.raises(ConfigurationError, match=r"model\.tar\.gz") as refused:
        extract_archive(path, folder)
    assert repr(member.name) in str(refused.value)
    assert [entry.name for entry in folder.iterdir()] == ["config.json"]
    assert [entry.name for entry in folder.parent.iterdir()] == ["here"]


def test_files_and_folders_are_extracted_without_permissions_and_times(
    tmp_path, folder, monkeypatch
):
    file = regular("file", mode=0o4777, mtime=0)
    vocabulary = regular("vocabulary/t.txt", 70_000)
    members = file, member_of("vocabulary", type=tarfile.DIRTYPE), vocabulary
    monkeypatch.setenv("SENTMATCH_MAX_EXPANSION", "1")
    extract_archive(write_archive(tmp_path / "model.tar.gz", *members), folder)
    assert (folder / "file").read_bytes() == b"xxx"
    assert (folder / "vocabulary" / "t.txt").read_bytes() == b"x" * 70_000
    status = (folder / "file").stat()
    assert status.st_mode & 0o7111 == 0
    assert status.st_mtime > 0


# The ids keep gzip's time stamp out of the test's name, which pytest's processes compare.
@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", gzip.compress(b"not a tar" * 99, mtime=0), None],
    ids=["empty", "text", "gzip", "truncated"],
)
def test_a_file_that_is_not_an_archive(tmp_path, folder, content, small_archive):
    path = tmp_path / "model.tar.gz"
    path.write_bytes(small_archive.read_bytes()[:2000] if content is None else content)
    with pytest.raises(ConfigurationError, match="cannot be read as an archive"):
        extract_archive(path, folder)


@pytest.mark.parametrize(
    "members",
    [
        [regular("weights.th", 2_000_000)],
        [regular(f"{number}.txt", 3000) for number in range(9)],
        # Python reads a whole pax header into memory.
        [regular("config.json", pax_headers={"comment": "x" * 1_000_000})],
    ],
    ids=["one", "many", "header"],
)
def test_an_archive_unpacks_to_a_multiple_of_its_size(tmp_path, folder, members, monkeypatch):
    """Limits of some kilobytes instead of megabytes."""
    monkeypatch.setattr("allennlp_sentmatch.models.extraction.ALWAYS_ALLOWED", 20_480)
    path = write_archive(tmp_path / "model.tar.gz", *members)
    assert path.stat().st_size * 20 < 2_000_000
    with pytest.raises(ConfigurationError, match=r"tar\.gz unpacks to more than") as error:
        extract_archive(path, folder)
    assert "SENTMATCH_MAX_EXPANSION to a number larger than 20" in str(error.value)
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 20_480
    monkeypatch.setenv("SENTMATCH_MAX_EXPANSION", "1e4")
    extract_archive(path, folder)
    assert [file.stat().st_size for file in folder.iterdir()] == [m.size for m in members]


@pytest.mark.parametrize("value", ["0", "-1", "0.99", "many", "inf", "nan"])
def test_the_multiple_is_at_least_1(tmp_path, folder, monkeypatch, value):
    monkeypatch.setenv("SENTMATCH_MAX_EXPANSION", value)
    path = write_archive(tmp_path / "model.tar.gz", regular("config.json"))
    with pytest.raises(ConfigurationError, match=f"at least 1, got '{value}'"):
        extract_archive(path, folder)
