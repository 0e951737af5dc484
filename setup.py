"""Package metadata."""

import re
from pathlib import Path

from setuptools import Extension, find_packages, setup

HERE = Path(__file__).parent
NATIVE = "allennlp_sentmatch/nn/ops/native"
COMPILE_ARGS = ["-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
PLOTS = ["matplotlib>=3.5", "seaborn>=0.12", "svgling>=0.4"]
VERSION = re.search(
    r'^__version__ = "(.+)"$', (HERE / "allennlp_sentmatch/version.py").read_text(), re.MULTILINE
).group(1)

setup(
    name="allennlp-sentmatch",
    version=VERSION,
    description="Sentence encoders and matching models for AllenNLP and plain PyTorch",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    classifiers=[
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
    packages=find_packages(include=["allennlp_sentmatch", "allennlp_sentmatch.*"]),
    package_data={"allennlp_sentmatch": ["py.typed", "demo/*.css", "nn/ops/native/*.pyi"]},
    # Only speed is lost where there is no compiler.
    ext_modules=[
        Extension(
            f"allennlp_sentmatch.nn.ops.native.{name}",
            [f"{NATIVE}/{name}.cpp"],
            depends=[str(header) for header in (HERE / NATIVE).glob("*.h")],
            extra_compile_args=COMPILE_ARGS,
            py_limited_api=True,
            optional=True,
        )
        for name in ("_lstm_steps", "_lstmn_attention", "_suffix_steps")
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
    python_requires=">=3.9",
    install_requires=["allennlp>=2.10.1,<3", "torch>=1.12", "numpy", "spacy", "nltk"],
    extras_require={
        "search": ["faiss-cpu"],
        "plots": PLOTS,
        "demo": ["gradio>=6", *PLOTS],
        "ray": ["ray[data]>=2.9"],
    },
)
