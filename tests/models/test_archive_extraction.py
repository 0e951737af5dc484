"""Archives are checked while they are extracted."""

import gzip
import io
import tarfile

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.models import archival

from allennlp_sentmatch.models.archival import extract_archive


def write_archive(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def regular(name, size=3):
    member = tarfile.TarInfo(name)
    member.size = size
    return member


def special(name, type_, linkname=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = type_, linkname
    return member


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
        special("weights.th", tarfile.SYMTYPE, "/etc/passwd"),
        special("weights.th", tarfile.LNKTYPE, "config.json"),
        special("pipe", tarfile.FIFOTYPE),
        special("null", tarfile.CHRTYPE),
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


def test_allennlp_extracts_with_the_same_checks(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    path = write_archive(tmp_path / "model.tar.gz", regular("config.json"), regular("../evil"))
    with pytest.raises(ConfigurationError, match="lies outside the archive"):
        archival.load_archive(path)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_files_and_folders_are_extracted(tmp_path, folder):
    members = [regular("config.json"), special("vocabulary", tarfile.DIRTYPE)]
    path = write_archive(tmp_path / "model.tar.gz", *members, regular("vocabulary/t.txt", 70_000))
    extract_archive(path, folder)
    assert (folder / "config.json").read_bytes() == b"xxx"
    assert (folder / "vocabulary" / "t.txt").read_bytes() == b"x" * 70_000


# The ids keep gzip's time stamp out of the test's name, which pytest's processes compare.
@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", gzip.compress(b"not a tar" * 99)],
    ids=["empty", "text", "gzip"],
)
def test_a_file_that_is_not_an_archive(tmp_path, folder, content):
    path = tmp_path / "model.tar.gz"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="cannot be read as an archive"):
        extract_archive(path, folder)


def test_a_truncated_archive(tmp_path, folder, small_archive):
    path = tmp_path / "model.tar.gz"
    path.write_bytes(small_archive.read_bytes()[:2000])
    with pytest.raises(ConfigurationError, match="cannot be read as an archive"):
        extract_archive(path, folder)


def test_neither_permissions_nor_times_are_the_archives(tmp_path, folder):
    member = regular("run.sh")
    member.mode, member.mtime = 0o4777, 0
    extract_archive(write_archive(tmp_path / "model.tar.gz", member), folder)
    status = (folder / "run.sh").stat()
    assert status.st_mode & 0o7111 == 0
    assert status.st_mtime > 0


class TestSize:
    """Limits of some kilobytes instead of megabytes."""

    @pytest.fixture(autouse=True)
    def _limit(self, monkeypatch):
        monkeypatch.setattr("allennlp_sentmatch.models.archival.ALWAYS_ALLOWED", 20_480)

    def test_an_archive_unpacks_to_a_multiple_of_its_size(self, tmp_path, folder, monkeypatch):
        path = write_archive(tmp_path / "model.tar.gz", regular("weights.th", 2_000_000))
        assert path.stat().st_size * 20 < 2_000_000
        with pytest.raises(ConfigurationError, match=r"tar\.gz unpacks to more than") as error:
            extract_archive(path, folder)
        assert "SENTMATCH_MAX_EXPANSION to a number larger than 20" in str(error.value)
        assert list(folder.iterdir()) == []
        monkeypatch.setenv("SENTMATCH_MAX_EXPANSION", "1e4")
        extract_archive(path, folder)
        assert (folder / "weights.th").stat().st_size == 2_000_000

    def test_many_members_count_together(self, tmp_path, folder):
        members = [regular(f"{number}.txt", 3000) for number in range(9)]
        path = write_archive(tmp_path / "model.tar.gz", *members)
        with pytest.raises(ConfigurationError, match="unpacks to more than"):
            extract_archive(path, folder)
        assert sum(file.stat().st_size for file in folder.iterdir()) <= 20_480

    def test_a_header_counts(self, tmp_path, folder):
        """Python reads a pax header into memory, however long it is."""
        path = tmp_path / "model.tar.gz"
        member = regular("config.json")
        member.pax_headers = {"comment": "x" * 1_000_000}
        write_archive(path, member)
        with pytest.raises(ConfigurationError, match="unpacks to more than"):
            extract_archive(path, folder)
        assert list(folder.iterdir()) == []

    def test_the_smallest_setting(self, tmp_path, folder, monkeypatch):
        monkeypatch.setenv("SENTMATCH_MAX_EXPANSION", "1")
        extract_archive(write_archive(tmp_path / "model.tar.gz", regular("config.json")), folder)
        assert (folder / "config.json").is_file()

    @pytest.mark.parametrize("value", ["0", "-1", "0.99", "many", "inf", "nan"])
    def test_the_setting_is_checked(self, tmp_path, folder, monkeypatch, value):
        monkeypatch.setenv("SENTMATCH_MAX_EXPANSION", value)
        path = write_archive(tmp_path / "model.tar.gz", regular("config.json"))
        with pytest.raises(ConfigurationError, match=f"at least 1, got '{value}'"):
            extract_archive(path, folder)
