"""Finish an environment that holds AllenNLP 2.10.1 beside a torch that it does not know.

    .venv/bin/python requirements/finish_environment.py

Two things no requirement file can say:

1. AllenNLP imports torchvision at start-up. Where none that matches torch is installed, the
   stand-in beside this file is (it fails, with a sentence, when an image function is called).
2. fairscale 0.4.6, which AllenNLP imports before any plugin, calls two functions that torch has
   deprecated. Nobody who types `allennlp` can act on that warning, so this environment drops it,
   and only it, through a `.pth` file.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent

WARNING_FILTER = (
    "import warnings; warnings.filterwarnings('ignore', category=FutureWarning, "
    "message=r'`torch\\.cuda\\.amp\\.custom_(fwd|bwd)')\n"
)


def has_torchvision() -> bool:
    """Whether `import torchvision` works, tried in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", "import torchvision"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> None:
    """Install the stand-in where it is needed and write the warning's filter."""
    if not has_torchvision():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation"]
        subprocess.run([*command, str(HERE / "torchvision_stand_in")], check=True)
    packages = Path(sysconfig.get_path("purelib"))
    (packages / "allennlp_on_torch_2.pth").write_text(WARNING_FILTER, encoding="utf-8")


if __name__ == "__main__":
    main()
