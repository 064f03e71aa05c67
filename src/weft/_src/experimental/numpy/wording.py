"""What the docstrings of the functions say that `promotion` makes: of one array, or of two.

They have no `def` of their own to write a docstring into. A function's entry holds its summary, its
result if that is not the one that such functions have, and the errors that it has besides.
"""

from __future__ import annotations

from typing import NamedTuple

_ARRAY = "an array, number or (nested) list."
ONE = (f"x: {_ARRAY}",)
TWO = (
    f"x1: {_ARRAY}",
    "x2: the other one; both are cast to the dtype that NumPy gives them, and broadcast.",
)
TRUTHS = (
    "x1: an array, number or (nested) list; what is not zero is true.",
    "x2: the other one, which broadcasts with it.",
)

SAME = "A tensor of the shape and dtype of `x`."
FLOATING = (
    "A tensor of the shape of `x`: of its dtype if that is floating or complex, else float64."
)
COMMON = "A tensor of the shape that both broadcast to, of their common dtype."
COMMON_FLOATING = (
    "A tensor of the shape that both broadcast to: of their common dtype if that is floating or\n"
    "  complex, else float64."
)
BOOLS = "A bool tensor of the shape that the arguments broadcast to."
_ASKED = "A bool tensor of the shape of `x`."

_PARTS = "A tensor of the shape of `x`: of its dtype, of complex numbers that of their parts."

UNEQUAL = "ShapeError: if the shapes do not broadcast."
_NO_BOOLS = "DTypeError: if the elements are bools."
_REAL = "DTypeError: if the numbers are complex."
_NEXT = "DTypeError: if their common dtype is complex, float16 or bfloat16."
_BITS = "DTypeError: if the elements are neither integers nor bools."
_WHOLE = "TypeError: if the numbers are no integers."
_BY_ZERO = "tf.errors.InvalidArgumentError: if an integer is divided by zero."
_NEGATIVE = "tf.errors.InvalidArgumentError: if an integer is raised to a negative one."


class Entry(NamedTuple):
    """What is special about a function."""

    summary: str
    returns: str | None = None
    raises: tuple[str, ...] = ()


