"""Loading archives, valid and invalid ones, and their digests."""

import json
import shutil
import sys
import tarfile

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.nn import Activation

from allennlp_sentmatch.models.archival import archive_digest, load_archive, weights_digest


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


def test_the_digest_of_weights_does_not_depend_on_the_archive(copy, small_archive):
    digest = weights_digest(load_archive(small_archive).model)
    assert len(digest) == 64
    model = load_archive(copy).model  # a folder, not an archive
    assert weights_digest(model) == digest
    assert weights_digest(model.bfloat16()) != digest
    with torch.no_grad():
        model.temperature += 1
    assert weights_digest(model.float()) != digest


def test_a_digest_of_files_that_the_configuration_includes(copy, tmp_path):
    (copy / "extra.json").write_text("{}")
    (tmp_path / "secret").write_text("a")
    change(copy, include_in_archive=["extra*.json", "../secret", str(tmp_path / "secret")])
    before = archive_digest(copy)
    (tmp_path / "secret").write_text("b")
    assert archive_digest(copy) == before
    (copy / "extra.json").write_text("[]")
    assert archive_digest(copy) != before
