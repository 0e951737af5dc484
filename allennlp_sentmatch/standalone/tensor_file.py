"""Files of tensors in the format of safetensors, read and written with only torch.

See https://github.com/huggingface/safetensors. A file is the size of a header (8 bytes,
little-endian), the header, and the tensors' bytes. The header is a JSON object from names to
`{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}`; `__metadata__` is not a tensor.
Nothing in such a file is code.
"""

import json
import math
import sys
from collections.abc import Mapping

import torch
from torch import Tensor

from allennlp_sentmatch.files.folders import AnyPath, read_file
from allennlp_sentmatch.files.json_lines import JsonObject

_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I8": torch.int8,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}

MAX_HEADER_SIZE = 100_000_000  # in bytes; the limit of the library safetensors


def write_tensors(path: AnyPath, tensors: Mapping[str, Tensor]) -> None:
    """Write floating-point and int8 tensors to a file, in their order.

    The file is replaced if it exists. Raises `KeyError` for a tensor of another type, and
    `NotImplementedError` on a big-endian processor.
    """
    _check_byte_order()
    header: JsonObject = {}
    pieces = []
    end = 0
    for name, tensor in tensors.items():
        flat = tensor.detach().cpu().contiguous().view(-1)
        piece = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        pieces.append(piece)
        begin = end
        end = begin + len(piece)
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)  # aligns the tensors
    with open(path, "wb") as file:
        file.write(len(encoded).to_bytes(8, "little"))
        file.write(encoded)
        file.writelines(pieces)


def read_tensors(path: AnyPath) -> dict[str, Tensor]:
    """Read the tensors of an untrusted file.

    Raise `ValueError`, which names the file, unless it consists of floating-point and int8 tensors
    without gaps and overlaps, and `NotImplementedError` on a big-endian processor.
    """
    _check_byte_order()
    content = read_file(path)
    header_size = int.from_bytes(content[:8], "little")
    start = 8 + header_size
    if not 2 <= header_size <= MAX_HEADER_SIZE or start > len(content):
        raise ValueError(
            f"{path} is damaged, or not a file of safetensors: its header is not whole"
        )
    try:
        header = json.loads(content[8:start].decode())
        header.pop("__metadata__", None)
        return _tensors(content, start, header)
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(
            f"{path} is damaged, or not a file of floating-point and int8 tensors: {error}"
        ) from error


def _tensors(content: bytes, start: int, header: JsonObject) -> dict[str, Tensor]:
    """Return the tensors of a file whose tensors start at a byte.

    Raise `ValueError` or another error if the header, which may be anything, does not fit.
    """
    tensors = {}
    offset = start
    in_order = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    for name, entry in in_order:
        begin, end = entry["data_offsets"]
        if start + begin != offset:
            raise ValueError(f"{name!r} does not begin where the tensor before it ends")
        offset = start + end
        if not begin <= end <= len(content) - start:
            raise ValueError(f"{name!r} ends before it begins, or after the file")
        # A copy is aligned, unlike the bytes in the file: PyTorch 1.12 crashes on some others.
        data = bytearray(content[start + begin : offset])
        tensors[name] = _tensor(data, entry)
    if offset != len(content):
        raise ValueError("there are bytes after the last tensor")
    return tensors


def _tensor(data: bytearray, entry: JsonObject) -> Tensor:
    """Return the tensor with this data, which its entry in the header describes.

    Raise `ValueError` if its shape does not fit, and `KeyError` for an unknown type.
    """
    dtype = _DTYPES[entry["dtype"]]
    shape = entry["shape"]
    if not isinstance(shape, list) or any(type(size) is not int or size < 0 for size in shape):
        raise ValueError("a shape is not a list of sizes")
    flat = torch.empty(0, dtype=dtype)
    count = math.prod(shape)
    if len(data) != count * flat.element_size():
        raise ValueError(f"{len(data)} bytes are not a tensor of the shape {shape}")
    if count:  # `frombuffer` refuses an empty buffer
        flat = torch.frombuffer(data, dtype=dtype)
    return flat.view(shape)


def check_finite(tensors: Mapping[str, Tensor]) -> None:
    """Raise a `ValueError` that names the first tensor with a number that is not finite."""
    for name, tensor in tensors.items():
        if tensor.numel() == 0:
            continue
        if tensor.dtype == torch.float16:
            tensor = tensor.float()  # PyTorch 1.12 has no `aminmax` of float16 on CPUs
        # The minimum and the maximum are NaN if any number is; `isfinite` takes nine times as long.
        extremes = torch.stack(tensor.aminmax())
        if not extremes.isfinite().all():
            raise ValueError(f"{name!r} has a number that is not finite")


def _check_byte_order() -> None:
    if sys.byteorder != "little":
        raise NotImplementedError("tensors are only read and written on little-endian CPUs")