ENTRIES = {
    "add": Entry("The sum; of bools, whether one of the two is true."),
    "subtract": Entry("The difference.", raises=(_NO_BOOLS,)),
    "multiply": Entry("The product; of bools, whether both are true."),
    "true_divide": Entry("The quotient, floating also of integers."),
    "floor_divide": Entry(
        "The quotient, rounded down; bools count as int8.", raises=(_REAL, _BY_ZERO)
    ),
    "remainder": Entry(
        "The remainder of a division that rounds down, with the sign of `x2`; bools count as int8.",
        raises=(_REAL, _BY_ZERO),
    ),
    "power": Entry("`x1` to the power of `x2`.", raises=(_NO_BOOLS, _NEGATIVE)),
    "float_power": Entry(
        "`x1` to the power of `x2`, with all digits.",
        "A tensor of the shape that both broadcast to: float64, or complex128 of complex numbers.",
    ),
    "maximum": Entry(
        "The larger one of two numbers; of bools, whether one is true.", raises=(_REAL,)
    ),
    "minimum": Entry(
        "The smaller one of two numbers; of bools, whether both are true.", raises=(_REAL,)
    ),
    "hypot": Entry("The length of the hypotenuse of a right triangle with these legs."),
    "arctan2": Entry(
        "The angle of the point with the height `x1` and the width `x2`, from -pi to pi.",
        raises=(_REAL,),
    ),
    "logaddexp": Entry(
        "The logarithm of the sum of both numbers' exponentials, without overflow.", raises=(_REAL,)
    ),
    "nextafter": Entry(
        "The next floating number after `x1` in the direction of `x2`.", raises=(_NEXT,)
    ),
    "heaviside": Entry(
        "0 where `x1` is negative, 1 where it is positive, and `x2` where it is 0.", raises=(_REAL,)
    ),
    "logaddexp2": Entry(
        "The same as `logaddexp` with powers of 2 and logarithms to the base 2.", raises=(_REAL,)
    ),
    "gcd": Entry("The greatest number that divides both, not negative.", raises=(_WHOLE,)),
    "lcm": Entry("The least number that both divide, not negative.", raises=(_WHOLE,)),
    "equal": Entry("Whether numbers are equal; NaN equals nothing.", BOOLS),
    "not_equal": Entry("Whether numbers differ; NaN differs from itself.", BOOLS),
    "greater": Entry(
        "Whether `x1` is larger than `x2`; true is larger than false.", BOOLS, (_REAL,)
    ),
    "greater_equal": Entry(
        "Whether `x1` is at least as large as `x2`; true is larger than false.", BOOLS, (_REAL,)
    ),
    "less": Entry("Whether `x1` is smaller than `x2`; true is larger than false.", BOOLS, (_REAL,)),
    "less_equal": Entry(
        "Whether `x1` is at most as large as `x2`; true is larger than false.", BOOLS, (_REAL,)
    ),
    "logical_and": Entry("Whether both of two arrays are true."),
    "logical_or": Entry("Whether one of two arrays is true, or both."),
    "logical_xor": Entry("Whether exactly one of two arrays is true."),
    "logical_not": Entry("Whether the elements of one array are not true."),
    "bitwise_and": Entry(
        "The bits that both have; of bools, whether both are true.", raises=(_BITS,)
    ),
    "bitwise_or": Entry(
        "The bits that one of the two has; of bools, whether one is true.", raises=(_BITS,)
    ),
    "bitwise_xor": Entry(
        "The bits that exactly one of the two has; of bools, whether they differ.", raises=(_BITS,)
    ),
    "bitwise_not": Entry("All bits turned over; of bools, the opposite.", raises=(_BITS,)),
    "absolute": Entry("The distance from 0.", _PARTS),
    "negative": Entry("The number with the other sign.", raises=(_NO_BOOLS,)),
    "positive": Entry("The number itself."),
    "sign": Entry("-1, 0 or 1; of complex numbers, `x / |x|`.", raises=(_NO_BOOLS,)),
    "square": Entry("The product of the number with itself.", raises=(_NO_BOOLS,)),
    "reciprocal": Entry("1 divided by the number."),
    "sqrt": Entry("The square root; NaN of negative real numbers."),
    "cbrt": Entry("The cube root, also of negative numbers.", raises=(_REAL,)),
    "exp": Entry("e to the power of the number."),
    "exp2": Entry("2 to the power of the number."),
    "expm1": Entry("`exp(x) - 1`, exact also for small numbers."),
    "log": Entry("The natural logarithm; NaN of negative real numbers."),
    "log2": Entry("The logarithm to the base 2; NaN of negative real numbers."),
    "log10": Entry("The logarithm to the base 10; NaN of negative real numbers."),
    "log1p": Entry("`log(1 + x)`, exact also for small numbers."),
    "sin": Entry("The sine of angles in radians."),
    "cos": Entry("The cosine of angles in radians."),
    "tan": Entry("The tangent of angles in radians."),
    "arcsin": Entry(
        "The angle with this sine, from -pi/2 to pi/2; NaN of real numbers beyond -1 and 1."
    ),
    "arccos": Entry(
        "The angle with this cosine, from 0 to pi; NaN of real numbers beyond -1 and 1."
    ),
    "arctan": Entry("The angle with this tangent, from -pi/2 to pi/2."),
    "sinh": Entry("The hyperbolic sine."),
    "cosh": Entry("The hyperbolic cosine."),
    "tanh": Entry("The hyperbolic tangent."),
    "arcsinh": Entry("The number with this hyperbolic sine."),
    "arccosh": Entry("The number with this hyperbolic cosine; NaN of real numbers below 1."),
    "arctanh": Entry(
        "The number with this hyperbolic tangent; NaN of real numbers beyond -1 and 1."
    ),
    "deg2rad": Entry("Angles in degrees as radians."),
    "rad2deg": Entry("Angles in radians as degrees."),
    "floor": Entry("The largest whole number that is not above the number.", raises=(_REAL,)),
    "ceil": Entry("The smallest whole number that is not below the number.", raises=(_REAL,)),
    "fix": Entry("The whole number next to the number on the side of 0.", raises=(_REAL,)),
    "isnan": Entry("Whether numbers are NaN; complex ones if one of their parts is.", _ASKED),
    "isinf": Entry("Whether numbers are infinite; complex ones if one of their parts is.", _ASKED),
    "isfinite": Entry(
        "Whether numbers are neither NaN nor infinite, in both parts if they are complex.", _ASKED
    ),
    "fabs": Entry("The distance from 0, floating also of integers.", raises=(_REAL,)),
    "sinc": Entry("`sin(pi x) / (pi x)`, 1 at 0."),
    "conjugate": Entry(
        "The complex conjugate; real numbers stay what they are.", raises=(_NO_BOOLS,)
    ),
}


def docstring(name: str, takes: tuple[str, ...], gives: str, refuses: tuple[str, ...] = ()) -> str:
    """The docstring of a function, from its entry and what all of its kind have."""
    entry = ENTRIES[name]
    sections = {
        "Args": takes,
        "Returns": (entry.returns or gives,),
        "Raises": (*entry.raises, *refuses),
    }
    written = [f"{title}:\n  " + "\n  ".join(lines) for title, lines in sections.items() if lines]
    return "\n\n".join([entry.summary, *written])
