#!/usr/bin/env bash
# Measure on a GPU whatever needs one, in at most five minutes:
#
#     bash benchmarks/gpu.sh OUT
#
# It needs Python 3.10 or newer with PyTorch 2.11 or newer, pytest and hypothesis, no AllenNLP and
# no network; PYTHON=/path/to/python chooses an interpreter. benchmarks/gpu/__main__.py has the rest.
set -eu
output=$(realpath -m "${1:?the folder for the results is missing: bash benchmarks/gpu.sh OUT}")
shift
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -m benchmarks.gpu "$output" "$@"
