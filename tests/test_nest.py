"""Nested structures; the results were compared with TensorFlow 2.21."""

import os
import types
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NamedTuple, Self

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from weft import nest
from weft._src import nest as _src_nest

Point = namedtuple("Point", "x y")
SamePoint = namedtuple("Point", "x y")
OtherFields = namedtuple("Point", "x z")
Place = namedtuple("Place", "x y")


class SubPoint(Point): ...


class Typed(NamedTuple):
    second: Any
    first: Any


class Sized(namedtuple("Sized", "value size")):  # noqa: SLOT002
    def __new__(cls, value: Any) -> Self:
        return super().__new__(cls, value, 1)


class MyList(list): ...


class OtherList(list): ...


class MyTuple(tuple): ...  # noqa: SLOT001


class MyDict(dict): ...


class FrozenMap(Mapping):
    def __init__(self, items: Any) -> None:
        self.items_ = dict(items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.items_})"

    def __getitem__(self, key: Any) -> Any:
        return self.items_[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)


class NeedsArgument(FrozenMap, MutableMapping):
    def __setitem__(self, key: Any, value: Any) -> None:
        self.items_[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.items_[key]


@attrs.define
class Pair:
    b: Any
    a: Any


@attrs.define
class OtherPair:
    b: Any
    a: Any


@attrs.frozen
class Awkward:
    _private: Any
    number: float = attrs.field(converter=float, validator=attrs.validators.ge(0))
    derived: Any = attrs.field(init=False, default=3)


class RowsSpec:
    """Describes Rows of one dtype."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"RowsSpec({self.dtype!r})"

    def most_specific_compatible_type(self, other: "RowsSpec") -> "RowsSpec":
        if other.dtype != self.dtype:
            raise ValueError("incompatible")
        return self

    def _to_components(self, value: "Rows") -> list[Any]:
        return [value.values, value.splits]

    def _from_components(self, components: list[Any]) -> "Rows":
        return Rows(*components, dtype=self.dtype)


class Rows:
    """A composite value: it has two components."""

    def __init__(self, values: Any, splits: Any, dtype: str = "float32") -> None:
        self.values, self.splits, self._type_spec = values, splits, RowsSpec(dtype)


class Plain:
    """A value whose spec calls it its own component."""

    class Spec:
        def _to_components(self, value: Any) -> Any:
            return value

    _type_spec = Spec()


class TestFlatten:
    @pytest.mark.parametrize(
        ("structure", "leaves"),
        [
            (None, [None]),
            (3, [3]),
            ("abc", ["abc"]),
            (b"abc", [b"abc"]),
            ({3}, [{3}]),
            ([], []),
            ([[], (), {}], []),
            ([1, [2, (3, [4])], None], [1, 2, 3, 4, None]),
            ({"b": 1, "a": [2, 3]}, [2, 3, 1]),
            ({10: "x", 9: "y"}, ["y", "x"]),
            ({(1, 2): 3, (0, 5): 1}, [1, 3]),
            ({None: 3}, [3]),
            (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
            (defaultdict(list, b=1, a=2), [2, 1]),
            (types.MappingProxyType({"b": 1, "a": 2}), [2, 1]),
            (UserDict(b=1, a=2), [2, 1]),
            (FrozenMap({"b": 1, "a": 2}), [2, 1]),
            (Point(1, (2,)), [1, 2]),
            (Typed(second=1, first=2), [1, 2]),
            (Pair(1, [2, 3]), [1, 2, 3]),
            (range(3), [0, 1, 2]),
            (deque([1, 2]), [1, 2]),
            (UserList([1, 2]), [1, 2]),
            ({"a": 1}.keys(), ["a"]),
            ({"a": 1}.items(), ["a", 1]),
            (MyList([1, MyTuple([2])]), [1, 2]),
        ],
        ids=repr,
    )
    def test_leaves(self, structure: Any, leaves: list[Any]) -> None:
        assert nest.flatten(structure) == leaves
        assert [leaf for _, leaf in nest.flatten_with_paths(structure)] == leaves

    def test_arrays_classes_and_plain_objects_are_leaves(self) -> None:
        for leaf in (np.arange(3), Point, Pair, object(), (x for x in "ab")):
            (flat,) = nest.flatten(leaf)
            assert flat is leaf
            assert not nest.is_nested(leaf)

    def test_is_nested(self) -> None:
        for structure in ([], (), {}, Point(1, 2), Pair(1, 2), range(2), UserDict()):
            assert nest.is_nested(structure)
        for leaf in (None, 1, "a", b"a", {1}, frozenset()):
            assert not nest.is_nested(leaf)

    def test_paths(self) -> None:
        structure = {"b": [1, Pair(2, 3)], "a": Point(4, (5,)), "c": {}}
        assert nest.flatten_with_paths(structure) == [
            (("a", "x"), 4),
            (("a", "y", 0), 5),
            (("b", 0), 1),
            (("b", 1, "b"), 2),
            (("b", 1, "a"), 3),
        ]
        assert nest.flatten_with_paths(7) == [((), 7)]

    @pytest.mark.parametrize("mapping", [{1: 2, "a": 3}, UserDict({None: 1, "a": 2})])
    def test_unsortable_keys(self, mapping: Any) -> None:
        with pytest.raises(TypeError, match=r"keys of a nested \w+ must be sortable.*, str\."):
            nest.flatten([mapping])

    def test_many_types_do_not_pile_up(self) -> None:
        for _ in range(5000):
            assert nest.flatten([type("T", (list,), {})([1])]) == [1]
        assert len(_src_nest._ADAPTERS) <= 4096


class TestPack:
    @pytest.mark.parametrize(
        ("structure", "flat", "expected"),
        [
            (1, [5], 5),
            ([], [], []),
            ([1, (2, [3])], [4, 5, 6], [4, (5, [6])]),
            ([1, [2]], (3, [4]), [3, [[4]]]),
            ({"b": 1, "a": 2}, [3, 4], {"b": 4, "a": 3}),
            (Point(1, [2]), [3, 4], Point(3, [4])),
            (Sized(1), [3, 4], Sized._make((3, 4))),
            (Pair(1, [2, 3]), [4, 5, 6], Pair(4, [5, 6])),
            (range(2), [5, 6], [5, 6]),
            ({"a": 1}.keys(), [5], [5]),
            ({"a": 1}.items(), [5, 6], [(5, 6)]),
            (deque([1, 2]), [5, 6], deque([5, 6])),
        ],
        ids=repr,
    )
    def test_structure_is_rebuilt(self, structure: Any, flat: Any, expected: Any) -> None:
        packed = nest.pack_sequence_as(structure, flat)
        assert packed == expected
        assert type(packed) is type(expected)

    @pytest.mark.parametrize(
        "mapping",
        [
            {"b": 1, "a": 2},
            OrderedDict([("b", 1), ("a", 2)]),
            defaultdict(list, b=1, a=2),
            Counter(b=1, a=2),
            MyDict(b=1, a=2),
            UserDict(b=1, a=2),
            types.MappingProxyType({"b": 1, "a": 2}),
            FrozenMap({"b": 1, "a": 2}),
        ],
        ids=lambda mapping: type(mapping).__name__,
    )
    def test_mappings_keep_type_and_key_order(self, mapping: Any) -> None:
        before = dict(mapping)
        packed = nest.pack_sequence_as(mapping, [3, 4])
        assert type(packed) is type(mapping)
        assert list(packed.items()) == [("b", 4), ("a", 3)]
        assert dict(mapping) == before

    def test_subclasses_of_dict_keep_their_attributes(self) -> None:
        original = MyDict(a=1)
        original.label = "weights"
        assert nest.map_structure(str, original).label == "weights"
        assert nest.map_structure(str, defaultdict(list, a=1))["new"] == []

    def test_attrs_objects_are_rebuilt_without_their_constructor(self) -> None:
        mapped = nest.map_structure(lambda x: f"<{x}>", Awkward(1, 2))
        assert (mapped._private, mapped.number, mapped.derived) == ("<1>", "<2.0>", "<3>")

    def test_struct_sequences(self) -> None:
        assert type(nest.map_structure(float, os.times())) is type(os.times())

    def test_wrong_number_of_leaves(self) -> None:
        with pytest.raises(ValueError, match=r"\[1, \[2\]\] has 2 leaves, .* has 1\."):
            nest.pack_sequence_as([1, [2]], [3])
        with pytest.raises(ValueError, match=r"has 1 leaf, .* has 2\."):
            nest.pack_sequence_as(1, [1, 2])
        with pytest.raises(ValueError, match=r"has 0 leaves, .* has 1\."):
            nest.pack_sequence_as([], [1])

    @pytest.mark.parametrize("flat", [3, "ab", np.arange(2), iter([1, 2]), {"a": 1, "b": 2}])
    def test_leaves_must_come_as_a_sequence(self, flat: Any) -> None:
        with pytest.raises(TypeError, match="`flat_sequence` must be a list or another sequence"):
            nest.pack_sequence_as([1, 2], flat)

    @pytest.mark.parametrize(
        ("structure", "text"),
        [
            (memoryview(b"a"), "A nested memoryview cannot be rebuilt: .* use a list or tuple"),
            (NeedsArgument({"a": 1}), "calling NeedsArgument without arguments failed .* a dict"),
        ],
    )
    def test_containers_that_cannot_be_rebuilt(self, structure: Any, text: str) -> None:
        with pytest.raises(TypeError, match=text):
            nest.pack_sequence_as([structure], [1])


class TestMap:
    def test_one_structure(self) -> None:
        assert nest.map_structure(lambda x: x * 2, {"b": (1, [2])}) == {"b": (2, [4])}
        assert nest.map_structure(lambda x: [x, x], [1]) == [[1, 1]]
        assert nest.map_structure(str, 3) == "3"

    def test_calls_come_in_flattening_order(self) -> None:
        seen: list[int] = []
        nest.map_structure(seen.append, {"b": 1, "a": [2, 3]})
        assert seen == [2, 3, 1]

    def test_several_structures(self) -> None:
        pairs = nest.map_structure(lambda x, y: (x, y), {"b": 1, "a": 2}, {"a": 3, "b": 4})
        assert list(pairs.items()) == [("b", (1, 4)), ("a", (2, 3))]
        assert nest.map_structure(lambda *xs: sum(xs), [1], [2], [3]) == [6]
        assert type(nest.map_structure(max, OrderedDict(a=2), {"a": 1})) is OrderedDict

    def test_check_types(self) -> None:
        with pytest.raises(TypeError, match="top level: list of length 1 in the first, tuple"):
            nest.map_structure(max, [1], (2,))
        assert nest.map_structure(max, [1], (2,), check_types=False) == [2]

    def test_arguments_are_checked(self) -> None:
        with pytest.raises(TypeError, match="needs a callable first, got the int 3"):
            nest.map_structure(3, [1])
        with pytest.raises(ValueError, match="at least one structure"):
            nest.map_structure(max)
        with pytest.raises(TypeError, match="unexpected keyword"):
            nest.map_structure(max, [1], depth=3)

    def test_stop_iteration_of_the_function_is_not_swallowed(self) -> None:
        with pytest.raises(StopIteration):
            nest.map_structure(next, [iter(())])
        with pytest.raises(StopIteration):
            nest.map_structure(lambda x, y: next(x), [iter(())], [1])


# First structure, second structure, the error with check_types, the error without.
COMPARISONS = [
    (1, "a", None, None),
    ([1], [None], None, None),
    (1, [1], ValueError, ValueError),
    ("ab", ["a", "b"], ValueError, ValueError),
    ([1], [[]], ValueError, ValueError),
    ([1, 2], [1], ValueError, ValueError),
    ([1, 2], (1,), TypeError, ValueError),
    ([1, [2, 3]], [[1, 2], 3], ValueError, ValueError),
    ([], (), TypeError, None),
    ([[], 1], [(), 1], TypeError, None),
    ({}, [], TypeError, None),
    ({"a": 1}, {"b": 1}, ValueError, None),
    ({"a": 1}, {"a": 1, "b": 2}, ValueError, ValueError),
    ({"a": [1]}, {"b": (1,)}, ValueError, None),
    ({"a": 1}, [1], TypeError, None),
    ({"a": 1}, [1, 2], TypeError, ValueError),
    ({1: 1, 2: 3}, {2: 1, 1: 3}, None, None),
    ({"a": 1}, OrderedDict(a=1), None, None),
    (types.MappingProxyType({"a": 1}), {"a": 1}, None, None),
    ({"x": 1, "y": 2}, Point(1, 2), TypeError, None),
    (Point(1, 2), (1, 2), TypeError, None),
    (Point(1, 2), SamePoint(3, 4), None, None),
    (Point(1, 2), OtherFields(3, 4), TypeError, None),
    (Point(1, 2), Place(3, 4), TypeError, None),
    ([1], MyList([1]), None, None),
    (MyList([1]), OtherList([1]), None, None),
    (MyDict(a=1), {"a": 1}, None, None),
    (MyTuple([1]), (1,), TypeError, None),
    (SubPoint(1, 2), Point(1, 2), TypeError, None),
    ([[1]], [(1,), 2], TypeError, ValueError),
    ([1], UserList([1]), TypeError, None),
    (range(2), [1, 2], TypeError, None),
    (Pair(1, 2), Pair(3, 4), None, None),
    (Pair(1, 2), OtherPair(1, 2), TypeError, None),
    (Pair(1, 2), (1, 2), TypeError, None),
]


class TestSameStructure:
    @pytest.mark.parametrize(("a", "b", "strict", "loose"), COMPARISONS, ids=repr)
    @pytest.mark.parametrize("swap", [False, True])
    def test_error_classes(self, a: Any, b: Any, strict: Any, loose: Any, swap: bool) -> None:
        first, second = (b, a) if swap else (a, b)
        for check_types, error in ((True, strict), (False, loose)):
            if error is None:
                nest.assert_same_structure(first, second, check_types=check_types)
            else:
                with pytest.raises(error) as caught:
                    nest.assert_same_structure(first, second, check_types=check_types)
                assert caught.type is error

    @pytest.mark.parametrize(
        ("a", "b", "text"),
        [
            (
                1,
                [1, 2],
                "at the top level: the int 1 in the first, list of length 2 in the second.",
            ),
            ({"k": [0, (1, 2)]}, {"k": [0, (1,)]}, "at ['k'][1]: tuple of length 2 in the first, "),
            ([Point(1, [2])], [Point(1, 2)], "at [0].y: list of length 1 in the first, the int 2"),
            (Pair(1, [2]), Pair(1, 2), "at .a: list of length 1 in the first, the int 2"),
            (
                [{"a": 1, 'c"': 2}],
                [{"b": 1, 'c"': 2}],
                "at [0]: key 'a' only in the first, key 'b'",
            ),
            ({"a": 1}, {"a": 1, "b": 1, "c": 1}, "level: keys 'b', 'c' only in the second."),
        ],
    )
    def test_texts_name_the_place(self, a: Any, b: Any, text: str) -> None:
        with pytest.raises(ValueError, match="The structures differ") as caught:
            nest.assert_same_structure(a, b)
        assert text in str(caught.value)

    def test_the_remedy_is_named(self) -> None:
        with pytest.raises(TypeError, match="pass check_types=False"):
            nest.assert_same_structure([1], (1,))


class TestComposites:
    def test_leaves_unless_expanded(self) -> None:
        rows = Rows([1, 2], 3)
        assert nest.flatten([rows]) == [rows]
        assert nest.flatten([0, rows], expand_composites=True) == [0, 1, 2, 3]
        paths = [path for path, _ in nest.flatten_with_paths({"r": rows}, expand_composites=True)]
        assert paths == [("r", 0, 0), ("r", 0, 1), ("r", 1)]

    def test_nested_composites(self) -> None:
        mapped = nest.map_structure(
            lambda x: x * 10, (Rows(Rows(1, 2), 3),), expand_composites=True
        )
        assert nest.flatten(mapped, expand_composites=True) == [10, 20, 30]
        assert type(mapped[0].values) is Rows

    def test_pack_and_map(self) -> None:
        packed = nest.pack_sequence_as({"r": Rows(1, 2, "int8")}, [3, 4], expand_composites=True)
        assert (packed["r"].values, packed["r"].splits) == (3, 4)
        assert packed["r"]._type_spec.dtype == "int8"
        added = nest.map_structure(
            lambda x, y: x + y, [Rows(1, 2)], [Rows(10, 20)], expand_composites=True
        )
        assert (added[0].values, added[0].splits) == (11, 22)

    def test_values_that_are_their_own_component_are_leaves(self) -> None:
        plain = Plain()
        assert nest.flatten([plain], expand_composites=True) == [plain]
        nest.assert_same_structure([plain], [1], expand_composites=True)

    def test_same_structure(self) -> None:
        def compare(a: Any, b: Any, **kwargs: bool) -> None:
            nest.assert_same_structure([a], [b], expand_composites=True, **kwargs)

        compare(Rows(1, 2), Rows(3, 4))
        nest.assert_same_structure([Rows(1, 2)], [5])
        with pytest.raises(ValueError, match=r"at \[0\]: RowsSpec\('float32'\) in the first, "):
            compare(Rows(1, 2), Rows(1, 2, "int8"))
        with pytest.raises(ValueError, match="in the first, the int 1 in the second"):
            compare(Rows(1, 2), 1)
        with pytest.raises(TypeError, match="list of length 2 in the first, the Rows"):
            compare([1, 2], Rows(1, 2))
        with pytest.raises(ValueError, match="list of length 2 in the first, the Rows"):
            compare([1, 2], Rows(1, 2), check_types=False)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.lists(inner, max_size=4).map(tuple),
            st.dictionaries(st.text(max_size=2), inner, max_size=4),
            st.dictionaries(st.integers(), inner, max_size=4).map(OrderedDict),
            st.builds(Point, inner, inner),
            st.builds(Pair, inner, inner),
        ),
        max_leaves=12,
    )


class TestProperties:
    @given(nested(st.integers() | st.none() | st.text()))
    def test_packing_undoes_flattening(self, structure: Any) -> None:
        flat = nest.flatten(structure)
        assert nest.pack_sequence_as(structure, flat) == structure
        assert nest.map_structure(lambda x: x, structure) == structure
        nest.assert_same_structure(structure, nest.map_structure(str, structure))

    @given(nested(st.integers()))
    def test_paths_lead_to_their_leaves(self, structure: Any) -> None:
        for path, leaf in nest.flatten_with_paths(structure):
            found = structure
            for key in path:
                by_name = isinstance(found, (Point, Pair))
                found = getattr(found, key) if by_name else found[key]
            assert found is leaf

    @given(nested(st.just(0)), nested(st.just(0)))
    def test_comparison_is_symmetric(self, a: Any, b: Any) -> None:
        def outcome(first: Any, second: Any) -> bool:
            try:
                nest.assert_same_structure(first, second)
            except (TypeError, ValueError):
                return False
            return True

        assert outcome(a, b) == outcome(b, a)
