"""Loading archives, and what can be wrong with them."""

import json
import shutil
import sys
import tarfile

import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.models.archival import archive_digest, load_archive


@pytest.fixture
def copy(small_archive, tmp_path):
    """The files of an archive, in a folder, to be changed."""
    folder = tmp_path / "model"
    with tarfile.open(small_archive) as archive:
        archive.extractall(folder, **({"filter": "data"} if sys.version_info >= (3, 12) else {}))
    return folder


def change(folder, **sections):
    """Change sections of the configuration."""
    config = json.loads((folder / "config.json").read_text())
    for name, settings in sections.items():
        config[name] = {**config[name], **settings}
    (folder / "config.json").write_text(json.dumps(config))


def packed(folder):
    """The folder as an archive."""
    path = folder.with_suffix(".tar.gz")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, ".")
    return path


def test_a_trained_model_loads_from_its_archive_and_from_its_folder(small_archive):
    from_archive = load_archive(small_archive).model.state_dict()
    from_folder = load_archive(small_archive.parent).model.state_dict()
    assert from_archive.keys() == from_folder.keys()
    for name, weight in from_archive.items():
        assert weight.equal(from_folder[name]), name


@pytest.mark.parametrize("as_archive", [True, False])
class TestUntrusted:
    def test_a_class_path_is_not_called(self, copy, tmp_path, as_archive):
        marker = tmp_path / "marker"
        config = json.loads((copy / "config.json").read_text())
        config["dataset_reader"] = {"type": "os.mkdir", "path": str(marker)}
        (copy / "config.json").write_text(json.dumps(config))
        path = packed(copy) if as_archive else copy
        with pytest.raises(ConfigurationError, match=r"'os\.mkdir' is not a reg") as error:
            load_archive(path)
        assert str(path) in str(error.value)
        assert "--trust-archive" in str(error.value)
        assert not marker.exists()
        with pytest.raises(ConfigurationError):  # a folder is not a reader
            load_archive(path, trust=True)
        assert marker.exists()

    def test_a_class_path_in_a_nested_part_is_not_called(self, copy, tmp_path, as_archive):
        """A name may be given instead of an object with a `type`."""
        change(copy, model={"matcher": "torch.nn.Identity"})
        with pytest.raises(ConfigurationError, match=r"'torch\.nn\.Identity' is not a registered"):
            load_archive(packed(copy) if as_archive else copy)

    def test_a_local_file_is_not_read(self, copy, tmp_path, as_archive):
        (tmp_path / "secret").write_text("labels")
        config = json.loads((copy / "config.json").read_text())
        config["model"]["label_namespace"] = "SECRET"
        text = json.dumps(config).replace('"SECRET"', f'importstr "{tmp_path / "secret"}"')
        (copy / "config.json").write_text(text)
        path = packed(copy) if as_archive else copy
        with pytest.raises(ConfigurationError, match="is not plain JSON"):
            load_archive(path)
        assert load_archive(path, trust=True).model._label_namespace == "labels"

    @pytest.mark.parametrize("setting", ["_pretrained", "trust_remote_code"])
    def test_settings_that_open_other_things(self, copy, as_archive, setting):
        change(copy, model={"encoder": {"layers": [{setting: True}]}})
        with pytest.raises(ConfigurationError, match=f"the setting '{setting}' of its config"):
            load_archive(packed(copy) if as_archive else copy)


def test_a_class_path_of_a_trusted_archive(copy):
    path = "allennlp_sentmatch.data.dataset_readers.sentence_pair.SentencePairReader"
    change(copy, dataset_reader={"type": path})
    archive = load_archive(packed(copy), trust=True)
    assert type(archive.dataset_reader).__name__ == "SentencePairReader"


def test_the_check_of_names_ends_with_the_loading(small_archive):
    from allennlp.nn import Activation

    load_archive(small_archive)
    assert Activation.by_name("torch.nn.Tanh") is torch.nn.Tanh


class RunsCode:
    def __init__(self, marker):
        self._marker = str(marker)

    def __reduce__(self):
        return (__import__("os").mkdir, (self._marker,))


@pytest.mark.skipif(
    not hasattr(torch.serialization, "add_safe_globals"), reason="this torch unpickles anything"
)
def test_weights_that_run_code(copy, tmp_path):
    torch.save(RunsCode(tmp_path / "marker"), copy / "weights.th")
    with pytest.raises(ConfigurationError, match="something other than tensors") as error:
        load_archive(packed(copy))
    assert "weights_only" not in str(error.value)
    assert error.value.__cause__ is None
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", b"", r"its config\.json is not plain JSON"),
        ("config.json", b"[" * 100_000, r"its config\.json is not plain JSON"),
        ("config.json", b'{"model": "\xff"}', r"its config\.json is not plain JSON"),
        ("config.json", b"[]", r"its config\.json has no section 'model'"),
        ("config.json", b'{"model": {}}', r"no section 'dataset_reader'"),
        ("vocabulary/labels.txt", b"ja\n\xff\n", r"vocabulary/labels\.txt is not encoded in UTF-8"),
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
def test_a_missing_member_is_named(copy, name):
    (shutil.rmtree if name == "vocabulary" else lambda path: path.unlink())(copy / name)
    with pytest.raises(ConfigurationError, match=f"there is no {name}( .or best.th.*)? in it"):
        load_archive(packed(copy))


def test_a_missing_archive(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.tar\.gz"):
        load_archive(tmp_path / "none.tar.gz")


def test_a_digest_depends_on_the_content(copy, small_archive):
    """Of all members; other files of a folder do not matter."""
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
    config = json.loads((copy / "config.json").read_text())
    config["include_in_archive"] = ["extra*.json", "../secret", str(tmp_path / "secret")]
    (copy / "config.json").write_text(json.dumps(config))
    before = archive_digest(copy)
    (tmp_path / "secret").write_text("b")
    assert archive_digest(copy) == before
    (copy / "extra.json").write_text("[]")
    assert archive_digest(copy) != before
