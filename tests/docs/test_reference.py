"""docs/reference.md is what the package has, and it has what its errors say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import weft as tf
from weft._src.public.tensorflow_names import INSTEAD, NAMES

DOCS = Path(__file__).parents[2] / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generator", DOCS / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date() -> None:
    expected = generator().page()
    found = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert found == expected, "docs/reference.md is not up to date: run `make reference`."


def test_the_share_is_what_the_readme_says() -> None:
    made = generator()
    assert made.README.read_text(encoding="utf-8") == made.readme(), "run `make reference`."
    assert f"**{made.share()}**" in made.readme()
    there, of = [sum(numbers) for numbers in zip(*made.counts().values(), strict=True)]
    assert there / of >= 0.97
    assert all(number <= total for number, total in made.counts().values())


def test_the_page_tells_what_is_there_and_what_is_not() -> None:
    text = generator().page()
    assert "| `reduce_sum` | The sum over the given axes" in text
    assert "| `no_retrace` * |" in text
    assert "`decode_jxl`" in text.partition("## tf.image")[2].partition("Not there:")[2]
    assert "| `Exp` | x | yes | pointwise |" in text
    assert "| `Floor` | x | no | pointwise |" in text


def namespaces() -> list[str]:
    return [name for name in NAMES if generator().lookup(name) is not None]


@pytest.mark.parametrize("namespace", namespaces())
def test_missing_names_say_so(namespace: str) -> None:
    module = generator().lookup(namespace)
    shown = f"tf.{namespace}." if namespace else "tf."
    with pytest.raises(AttributeError, match=rf"does not have {shown}no_such \(nor does Tensor"):
        _ = module.no_such
    for name in NAMES[namespace].split():
        if not hasattr(module, name):
            will_come = f"{shown}{name}".removeprefix("tf.") not in INSTEAD
            said = r" \(yet\)" if will_come else r"\. "
            with pytest.raises(AttributeError, match=rf"does not have {shown}{name}{said}"):
                getattr(module, name)


def test_private_names_are_ordinary_errors() -> None:
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        _ = tf.nn._nothing
