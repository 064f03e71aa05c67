"""`Graph.gradient_override_map`: other gradients for ops that are added to a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from weft._src.ops import named_gradients
from weft._src.ops.registry import Op


class GradientOverrides:
    """What graphs know of it."""

    overrides: Mapping[str, str] = {}  # type of op -> name of a registered gradient

    def overridden(self, op: Op) -> Op:
        """The op that is added, with the gradient that is wanted of it.

        Args:
          op: an op that was called.

        Returns:
          The op itself, or the same with another gradient.
        """
        return named_gradients.overridden(op, self.overrides)

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Ops of some types that are added in the block have gradients that are registered.

        Args:
          op_type_map: from types of ops, such as "Relu", to the names under which
            `tf.RegisterGradient` has registered gradients.

        Returns:
          A context manager.

        Raises:
          TypeError: if it is no dict from strings to strings.
        """
        both = [*op_type_map, *op_type_map.values()] if isinstance(op_type_map, dict) else [None]
        if not all(isinstance(part, str) for part in both):
            raise TypeError(
                "gradient_override_map: a dict from types of ops to names of gradients is "
                f"expected, got {op_type_map!r}."
            )
        before = self.overrides
        self.overrides = {**before, **op_type_map}
        try:
            yield
        finally:
            self.overrides = before
