"""Pages of the site that are made from the package: one for each namespace, and the changelog.

MkDocs calls `on_files` while it collects pages (`mkdocs.yml` names this file as a hook).
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files

import weft as tf

ROOT = Path(__file__).parents[2]
_LONG = 76  # characters of a signature that fit on a line
_SECTIONS = ("Args", "Returns", "Raises", "Yields", "Attributes")
_HEADING = re.compile(rf"^({'|'.join(_SECTIONS)}):$")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that no file holds."""
    pages = {f"api/{name or 'tf'}.md": namespace_page(name) for name in namespaces()}
    pages["api/index.md"] = index_page()
    pages["changelog.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


# --- what there is --------------------------------------------------------------------------------


def namespaces() -> list[str]:
    """The public namespaces by their names below `tf`, "" being `tf` itself."""
    found = [""]
    for name in found:
        module = module_of(name)
        for inner in sorted(dir(module)):
            value = getattr(module, inner, None)
            path = f"{name}.{inner}".lstrip(".")
            if is_namespace(value) and path not in found and not inner.startswith("_"):
                found.append(path)
    return sorted(found)


def is_namespace(value: Any) -> bool:
    """Whether it is a module of Weft's that lists its names; Keras and raw ops have their own."""
    if not isinstance(value, ModuleType) or not value.__name__.startswith("weft."):
        return False
    return "_src" not in value.__name__ and value.__name__ not in ("weft.keras", "weft.raw_ops")


def module_of(name: str) -> Any:
    """The module of a namespace."""
    value: Any = tf
    for part in filter(None, name.split(".")):
        value = getattr(value, part)
    return value


def members(name: str) -> dict[str, Any]:
    """The functions and classes of a namespace that have something to say."""
    module = module_of(name)
    found = {inner: getattr(module, inner, None) for inner in sorted(dir(module))}
    return {
        inner: value
        for inner, value in found.items()
        if not inner.startswith("_")
        and (inspect.isroutine(value) or inspect.isclass(value))
        and inspect.getdoc(value)
    }


# --- pages ----------------------------------------------------------------------------------------


def index_page() -> str:
    """All namespaces, with what they are for."""
    lines = ["# API", "", "What each namespace holds, from the docstrings of the package.", ""]
    lines += ["| namespace | | names |", "|---|---|---|"]
    for name in namespaces():
        title = f"tf.{name}".rstrip(".")
        about = (inspect.getdoc(module_of(name)) or "").partition("\n")[0]
        about = re.sub(r"^`[^`]*`: ", "", about)
        link = f"[`{title}`]({name or 'tf'}.md)"
        lines.append(f"| {link} | {about} | {len(members(name))} |")
    lines += [
        "",
        "`tf.raw_ops` has TensorFlow's ops with TensorFlow's arguments; `tf.keras` is Keras.",
    ]
    return "\n".join([*lines, ""])


def namespace_page(name: str) -> str:
    """A namespace: its classes and functions, one after the other."""
    title = f"tf.{name}".rstrip(".")
    lines = [f"# {title}", "", inspect.getdoc(module_of(name)) or "", ""]
    for inner, value in members(name).items():
        lines += member(f"{title}.{inner}", value)
    return "\n".join(lines)


def member(path: str, value: Any) -> Iterator[str]:
    """A function or a class, with the methods that say something."""
    yield from described(f"## {path}", path, value)
    if not inspect.isclass(value):
        return
    for name, method in sorted(vars(value).items()):
        plain = getattr(method, "__func__", method)
        if not name.startswith("_") and inspect.isfunction(plain) and inspect.getdoc(plain):
            yield from described(f"### {path.rpartition('.')[2]}.{name}", name, plain)


def described(heading: str, path: str, value: Any) -> Iterator[str]:
    """A heading, the signature, and the docstring as Markdown."""
    yield from (heading, "", "```python", f"{path}{signature(value)}", "```", "")
    yield from markdown(inspect.getdoc(value) or "")
    yield ""


def signature(value: Any) -> str:
    """The parameters, without annotations that would not fit on a line."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    bare = [
        p.replace(annotation=p.empty)
        for name, p in found.parameters.items()
        if name not in ("self", "cls")
    ]
    text = str(found.replace(parameters=bare, return_annotation=found.empty))
    if len(text) < _LONG:
        return text
    return textwrap.fill(text, _LONG, subsequent_indent="    ", break_long_words=False)


def markdown(text: str) -> Iterator[str]:
    """A docstring as Markdown: sections become lists, examples become code."""
    lines = text.splitlines()
    section = ""
    in_code = False
    for line in lines:
        is_code = line.lstrip().startswith((">>>", "...")) or (in_code and line.strip() != "")
        if is_code != in_code:
            yield from (["", "```pycon"] if is_code else ["```", ""])
            in_code = is_code
        if in_code:
            yield line
        elif found := _HEADING.match(line):
            section = found[1]
            yield from ("", f"**{section}**", "")
        elif section and line.startswith("  "):
            yield item(section, line)
        else:
            section = section if not line.strip() else ""
            yield escaped(line)
    if in_code:
        yield "```"


def item(section: str, line: str) -> str:
    """A line of a section: an argument begins with its name, what follows is indented."""
    found = re.match(r"^  ([*\w., ]+): (.*)", line)
    if found and section not in ("Returns", "Yields"):
        return f"- `{found[1]}`: {escaped(found[2])}"
    inner = line.strip()
    return f"    {escaped(inner)}" if section not in ("Returns", "Yields") else escaped(inner)


def escaped(line: str) -> str:
    """Text outside of code, in which signs of Markdown and HTML stand for themselves."""
    parts = line.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([<*_\[\]])", r"\\\1", parts[i])
    return "`".join(parts)
