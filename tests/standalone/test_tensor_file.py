"""Files of tensors, compared with the library safetensors."""

import json

import pytest
import torch

from allennlp_sentmatch.standalone.tensor_file import check_finite, read_tensors, write_tensors

TENSORS = {
    "a": torch.arange(6, dtype=torch.float32).view(2, 3),
    "transposed": torch.arange(6, dtype=torch.float32).view(2, 3).t(),
    "b.c": torch.tensor([0.5, -1.0], dtype=torch.bfloat16),
    "half": torch.ones(1, dtype=torch.float16),
    "double": torch.tensor([[1e-300], [3.0]], dtype=torch.float64),
    "scalar": torch.tensor(7.0),
    "empty": torch.empty(0, 4),
    "integers": torch.tensor([[-128, 127]], dtype=torch.int8),
}


def assert_equal_tensors(found, expected):
    """Copies have equal names, types, shapes and bits."""
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        assert tensor.dtype == expected[name].dtype
        assert tensor.shape == expected[name].shape
        assert torch.equal(tensor, expected[name])


@pytest.fixture
def library():
    return pytest.importorskip("safetensors.torch")


def test_the_library_reads_our_files(library, tmp_path):
    write_tensors(tmp_path / "ours", TENSORS)
    assert_equal_tensors(library.load_file(tmp_path / "ours"), TENSORS)


def test_we_read_the_library_s_files(library, tmp_path):
    contiguous = {name: tensor.contiguous() for name, tensor in TENSORS.items()}
    library.save_file(contiguous, tmp_path / "theirs", metadata={"format": "pt"})
    assert_equal_tensors(read_tensors(tmp_path / "theirs"), TENSORS)


def entry(begin, end, shape=(1,), dtype="F32"):
    """Return a tensor's description in the header."""
    return {
        "dtype": dtype,
        "shape": list(shape),
        "data_offsets": [begin, end],
    }


def test_a_file_without_tensors_is_whole(tmp_path):
    """Its header ends the file."""
    file = tmp_path / "t.safetensors"
    file.write_bytes((2).to_bytes(8, "little") + b"{}")
    assert read_tensors(file) == {}


def test_every_shortened_file_is_refused(tmp_path):
    file = tmp_path / "t.safetensors"
    write_tensors(file, {"a": TENSORS["a"], "b": TENSORS["half"]})
    content = file.read_bytes()
    for size in range(len(content)):
        file.write_bytes(content[:size])
        with pytest.raises(ValueError, match="damaged"):
            read_tensors(file)


@pytest.mark.parametrize("num_spaces", range(4))
def test_tensors_are_aligned_wherever_they_lie(tmp_path, num_spaces):
    """PyTorch 1.12 crashes when it copies others."""
    expected = {"a": torch.tensor([0.5, -1.0]), "b": torch.ones(1, 64)}
    header = {"a": entry(0, 8, (2,)), "b": entry(8, 264, (1, 64))}
    encoded = json.dumps(header).encode() + b" " * num_spaces
    data = b"".join(tensor.numpy().tobytes() for tensor in expected.values())
    (tmp_path / "odd").write_bytes(len(encoded).to_bytes(8, "little") + encoded + data)
    found = read_tensors(tmp_path / "odd")
    assert_equal_tensors(found, expected)
    assert all(tensor.data_ptr() % 4 == 0 for tensor in found.values())


NO_TENSORS = "(floating-point and int8 tensors|safetensors: its header is not whole)"


EIGHT_BYTES = bytes(8)
"""The tensors' part of a file, whose offsets a header gives."""


@pytest.mark.parametrize(
    "header",
    [
        {"a": entry(0, 4)},
        {"a": entry(0, 8, (1,))},
        {"a": entry(0, 8, (2, -1))},
        {"a": entry(0, 8, (2.0,))},
        {"a": entry(0, 8, (True, 2))},
        {"a": entry(0, 8, (2,), "I32")},
        {"a": entry(4, 8)},
        {"a": entry(0, 4), "b": entry(0, 4)},
        {"a": entry(0, 4), "b": entry(4, 12, (2,))},
        {"a": entry(0, 1 << 62, (1 << 60,))},
        {"a": entry(0, 0, (1 << 62, 1 << 62, 0)), "b": entry(0, 8, (2,))},
        {"a": entry(-8, 0, (2,)), "b": entry(0, 8, (2,))},
        {"a": entry(0, -4, (0,)), "b": entry(0, 8, (2,))},
        {"a": {"dtype": "F64", "shape": {}, "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2]}},
        {"a": {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": "08"}},
        {"a": None},
        [],
        None,
    ],
)
def test_wrong_headers(tmp_path, header):
    encoded = json.dumps(header).encode()
    size = len(encoded).to_bytes(8, "little")
    (tmp_path / "wrong").write_bytes(size + encoded + EIGHT_BYTES)
    with pytest.raises(ValueError, match=f"wrong is damaged, or not a file of {NO_TENSORS}"):
        read_tensors(tmp_path / "wrong")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x02\0\0",
        b"\xff" * 8 + b"{}",
        b"\x03" + bytes(7) + b"{}",
        b"\0" * 10,
        b"\x02" + bytes(7) + b"[[",
        b"\x02" + bytes(7) + b"\xff\xff",
        (10**6).to_bytes(8, "little") + b"[" * 10**6,
    ],
)
def test_files_of_other_kinds(tmp_path, content):
    (tmp_path / "wrong").write_bytes(content)
    with pytest.raises(ValueError, match=f"wrong is damaged, or not a file of {NO_TENSORS}"):
        read_tensors(tmp_path / "wrong")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, -torch.inf])
def test_numbers_that_are_not_finite_are_found(dtype, wrong):
    good = {
        "empty": torch.empty(0, 3, dtype=dtype),
        "good": torch.ones(2, 3, dtype=dtype),
    }
    check_finite(good)
    tensor = torch.ones(2, 3, dtype=dtype)
    tensor[1, 2] = wrong
    with pytest.raises(ValueError, match="'wrong' has a number that is not finite"):
        check_finite({**good, "wrong": tensor})
