"""The functions of a program's steps, of which equal ones are compiled once.

A step takes its buffers from the table of the program. What it does with them is often the same as
what another step does with others: the layers of a network, the unrolled steps of a loop. Such
steps become short functions that look the buffers up and hand them to one shared body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

RANGE = ("i64 %begin", "i64 %end")  # further parameters of a function whose work threads share


@dataclass(frozen=True)
class StepFunction:
    """A function of the table `%t`: first it loads pointers, then the body works with them."""

    name: str
    result: str  # its LLVM type
    group: str  # of attributes
    pointers: tuple[tuple[str, tuple[str, ...]], ...]  # registers, and the lines that load them
    body: str
    parameters: tuple[str, ...] = ()  # besides the table

    @property
    def essence(self) -> tuple[object, ...]:
        """What equal steps have in common: all but the places of their buffers."""
        registers = tuple([register for register, _ in self.pointers])
        return self.result, self.group, registers, self.body, self.parameters

    def text(self) -> str:
        """The whole function."""
        return self._define(self.name, ("ptr %t", *self.parameters), [*self._loads(), self.body])

    def body_text(self, name: str) -> str:
        """The body as a function of the pointers."""
        return self._define(name, self._arguments(), [self.body])

    def caller_text(self, body: str) -> str:
        """The function as a call of a shared body."""
        call = f"call {self.result} @{body}({', '.join(self._arguments())})"
        end = [call, "ret void"]
        if self.result != "void":
            end = [f"%result = {call}", f"ret {self.result} %result"]
        return self._define(self.name, ("ptr %t", *self.parameters), [*self._loads(), *end], "#2")

    def _arguments(self) -> tuple[str, ...]:
        return (*[f"ptr {register}" for register, _ in self.pointers], *self.parameters)

    def _loads(self) -> list[str]:
        return [line for _, lines in self.pointers for line in lines]

    def _define(
        self, name: str, parameters: Sequence[str], lines: list[str], group: str | None = None
    ) -> str:
        head = f"define internal {self.result} @{name}({', '.join(parameters)})"
        return "\n".join([f"{head} {group or self.group} {{", "entry:", *lines, "}"])


def merged(functions: Sequence[str | StepFunction]) -> list[str]:
    """The texts of all functions; what several steps do alike is there once."""
    counts = Counter(f.essence for f in functions if isinstance(f, StepFunction))
    bodies: dict[tuple[object, ...], str] = {}
    texts: list[str] = []
    for function in functions:
        if isinstance(function, str):
            texts.append(function)
        elif counts[function.essence] == 1:
            texts.append(function.text())
        else:
            if function.essence not in bodies:
                bodies[function.essence] = name = f"{function.name}.shared"
                texts.append(function.body_text(name))
            texts.append(function.caller_text(bodies[function.essence]))
    return texts
