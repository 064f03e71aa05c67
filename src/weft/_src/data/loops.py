"""`for x in dataset` in a function that is traced: a loop that asks an iterator for elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.autograph.operators import conditional
from weft._src.autograph.operators.loops import StagedLoop
from weft._src.core.tensor import Tensor
from weft._src.data.core.iterators import Iterator, has_next_op
from weft._src.ops.control.loop import reduce_dataset_op


class _DatasetLoop(StagedLoop):
    """The body takes the next element; whether there is one is asked only if the loop goes on."""

    op = reduce_dataset_op
    name = reduce_dataset_op.name
    relaxes_shapes = True  # elements of unknown shape are common

    def __init__(
        self, iterator: Iterator, extra_test: Callable[[], Any] | None,
        body: Callable[[Any], None], *rest: Any,
    ) -> None:  # fmt: skip
        self._iterator, self._extra_test, self._loop_body = iterator, extra_test, body
        super().__init__(lambda: True, lambda: None, *rest)

    def run_body(self, counter: Tensor) -> None:
        self._loop_body(self._iterator.get_next())

    def condition(self, counter: Tensor) -> Any:
        if self._extra_test is None:
            return self._more()
        return conditional.if_exp(self._extra_test(), self._more, lambda: False)

    def _more(self) -> Tensor:
        return has_next_op(self._iterator._handle)


def stage_loop(
    iterator: Iterator,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: Sequence[str],
    needed: Sequence[str],
    used_after: Sequence[str],
    appended: Sequence[str],
    options: Any,
) -> None:
    """What a converted `for` statement does with a dataset or an iterator in a graph."""
    _DatasetLoop(
        iterator, extra_test, body, get_state, set_state, names, needed, used_after, appended,
        options,
    ).run()  # fmt: skip


# An iterator goes on from where it is.
Iterator.__autograph_for__ = stage_loop  # type: ignore[attr-defined]
