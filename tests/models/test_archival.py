"""Extracting and loading archives, valid and invalid ones."""

import gzip
import io
import json
import shutil
import sys
import tarfile

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.nn import Activation

from allennlp_sentmatch.models.archival import archive_digest, extract_archive, load_archive


@pytest.fixture
def copy(small_archive, tmp_path):
    """The files of an archive, in a folder, to be changed."""
    folder = tmp_path / "model"
    with tarfile.open(small_archive) as archive:
        archive.extractall(folder, **({"filter": "data"} if sys.version_info >= (3, 12) else {}))
    return folder


def change(folder, **settings):
    """Change the configuration's sections: update dictionaries, replace the rest."""
    config = json.loads((folder / "config.json").read_text())
    for name, value in settings.items():
        both = isinstance(value, dict) and "type" not in value
        config[name] = {**config[name], **value} if both else value
    (folder / "config.json").write_text(json.dumps(config))


def packed(folder):
    """The folder as an archive."""
    path = folder.with_suffix(".tar.gz")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, ".")
    return path


def test_a_class_path_is_not_called(copy, tmp_path):
    marker = tmp_path / "marker"
    change(copy, dataset_reader={"type": "os.mkdir", "path": str(marker)})
    with pytest.raises(ConfigurationError, match=r"'os\.mkdir' is not a reg") as error:
        load_archive(copy)
    assert str(copy) in str(error.value)
    assert "--trust-archive" in str(error.value)
    assert not marker.exists()
    with pytest.raises(ConfigurationError):  # a folder is not a reader
        load_archive(copy, trust=True)
    assert marker.exists()
    # The check ends when loading ends.
    assert Activation.by_name("torch.nn.Tanh") is torch.nn.Tanh


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        # A name may be given instead of an object with a `type`.
        ({"matcher": "torch.nn.Identity"}, r"'torch\.nn\.Identity' is not a registered"),
        ({"encoder": {"layers": [{"_pretrained": True}]}}, "the setting '_pretrained' of its conf"),
        ({"encoder": {"trust_remote_code": True}}, "the setting 'trust_remote_code' of its config"),
    ],
)
def test_settings_of_a_trusted_archive_alone(copy, settings, message):
    change(copy, model=settings)
    with pytest.raises(ConfigurationError, match=message):
        load_archive(packed(copy))


def test_a_trusted_configuration_may_be_jsonnet(copy):
    change(copy, model={"label_namespace": "labels"})
    text = (copy / "config.json").read_text()
    (copy / "config.json").write_text(text.replace('"labels"', '"la" + "bels"'))
    with pytest.raises(ConfigurationError, match="is not plain JSON"):
        load_archive(copy)
    assert load_archive(copy, trust=True).model._label_namespace == "labels"


@pytest.mark.skipif(
    not hasattr(torch.serialization, "add_safe_globals"), reason="this torch unpickles anything"
)
def test_weights_other_than_tensors(copy, tmp_path):
    torch.save(tmp_path, copy / "weights.th")
    with pytest.raises(ConfigurationError, match="something other than tensors") as error:
        load_archive(packed(copy))
    assert "weights_only" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", b"", r"its config\.json is not plain JSON"),
        ("config.json", b"[" * 100_000, r"its config\.json is not plain JSON"),
        ("config.json", b'{"model": "\xff"}', r"its config\.json is not plain JSON"),
        ("config.json", b"[]", r"its config\.json has no section 'model'"),
        ("config.json", b'{"model": {}}', r"no section 'dataset_reader'"),
        ("vocabulary/labels.txt", b"ja\n\xff\n", "a file of its vocabulary is not encoded in UTF"),
        ("vocabulary/labels.txt", b"", "cannot be loaded"),
        ("weights.th", b"", "cannot be loaded"),
        ("weights.th", b"PK\x03\x04", "cannot be loaded"),
    ],
)
def test_a_damaged_member_is_reported_in_a_sentence(copy, file, content, message):
    (copy / file).write_bytes(content)
    path = packed(copy)
    with pytest.raises(ConfigurationError, match=message) as error:
        load_archive(path)
    assert str(error.value).startswith(f"{path} cannot be loaded: ")
    assert "\n" not in str(error.value)
    assert "weights_only" not in str(error.value)


@pytest.mark.parametrize("name", ["config.json", "weights.th", "vocabulary"])
def test_what_is_missing_is_named(copy, name):
    with pytest.raises(FileNotFoundError, match=r"none\.tar\.gz"):
        load_archive(copy / "none.tar.gz")
    (shutil.rmtree if name == "vocabulary" else lambda path: path.unlink())(copy / name)
    with pytest.raises(ConfigurationError, match=f"there is no {name}( .or best.th.*)? in it"):
        load_archive(packed(copy))


def test_a_digest_depends_on_the_content(copy, small_archive):
    """The digest covers all members; other files of a folder do not matter."""
    digests = [archive_digest(small_archive), archive_digest(copy)]
    for name in ("weights.th", "config.json", "vocabulary/tokens.txt"):
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content + b" ")
        digests += [archive_digest(copy), archive_digest(packed(copy))]
        (copy / name).write_bytes(content)
    (copy / "vocabulary" / "tokens.txt").rename(copy / "vocabulary" / "others.txt")
    digests.append(archive_digest(copy))
    (copy / "vocabulary" / "others.txt").rename(copy / "vocabulary" / "tokens.txt")
    (copy / "metrics.json").write_text("{}")
    assert archive_digest(copy) == digests[1]
    assert len(set(digests)) == 9


def test_a_digest_of_files_that_the_configuration_includes(copy, tmp_path):
    (copy / "extra.json").write_text("{}")
    (tmp_path / "secret").write_text("a")
    change(copy, include_in_archive=["extra*.json", "../secret", str(tmp_path / "secret")])
    before = archive_digest(copy)
    (tmp_path / "secret").write_text("b")
    assert archive_digest(copy) == before
    (copy / "extra.json").write_text("[]")
    assert archive_digest(copy) != before


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
    monkeypatch.setattr("allennlp_sentmatch.models.archival.ALWAYS_ALLOWED", 20_480)
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
