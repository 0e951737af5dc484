"""How the page looks: fonts of the reader's own machine, and colors that suit light and dark."""

from contextlib import suppress
from typing import Any

with suppress(ImportError):  # AllenNLP imports every module; `server` says what is missing
    import gradio

SYSTEM_FONTS = ["system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif"]
MONOSPACE_FONTS = ["ui-monospace", "SF Mono", "Consolas", "monospace"]


def theme() -> Any:
    """Gradio's plain theme, without its web fonts."""
    return gradio.themes.Default(
        primary_hue="blue", neutral_hue="slate", font=SYSTEM_FONTS, font_mono=MONOSPACE_FONTS
    )


CSS = """
.gradio-container {
  width: 100% !important; max-width: 1100px !important; margin: 0 auto !important;
}
.gradio-container > .main { width: 100%; }
.main .wrap, .main .contain { width: 100%; }
.block.sentmatch:has(.prose:empty) { display: none; }
.sentmatch .html-container { padding: 0; }
.sentmatch h1 { margin: 0; font-size: 1.6rem; }
.sentmatch h2 { margin: 0; font-size: 1rem; }
.sentmatch p { margin: 0.25rem 0; overflow-wrap: anywhere; }
.sentmatch .subtitle, .sentmatch .note { color: var(--neutral-600); }
.dark .sentmatch .subtitle, .dark .sentmatch .note { color: var(--neutral-300); }
.sentmatch .error {
  padding: 0.6rem 0.8rem; border-left: 4px solid #dc2626; border-radius: 4px;
  background: var(--background-fill-secondary); font-weight: 600;
}
.sentmatch .figures {
  display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr));
}
.sentmatch figure { margin: 0; min-width: 0; }
.sentmatch figcaption { margin-bottom: 0.4rem; font-weight: 600; }
.sentmatch .picture { max-width: 100%; overflow-x: auto; border-radius: 8px; }
.sentmatch .picture img {
  display: block; max-width: max(100%, 400px); height: auto; margin: 0; padding: 8px;
  border-radius: 8px; background: #fff;
}
.sentmatch table, .sentmatch tr, .sentmatch th, .sentmatch td { border: 0; }
.sentmatch table { width: 100%; margin: 0; border-collapse: collapse; }
.sentmatch caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
.sentmatch th, .sentmatch td {
  padding: 0.4rem 1rem 0.4rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere;
  border-bottom: 1px solid var(--border-color-primary);
}
.sentmatch th:first-child, .sentmatch td:first-child {
  width: 1%; white-space: nowrap; font-variant-numeric: tabular-nums;
}
.question {
  display: grid !important; gap: 1rem;
  grid-template: "texts" "label" "saliency" "examples" / 1fr;
}
@media (min-width: 768px) {
  .question { grid-template: "texts label" auto "examples saliency" 1fr / 1fr 1fr; }
}
.question > .texts { grid-area: texts; }
.question > .label { grid-area: label; }
.question > .saliency { grid-area: saliency; }
.question > .examples { grid-area: examples; gap: 0.4rem; }
.question > * { min-width: 0 !important; }
button.example {
  justify-content: flex-start; padding: 0.4rem 0.7rem; font-size: 0.875rem; font-weight: 400;
  text-align: left; white-space: normal;
}
:focus-visible { outline: 3px solid var(--primary-500) !important; outline-offset: 2px; }
"""
