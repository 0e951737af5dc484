"""The page's theme: system fonts, and colors for the light and the dark mode."""

from contextlib import suppress
from pathlib import Path
from typing import Any

with suppress(ImportError):  # AllenNLP imports every module; `server` reports what is missing
    import gradio

STYLE_SHEET = Path(__file__).with_name("page.css")
SYSTEM_FONTS = ["system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif"]
MONOSPACE_FONTS = ["ui-monospace", "SF Mono", "Consolas", "monospace"]


def theme() -> Any:
    """Gradio's plain theme, without its web fonts."""
    return gradio.themes.Default(
        primary_hue="blue", neutral_hue="slate", font=SYSTEM_FONTS, font_mono=MONOSPACE_FONTS
    )
