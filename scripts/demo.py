"""The quick start that `make demo` runs: train, evaluate and predict, through `allennlp` itself."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CONFIG = "training_config/quick_start.jsonnet"
OUTPUT = Path("out/quick_start")
ARCHIVE = OUTPUT / "model.tar.gz"
TEST_DATA = "fixtures/quick_start/test.tsv"
PAIRS = [
    ("A small kitten is carrying a red rose in the garden.", "A cat is moving a flower."),
    ("A small kitten is carrying a red rose in the garden.", "A dog is moving a flower indoors."),
    ("A small kitten is carrying a red rose in the garden.", "A cat is moving it for a friend."),
    ("A hungry waiter is breaking a violin before dinner.", "A man is repairing an instrument."),
]  # fmt: skip


def allennlp(*arguments: object) -> None:
    """Run an `allennlp` command, shown as one would type it."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ allennlp {shlex.join(words)}", flush=True)
    command = [str(Path(sys.executable).with_name("allennlp")), *words]
    # The model is small: on a busy machine, more threads would only wait for each other.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    status = subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode
    if status != 0:
        sys.exit(f"`allennlp {words[0]}` failed with status {status}; the reason stands above")


def main() -> None:
    """Train the quick-start model and show what it learned."""
    os.chdir(REPOSITORY)
    OUTPUT.parent.mkdir(exist_ok=True)
    print(f"== Training a 2-layer Bi-CAS-LSTM on 4,500 pairs ({CONFIG})")
    allennlp("train", CONFIG, "--serialization-dir", OUTPUT, "--force", "--file-friendly-logging")

    print(f"\n== Evaluating it on 600 pairs it has not seen ({TEST_DATA})")
    metrics_path = OUTPUT / "test_metrics.json"
    allennlp("evaluate", ARCHIVE, TEST_DATA, "--output-file", metrics_path)

    print("\n== Predicting")
    pairs_path, predictions_path = OUTPUT / "pairs.jsonl", OUTPUT / "predictions.jsonl"
    pairs = [{"premise": premise, "hypothesis": hypothesis} for premise, hypothesis in PAIRS]
    pairs_path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8")
    allennlp("predict", ARCHIVE, pairs_path, "--output-file", predictions_path, "--silent")

    validation = json.loads((OUTPUT / "metrics.json").read_text(encoding="utf-8"))
    test = json.loads(metrics_path.read_text(encoding="utf-8"))
    print("\n== Results")
    print(f"validation accuracy {validation['best_validation_accuracy']:.1%}")
    print(f"test accuracy       {test['accuracy']:.1%}\n")
    for line in predictions_path.read_text(encoding="utf-8").splitlines():
        prediction = json.loads(line)
        probability = max(prediction["label_probs"])
        print(f"  {prediction['premise']}\n  {prediction['hypothesis']}")
        print(f"    -> {prediction['label']} ({probability:.0%})\n")
    print(f"The trained model is {ARCHIVE}. Next: train on your own pairs (README.md).")


if __name__ == "__main__":
    main()
