"""Rules that op blocks name instead of holding them, so that no compiler is imported for an op."""

from __future__ import annotations

from typing import Any


class NamedRule:
    """The name of a rule, and options that are passed to it.

    (Not a dataclass: generating their methods took a tenth of the time of `import weft`.)
    """

    __slots__ = ("name", "options")

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.options = options

    def __repr__(self) -> str:
        arguments = [repr(self.name), *[f"{k}={v!r}" for k, v in self.options.items()]]
        return f"{type(self).__name__}({', '.join(arguments)})"
