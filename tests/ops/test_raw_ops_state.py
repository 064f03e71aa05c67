"""tf.raw_ops on variables, lists of tensors, files and the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import (
    DTypeError,
    FailedPreconditionError,
    InvalidArgumentError,
    ShapeError,
    UnsupportedError,
)

raw = tf.raw_ops

NAMES = {
    *"Assert AssignAddVariableOp AssignSubVariableOp AssignVariableOp DecodeCompressed".split(),
    *"EmptyTensorList MatchingFiles NoOp PrintV2 ReadFile ReadVariableOp ResourceGather".split(),
    *"ResourceGatherNd StatelessRandomBinomial StatelessRandomGetKeyCounterAlg Timestamp".split(),
    *"StatelessRandomPoisson TensorListFromTensor TensorListGetItem TensorListLength".split(),
    *"TensorListPopBack TensorListPushBack TensorListReserve TensorListSetItem".split(),
    *"TensorListStack VarIsInitializedOp WriteFile Const DestroyResourceOp Svd".split(),
    *"DisableCopyOnRead NonDeterministicInts OptionalFromValue OptionalGetValue".split(),
    *"OptionalHasValue OptionalNone ParameterizedTruncatedNormal Placeholder Print".split(),
    *"RandomGamma RandomIndexShuffle RandomPoissonV2 StatefulRandomBinomial TileGrad".split(),
    *"StatelessParameterizedTruncatedNormal StatelessRandomGammaV2 TopK VarHandleOp".split(),
    *"StatelessRandomGammaV3 CTCLossV2 FakeParam QuantizedConcat".split(),
    *[f"ResourceScatter{kind}" for kind in "Add Div Max Min Mul Sub Update".split()],
    *[f"ResourceScatterNd{kind}" for kind in "Add Max Min Sub Update".split()],
}


@pytest.mark.parametrize("traced", [False, True])
def test_variables(traced: bool) -> None:
    v = tf.Variable([1.0, 2.0, 3.0])

    def steps() -> Any:
        raw.AssignVariableOp(resource=v.handle, value=[4.0, 5.0, 6.0])
        raw.AssignAddVariableOp(resource=v.handle, value=[1.0, 1.0, 1.0])
        raw.AssignSubVariableOp(resource=v.handle, value=[0.5, 0.5, 0.5])
        return (
            raw.ReadVariableOp(resource=v.handle, dtype=tf.float32),
            raw.ResourceGather(resource=v.handle, indices=[2, 0], dtype=tf.float32),
            raw.ResourceGatherNd(resource=v.handle, indices=[[1]], dtype=tf.float32),
            raw.VarIsInitializedOp(resource=v.handle),
        )

    found = (tf.function(steps) if traced else steps)()
    expected = [[4.5, 5.5, 6.5], [6.5, 4.5], [5.5], True]
    assert [np.asarray(x).tolist() for x in found] == expected


def test_batches_of_rows_of_a_variable() -> None:
    v = tf.Variable([[1, 2], [3, 4]])
    out = raw.ResourceGather(resource=v.handle, indices=[[1], [0]], dtype=tf.int32, batch_dims=1)
    assert out.numpy().tolist() == [[2], [3]]


def test_what_is_read_has_the_shape_of_the_variable() -> None:
    v = tf.Variable(tf.zeros([2, 3]), shape=[None, 3])

    @tf.function
    def f():
        inner = tf.function(lambda h: raw.ReadVariableOp(resource=h, dtype=tf.float32))
        found = [
            raw.ReadVariableOp(resource=v.handle, dtype=tf.float32),
            raw.ResourceGather(resource=v.handle, indices=[1, 0], dtype=tf.float32),
            raw.ResourceGatherNd(resource=v.handle, indices=[[1]], dtype=tf.float32),
            inner(v.handle),
            raw.VariableShape(input=v.handle),
        ]
        assert [x.shape.as_list() for x in found[:3]] == [[None, 3], [2, 3], [1, 3]]
        return found

    assert f()[0].shape == [2, 3]
    assert f()[4].numpy().tolist() == [2, 3]
    scalar = tf.Variable(1.0)
    assert raw.VariableShape(input=scalar.handle).numpy().tolist() == []


def test_a_variable_keeps_its_dtype() -> None:
    v = tf.Variable([1.0, 2.0])
    for traced in (False, True):
        wrap = tf.function if traced else lambda f: f
        with pytest.raises(DTypeError, match="the variable is float32, value is int32"):
            wrap(lambda: raw.AssignVariableOp(resource=v.handle, value=tf.constant([1, 2])))()
        with pytest.raises(DTypeError, match="the variable is float32, dtype says int32"):
            wrap(lambda: raw.ReadVariableOp(resource=v.handle, dtype=tf.int32))()
        with pytest.raises(ShapeError, match="the variable has shape|variable and the value"):
            wrap(lambda: raw.AssignVariableOp(resource=v.handle, value=[1.0]))()
    raw.AssignVariableOp(resource=v.handle, value=[3, 4], validate_shape=True)  # Python numbers
    assert v.numpy().tolist() == [3.0, 4.0]


@pytest.mark.parametrize("traced", [False, True])
def test_handles_without_a_variable(traced: bool) -> None:
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[None, 2], debug_name="ignored")

    def steps(x: Any) -> Any:
        before = raw.VarIsInitializedOp(resource=handle)
        raw.AssignVariableOp(resource=handle, value=x)
        raw.AssignAddVariableOp(resource=handle, value=x)
        raw.DisableCopyOnRead(resource=handle)
        found = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
        assert not traced or found.shape.as_list() == [None, 2]
        shape = raw.VariableShape(input=handle, out_type=tf.int64)
        raw.DestroyResourceOp(resource=handle)
        return before, found, shape, raw.VarIsInitializedOp(resource=handle)

    out = (tf.function(steps) if traced else steps)([[1.0, 2.0]])
    assert [np.asarray(x).tolist() for x in out] == [False, [[2.0, 4.0]], [1, 2], False]
    with pytest.raises(FailedPreconditionError, match="was read before it was initialised"):
        raw.ReadVariableOp(resource=handle, dtype=tf.float32)


def test_handles_by_name() -> None:
    def make(dtype: Any = tf.int32, **more: Any) -> Any:
        return raw.VarHandleOp(dtype=dtype, shape=[], shared_name="raw ops by name", **more)

    raw.AssignVariableOp(resource=make(), value=5)
    assert int(raw.ReadVariableOp(resource=make(), dtype=tf.int32)) == 5
    assert not raw.VarIsInitializedOp(resource=make(container="another"))
    with pytest.raises(InvalidArgumentError, match="'raw ops by name' is int32 of shape"):
        make(tf.float32)
    anonymous = {"shared_name": "cd2c89b7-88b7-44c8-ad83-06c2a9158347"}
    first, second = [raw.VarHandleOp(dtype=tf.int32, shape=[], **anonymous) for _ in range(2)]
    raw.AssignVariableOp(resource=first, value=5)
    assert not raw.VarIsInitializedOp(resource=second)


def test_optimizers_refuse_what_does_not_fit() -> None:
    v = tf.Variable([1.0, 2.0])
    descend = raw.ResourceApplyGradientDescent
    with pytest.raises(ShapeError, match=r"the gradient must have the shape .* \(2,\), got \(3,\)"):
        descend(var=v.handle, alpha=0.1, delta=[1.0, 2.0, 3.0])
    with pytest.raises(DTypeError, match="the variable is float32, delta is float64"):
        descend(var=v.handle, alpha=0.1, delta=tf.constant([1.0, 2.0], tf.float64))
    with pytest.raises(ShapeError, match="alpha must be a scalar"):
        descend(var=v.handle, alpha=[0.1], delta=[1.0, 2.0])
    with pytest.raises(UnsupportedError, match="Nothing tells the dtype of the variable"):
        tf.function(lambda h: descend(var=h, alpha=0.1, delta=[1.0, 2.0]))(v.handle)
    half = tf.Variable([1.0, 2.0], dtype=tf.float16)
    descend(var=half.handle, alpha=0.5, delta=[1.0, 2.0])  # numbers take the dtype
    assert half.numpy().tolist() == [0.5, 1.0]


SCATTERED = {
    "Add": [1.0, 5.0], "Sub": [1.0, -1.0], "Mul": [1.0, 6.0], "Div": [1.0, 2 / 3],
    "Max": [1.0, 3.0], "Min": [1.0, 2.0], "Update": [1.0, 3.0],
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(SCATTERED))
def test_scattering(kind: str) -> None:
    v = tf.Variable([1.0, 2.0])
    getattr(raw, f"ResourceScatter{kind}")(resource=v.handle, indices=[1], updates=[3.0])
    np.testing.assert_allclose(v, SCATTERED[kind])
    if kind in ("Mul", "Div"):
        return
    w = tf.Variable([1.0, 2.0])
    getattr(raw, f"ResourceScatterNd{kind}")(ref=w.handle, indices=[[1]], updates=[3.0])
    np.testing.assert_allclose(w, SCATTERED[kind])


def lists(x: Any) -> Any:
    made = raw.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32)
    made = raw.TensorListSetItem(input_handle=made, index=0, item=x)
    made = raw.TensorListSetItem(input_handle=made, index=1, item=x * 2)
    stacked = raw.TensorListStack(
        input_handle=made, element_shape=[2], element_dtype=tf.float32, num_elements=2
    )
    item = raw.TensorListGetItem(
        input_handle=made, index=1, element_shape=-1, element_dtype=tf.float32
    )
    grown = raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
    grown = raw.TensorListPushBack(input_handle=grown, tensor=x)
    count = raw.TensorListLength(input_handle=grown)
    rest, last = raw.TensorListPopBack(
        input_handle=grown, element_shape=[2], element_dtype=tf.float32
    )
    left = raw.TensorListLength(input_handle=rest)
    rows = raw.TensorListFromTensor(tensor=stacked, element_shape=[2])
    return stacked, item, count, last, left, raw.TensorListLength(input_handle=rows)


def test_lists() -> None:
    expected = [[[1.0, 3.0], [2.0, 6.0]], [2.0, 6.0], 1, [1.0, 3.0], 0, 2]
    for call in (lists, tf.function(lists)):
        found = call(tf.constant([1.0, 3.0]))
        assert [np.asarray(x).tolist() for x in found] == expected
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(lists(x)[0] ** 2)
    np.testing.assert_allclose(tape.gradient(y, x), [10.0, 30.0])


def test_files_and_the_screen(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.txt"
    raw.WriteFile(filename=str(path), contents="text")
    assert raw.ReadFile(filename=str(path)).numpy() == b"text"
    assert raw.MatchingFiles(pattern=str(tmp_path / "*.txt")).numpy().tolist() == [
        str(path).encode()
    ]
    assert raw.DecodeCompressed(bytes="as it is").numpy() == b"as it is"
    raw.PrintV2(input="shown", output_stream="stdout")
    assert capsys.readouterr().out == "shown\n"
    assert float(raw.Timestamp()) > 1e9
    assert raw.NoOp() is None


def test_assertions() -> None:
    raw.Assert(condition=True, data=["fine"])
    with pytest.raises(InvalidArgumentError, match="broken"):
        raw.Assert(condition=False, data=["broken"])


def test_random_numbers() -> None:
    counts = raw.StatelessRandomBinomial(shape=[200], seed=[1, 2], counts=10.0, probs=0.5)
    assert counts.dtype is tf.int64
    assert abs(float(tf.reduce_mean(tf.cast(counts, tf.float32))) - 5) < 0.5
    events = raw.StatelessRandomPoisson(shape=[200], seed=[1, 2], lam=4.0, dtype=tf.int32)
    assert events.dtype is tf.int32
    assert abs(float(tf.reduce_mean(tf.cast(events, tf.float32))) - 4) < 0.5
    key, counter, alg = raw.StatelessRandomGetKeyCounterAlg(seed=[1, 2])
    again = raw.StatelessRandomNormalV2(shape=[3], key=key, counter=counter, alg=alg)
    np.testing.assert_array_equal(again, tf.random.stateless_normal([3], [1, 2]))


@pytest.mark.parametrize("traced", [False, True])
def test_distributions_with_parameters(traced: bool) -> None:
    generator = tf.Variable([1, 2, 3], dtype=tf.int64)

    def draw() -> Any:
        key, counter, alg = raw.StatelessRandomGetKeyCounterAlg(seed=[1, 2])
        bounds = {"means": 1.0, "minvals": -0.5, "maxvals": 4.0}
        return {
            "gamma": raw.RandomGamma(shape=[400], alpha=[2.0, 3.0], seed=1),
            "poisson": raw.RandomPoissonV2(shape=[400], rate=[2.0, 3.0], seed=1, dtype=tf.float32),
            "seeded gamma": raw.StatelessRandomGammaV2(
                shape=[400, 2], seed=[1, 2], alpha=[2.0, 3.0]
            ),
            "key gamma": raw.StatelessRandomGammaV3(
                shape=[400, 2], key=key, counter=counter, alg=alg, alpha=[2.0, 3.0]
            ),
            "binomial": raw.StatefulRandomBinomial(
                resource=generator.handle, algorithm=1, shape=[400, 2], counts=[4.0, 6.0],
                probs=0.5, dtype=tf.float32,
            ),
            "bounded": raw.StatelessParameterizedTruncatedNormal(
                shape=[400, 2], seed=[1, 2], stddevs=[1.0, 0.1], **bounds
            ),
            "rows": raw.ParameterizedTruncatedNormal(
                shape=[2, 400], means=[1.0, -3.0], stdevs=[1.0, 0.1], minvals=[0.0, -9.0],
                maxvals=[1.5, 9.0], seed=3,
            ),
            "far": raw.StatelessParameterizedTruncatedNormal(
                shape=[400], seed=[1, 2], means=0.0, stddevs=1.0, minvals=9.0, maxvals=30.0
            ),
        }  # fmt: skip

    found = {k: v.numpy() for k, v in (tf.function(draw) if traced else draw)().items()}
    for name in ("gamma", "poisson", "seeded gamma", "key gamma", "binomial"):
        assert found[name].shape == (400, 2)
        np.testing.assert_allclose(found[name].mean(0), [2.0, 3.0], atol=0.4)
    assert generator.numpy()[0] > 1
    assert found["bounded"].min() >= -0.5
    assert found["bounded"].max() <= 4.0
    np.testing.assert_allclose(found["bounded"].std(0), [0.9, 0.1], atol=0.1)
    np.testing.assert_allclose(found["rows"].mean(1), [0.8, -3.0], atol=0.15)
    assert 9.0 <= found["far"].min() < found["far"].max() < 11.0  # not all at the bound


def test_permutations_and_chance() -> None:
    usual = 498247692
    seed = tf.constant([usual, 1, 2], tf.uint32)
    found = raw.RandomIndexShuffle(index=tf.range(7), seed=seed, max_index=6, rounds=4)
    assert sorted(found.numpy().tolist()) == list(range(7))
    same = tf.random.experimental.index_shuffle(tf.range(7), tf.constant([1, 2], tf.uint32), 6)
    assert found.numpy().tolist() == same.numpy().tolist()
    other = raw.RandomIndexShuffle(index=tf.range(7), seed=seed + 1, max_index=6)
    assert found.numpy().tolist() != other.numpy().tolist()
    chance = [raw.NonDeterministicInts(shape=[4], dtype=tf.int32).numpy() for _ in range(2)]
    assert not np.array_equal(*chance)


def test_optionals() -> None:
    def run(c: Any) -> Any:
        found = raw.If(
            cond=c, input=[], Tout=[tf.variant],
            then_branch=lambda: raw.OptionalFromValue(components=[1.5, [2, 3]]),
            else_branch=lambda: raw.OptionalNone(),
        )[0]  # fmt: skip
        return raw.If(
            cond=raw.OptionalHasValue(optional=found), input=[found], Tout=[tf.float32, tf.int32],
            then_branch=lambda optional: raw.OptionalGetValue(
                optional=optional, output_types=[tf.float32, tf.int32], output_shapes=[[], [None]]
            ),
            else_branch=lambda optional: [0.0, tf.zeros([0], tf.int32)],
        )  # fmt: skip

    for call in (run, tf.function(run)):
        assert [x.numpy().tolist() for x in call(tf.constant(True))] == [1.5, [2, 3]]
        assert [x.numpy().tolist() for x in call(tf.constant(False))] == [0.0, []]
    with pytest.raises(InvalidArgumentError, match="this optional has no value"):
        raw.OptionalGetValue(
            optional=raw.OptionalNone(), output_types=[tf.int32], output_shapes=[[]]
        )


def test_constants_and_placeholders() -> None:
    assert raw.Const(value=tf.constant([1, 2]), dtype=tf.int32).numpy().tolist() == [1, 2]
    assert raw.Const(value=[1, 2], dtype=tf.float64).dtype is tf.float64
    with pytest.raises(InvalidArgumentError, match="value must be known and float32"):
        raw.Const(value=tf.constant([1, 2]), dtype=tf.float32)
    with tf.Graph().as_default() as graph:
        x = raw.Placeholder(dtype=tf.float32, shape=[None, 2])
        assert graph.inputs == [x]
    with pytest.raises(RuntimeError, match="needs a graph to be built"):
        raw.Placeholder(dtype=tf.float32)


def test_what_only_the_other_branch_has() -> None:
    assert raw.FakeParam(dtype=tf.float32, shape=[None, 3]).shape == [0, 3]
    assert raw.FakeParam(dtype=tf.string, shape=None).shape == []
    nothing = raw.FakeParam(dtype=tf.variant, shape=[])
    assert int(raw.TensorListLength(input_handle=nothing)) == 0


def test_quantized_tensors_are_joined() -> None:
    x, low, high = tf.quantization.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8)
    out, least, most = raw.QuantizedConcat(
        concat_dim=0, values=[x, x], input_mins=[low, low], input_maxes=[high, high]
    )
    assert [float(least), float(most)] == [float(low), float(high)]
    assert tf.cast(out, tf.int32).numpy().tolist() == [0, 255, 0, 255]


def test_counting_up_to_a_limit() -> None:
    v = tf.Variable(1)
    count = tf.function(lambda: raw.ResourceCountUpTo(resource=v.handle, limit=3, T=tf.int32))
    assert [int(count()), int(count()), int(v)] == [1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="ResourceCountUpTo: the limit"):
        count()
    assert int(v) == 3


def test_printing(capsys: Any) -> None:
    for call in (raw.Print, tf.function(lambda **given: raw.Print(**given))):
        out = call(input=[1.5, 2.0], data=[tf.constant([1, 2, 3, 4])], message="numbers: ")
        assert out.numpy().tolist() == [1.5, 2.0]
        assert capsys.readouterr().err == "numbers: [1 2 3 4]\n"
    with pytest.raises(UnsupportedError, match="first_n must be -1"):
        raw.Print(input=1, data=[], first_n=3)


def test_what_tensorflow_itself_cannot_run_here() -> None:
    """Its processor has no kernel of these."""
    assert [x.numpy().tolist() for x in raw.TopK(input=[[1, 3, 2]], k=2)] == [[[3, 2]], [[1, 2]]]
    found = raw.TileGrad(input=[[1.0, 2.0, 4.0, 8.0]], multiples=[1, 2])
    assert found.numpy().tolist() == [[5.0, 10.0]]
    s, u, v = raw.Svd(input=[[3.0, 0.0], [0.0, 2.0]], compute_uv=False)
    np.testing.assert_allclose(s, [3.0, 2.0])
    assert (u.shape, v.shape) == ((0,), (0,))
    logits = tf.random.stateless_normal([5, 1, 4], [1, 2])
    given = {"labels_indices": [[0, 0], [0, 1]], "sequence_length": [5]}
    loss, gradient = raw.CTCLossV2(inputs=logits, labels_values=[1, 3], **given)
    np.testing.assert_allclose(loss, tf.nn.ctc_loss([[1, 3]], logits, [2], [5]), rtol=1e-5)
    assert gradient.shape == logits.shape
    with pytest.raises(InvalidArgumentError, match="not enough time for the labels"):
        raw.CTCLossV2(inputs=logits[:1], labels_values=[1, 3], **given | {"sequence_length": [1]})


def test_gradients_that_are_prevented() -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = raw.PreventGradient(input=x, message="Not here.")
        return tape.gradient(y, x)

    for call in (slope, tf.function(slope)):
        with pytest.raises(LookupError, match="there is no gradient. Not here."):
            call(tf.constant([1.0, 2.0]))


def test_seeded_streams_move_on() -> None:
    tf.random.set_seed(1)
    first, second = [
        raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=6).numpy() for _ in range(2)
    ]
    assert not np.array_equal(first, second)
    tf.random.set_seed(2)  # both seeds are given: the global one does not matter
    again = raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=6)
    np.testing.assert_array_equal(again, first)
    draw = tf.function(lambda: raw.RandomUniform(shape=[2], dtype=tf.float32, seed=5, seed2=6))
    np.testing.assert_array_equal(draw(), first)
    np.testing.assert_array_equal(draw(), second)


def test_what_is_not_supported() -> None:
    with pytest.raises(UnsupportedError, match="Gather: validate_indices must be True, got False"):
        raw.Gather(params=[1], indices=[0], validate_indices=False)
    with pytest.raises(UnsupportedError, match="Philox"):
        raw.StatelessRandomNormalV2(shape=[1], key=[1], counter=[1, 2], alg=2)
