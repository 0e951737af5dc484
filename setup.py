"""What pyproject.toml cannot say: the compiled extension, and the readme with absolute links."""

import re
import zlib
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).parent
NATIVE = "allennlp_sentmatch/nn/ops/native"
SOURCES = sorted((HERE / NATIVE).glob("*.[ch]*"))
COMPILE_ARGS = ["-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
# Modules of an earlier build that are gone since would be in the wheel, and register names twice.
for library in (HERE / "build").glob("lib*"):
    for file in library.rglob("*.py"):
        if not (HERE / file.relative_to(library)).exists():
            file.unlink()
HOME = re.search(r'^Homepage = "(.+?)"', (HERE / "pyproject.toml").read_text(), re.MULTILINE).group(
    1
)


def long_description() -> str:
    """README.md with absolute links, since a package index has none of the files they lead to."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^\]]*\])\((?!https?:)([^)]+)\)", rf"\1({HOME}/raw/main/\2)", text)
    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({HOME}/blob/main/\1)", text)


setup(
    long_description=long_description(),
    long_description_content_type="text/markdown",
    # Only speed is lost where there is no compiler.
    ext_modules=[
        Extension(
            "allennlp_sentmatch.nn.ops.native._steps",
            [f"{NATIVE}/{source.name}" for source in SOURCES if source.suffix == ".cpp"],
            depends=[str(header) for header in SOURCES if header.suffix == ".h"],
            # By which common/native.py recognizes a library of other sources.
            define_macros=[("SOURCES", str(zlib.crc32(b"".join(map(Path.read_bytes, SOURCES)))))],
            extra_compile_args=COMPILE_ARGS,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
