"""Additions of mkdocs.yml to MkDocs for `make docs`.

- Pages that are not in docs/, such as README.md, belong to the site. Links between pages lead to
  pages of the site, and links to other files of the repository to where it is published. An
  unknown file or heading is an error.
- The API reference has a page for each part of the package.
- Docstrings have AllenNLP's form, whose headings and parameters become Markdown.
"""

import posixpath
import re
from pathlib import Path
from typing import Any, Optional

from griffe import Extension, Object
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = "allennlp_sentmatch"
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "AGENTS.md": "agents.md",
    "SECURITY.md": "security.md",
    "training_config/README.md": "configurations.md",
}
"""The pages outside docs/, and their names on the site."""

PARTS = {
    "estimators": ["estimators", "pretrained"],
    "nn": ["nn"],
    "modules": ["modules"],
    "models": ["models"],
    "data": ["data"],
    "predictors": ["predictors"],
    "training": ["training"],
    "corpora": ["corpora", "encoding", "standalone", "files"],
    "use": ["inspection", "calibration", "comparison", "serving", "transfer", "tuning"],
}
"""The pages of the API reference, and the parts of the package on each."""

INTERNAL = f"{PACKAGE}.nn.ops"
"""The part that the reference leaves out."""

_HOME = re.search(r'^Homepage = "(.+?)"', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
_REGISTERED = re.compile(r"""(\w+)\.register\(["'](.+?)["']""")
_PARAMETER = re.compile(r"^([\w*]+(?:, [\w*]+)*) : (.+)$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/ and the pages of the API reference."""
    for path, name in OUTSIDE.items():
        files.append(File.generated(config, name, content=(REPOSITORY / path).read_text("utf-8")))
    for page, parts in PARTS.items():
        names = [name for part in parts for name in documented(part)]
        text = "\n\n".join([f"# API: {page}", *(f"::: {name}" for name in names)])
        files.append(File.generated(config, f"api/{page}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Let a page's links lead to pages of the site, or to the published repository."""
    name = page.file.src_uri
    sources = {site: path for path, site in OUTSIDE.items()}
    folder = posixpath.dirname(sources.get(name, f"docs/{name}"))

    def target(link: "re.Match[str]") -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if not (REPOSITORY / path).exists():
            return link[0]  # the build refuses unknown links
        site = OUTSIDE.get(path, path[len("docs/") :] if path.startswith("docs/") else "")
        if files.get_file_from_path(site) is None:
            assert _HOME is not None
            return f"{_HOME[1]}/blob/main/{path}"
        return posixpath.relpath(site, posixpath.dirname(name)) + (link[2] or "")

    return _LINK.sub(target, markdown)


def documented(part: str) -> list[str]:
    """Return the modules that document a part: packages, and files, either listed ones or all."""
    names: list[str] = []
    for folder in sorted(path.parent for path in (REPOSITORY / PACKAGE / part).rglob("*.py")):
        name = ".".join(folder.relative_to(REPOSITORY).parts)
        if name in names or name.startswith(INTERNAL):
            continue
        listed = re.search(r"__all__ = \[(.*?)\]", (folder / "__init__.py").read_text(), re.DOTALL)
        files = (
            re.findall(r"\w+", listed[1]) if listed else [p.stem for p in folder.glob("[!_]*.py")]
        )
        names.append(name)
        names += [f"{name}.{file}" for file in sorted(files) if (folder / f"{file}.py").is_file()]
    return names


class AllenNLPDocstrings(Extension):  # type: ignore[misc]
    """Turns the headings and parameters of AllenNLP's docstrings into Markdown, and adds a class's
    registered name.
    """

    def on_object(self, *, obj: Object, **others: Any) -> None:
        """Change the docstring of a module, class or function."""
        if obj.docstring is not None:
            decorators = " ".join(str(d.value) for d in getattr(obj, "decorators", ()))
            names = _REGISTERED.findall(decorators)
            lines = [f"\n\nRegistered as `{base}` with name `{name}`." for base, name in names]
            obj.docstring.value = as_markdown("".join([obj.docstring.value, *lines]))


def as_markdown(docstring: Optional[str]) -> str:
    """Return a docstring with its headings in bold, and its parameters as a list."""
    text = re.sub(r"^# (.+)$", r"**\1**", docstring or "", flags=re.MULTILINE)
    return _PARAMETER.sub(r"- **\1** : \2\n", text)
