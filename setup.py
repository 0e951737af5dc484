"""Package metadata."""

import re
import zlib
from pathlib import Path

from setuptools import Extension, find_packages, setup

HERE = Path(__file__).parent
NATIVE = "allennlp_sentmatch/nn/ops/native"
SOURCES = sorted((HERE / NATIVE).glob("*.[ch]*"))
COMPILE_ARGS = ["-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
CLASSIC = ["allennlp==2.10.1", "numpy<1.24"]  # NumPy: AllenNLP's own pin on torch has no limit
PLOTS = ["matplotlib>=3.5", "seaborn>=0.12", "svgling>=0.4"]
# The repository, to which the links of README.md lead on a package index. It is named only here.
HOME = "https://github.com/allennlp-sentmatch/allennlp_sentmatch"
VERSION = re.search(
    r'^__version__ = "(.+)"$', (HERE / "allennlp_sentmatch/version.py").read_text(), re.MULTILINE
).group(1)


def long_description() -> str:
    """README.md with absolute links, since a package index has none of the files they lead to."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^\]]*\])\((?!https?:)([^)]+)\)", rf"\1({HOME}/raw/main/\2)", text)
    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({HOME}/blob/main/\1)", text)


setup(
    name="allennlp-sentmatch",
    version=VERSION,
    description="Sentence encoders and matching models for AllenNLP and plain PyTorch",
    long_description=long_description(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    url=HOME,
    project_urls={
        "Documentation": f"{HOME}/tree/main/docs",
        "Changelog": f"{HOME}/blob/main/CHANGELOG.md",
        "Issues": f"{HOME}/issues",
    },
    keywords="nlp sentence-matching paraphrase entailment sentence-encoder allennlp pytorch",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: C++",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.9",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    packages=find_packages(include=["allennlp_sentmatch", "allennlp_sentmatch.*"]),
    package_data={
        "allennlp_sentmatch": [
            "py.typed",
            "pretrained/sentence_encoder/*",
            "serving/examples.json",
            "serving/static/*",
            "site_packages/*.py",
        ]
    },
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
    python_requires=">=3.9",
    install_requires=["torch>=1.12", "numpy", "scikit-learn>=1.0", "tokenizers>=0.12"],
    extras_require={
        # AllenNLP with its own pins; `python -m allennlp_sentmatch install-allennlp` without them.
        "allennlp": [f"{requirement}; python_version < '3.11'" for requirement in CLASSIC],
        "search": ["faiss-cpu"],
        "plots": PLOTS,
        "onnx": ["onnx>=1.16", "onnxscript>=0.5"],
        "ray": ["ray>=2.9"],
        # Later versions need transformers 5, which AllenNLP does not work with.
        "sentence-transformers": [
            "sentence-transformers>=5,<6",
            "transformers>=4.41,<4.47",
            "huggingface-hub>=0.23.2,<1",
        ],
        "serve": ["fastapi>=0.110", "uvicorn>=0.20"],
        "tune": ["optuna>=4"],
        "translation": ["sacrebleu>=2.3"],
        "reading-comprehension": ["rouge-score>=0.1.2", "sacrebleu>=2.3"],
    },
)
