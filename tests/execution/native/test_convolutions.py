"""Convolutions by tiles: regions of images, channels apart, blocks, and kernels for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, compile_native
from weft._src.core import dtypes, machine_offers
from weft._src.core.flags import flags
from weft._src.core.machine_jobs import by_numpy
from weft._src.execution.background import worker
from weft._src.execution.native import window_kernels
from weft._src.execution.native.loops.kernels import blocking
from weft._src.execution.native.loops.kernels.blocking import Level, Places, blocks_of
from weft._src.execution.native.machine import llvm
from weft._src.ops import dispatch
from weft._src.ops.nn import window_machine

rng = np.random.default_rng(11)


@pytest.fixture(params=[16, 32, 64], ids=lambda n: f"{n} bytes")
def _vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "vector_bytes", lambda: request.param)


def loops_of(function: Any, *arrays: Any) -> str:
    given = tf.function(function).experimental_get_compiler_ir(*map(tf.constant, arrays))
    return str(given(stage="loops"))


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    return rng.normal(size=shape).astype(dtype)


def with_gradients(convolve: Any) -> Any:
    def gradients(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = convolve(x, w)
        return y, tape.gradient(y, [x, w], output_gradients=tf.cos(y))

    return gradients


CASES: list[tuple[Any, Any, Any, Any, Any]] = [
    # image, filters, strides, padding, dilations
    ((2, 26, 23, 5), (3, 3, 5, 19), 1, "SAME", 1),  # nine regions
    ((2, 24, 27, 6), (5, 3, 6, 17), (2, 1), "SAME", 1),  # with a border
    ((3, 19, 23, 12), (1, 1, 12, 35), 2, "VALID", 1),  # pixels that no window meets
    ((2, 13, 11, 8), (1, 1, 8, 33), 1, "VALID", 1),  # one long line
    ((2, 15, 12, 7), (3, 5, 7, 21), (3, 2), [[0, 0], [2, 0], [1, 4], [0, 0]], 1),
    ((1, 21, 22, 6), (3, 3, 6, 34), 1, [[0, 0], [5, 3], [4, 6], [0, 0]], (2, 1)),
    ((3, 5, 4, 40), (3, 3, 40, 66), 1, "SAME", 1),  # short lines
    ((1, 3, 3, 32), (1, 1, 32, 160), 1, "VALID", 1),  # filters as they are
    ((2, 30, 30, 5), (7, 7, 5, 16), 2, [[0, 0], [3, 3], [3, 3], [0, 0]], 1),
    ((4, 9, 8, 70), (3, 2, 70, 21), 1, "SAME", 1),  # images in stripes of channels, in parts
    ((1, 13, 10, 67), (2, 3, 67, 18), 1, "VALID", (2, 1)),
    ((2, 13, 10, 64), (3, 3, 64, 18), (2, 1), "SAME", 1),
    ((3, 5, 7, 1024), (1, 1, 1024, 70), 1, "VALID", 1),  # pixels a page apart
]


@pytest.mark.parametrize(("image", "filters", "strides", "padding", "dilations"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_regions(
    image: Any, filters: Any, strides: Any, padding: Any, dilations: Any, dtype: Any
) -> None:
    x, w = normal(*image, dtype=dtype), normal(*filters, dtype=dtype)

    def convolve(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, strides, padding, dilations=dilations)

    loops = loops_of(with_gradients(convolve), x, w)
    assert loops.count("tiles(") == 3, loops  # neither BLAS nor a matrix of windows
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    check(with_gradients(convolve), x, w, rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("dtype", [np.float16, "bfloat16"])
def test_narrow_floats(dtype: Any) -> None:
    kind = tf.bfloat16.as_numpy_dtype if dtype == "bfloat16" else dtype
    x, w = normal(2, 14, 15, 6, dtype=kind), normal(3, 3, 6, 20, dtype=kind)

    def convolve(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, 1, "SAME")

    check(convolve, x, w, rtol=2e-2, atol=2e-2)
    check(lambda x, w: tf.nn.depthwise_conv2d(x, w[..., :1], [1, 1, 1, 1], "SAME"), x, w, atol=1e-2)


def test_no_images() -> None:
    x, w = normal(0, 20, 22, 6), normal(3, 3, 6, 20)
    check(with_gradients(lambda x, w: tf.nn.conv2d(x, w, 2, "SAME")), x, w)
    one_each = with_gradients(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"))
    check(one_each, x, w[..., :1])


CHANNELS: list[tuple[Any, Any, Any, Any, Any]] = [
    # image, filters, stride, padding, dilations
    ((2, 17, 13, 21), (3, 3), 1, "SAME", 1),
    ((2, 16, 13, 37), (3, 5), 2, "SAME", 1),
    ((1, 19, 14, 48), (3, 2), 1, "VALID", 2),
    ((2, 12, 15, 33), (5, 5), 3, [[0, 0], [2, 6], [0, 1], [0, 0]], 1),
    ((4, 7, 7, 100), (3, 3), 1, "SAME", 1),
    ((1, 9, 9, 40), (9, 9), 1, "SAME", 1),  # so many regions that there is a border
]


@pytest.mark.parametrize(("image", "window", "stride", "padding", "dilations"), CHANNELS)
@pytest.mark.usefixtures("_vectors")
def test_channels_apart(image: Any, window: Any, stride: int, padding: Any, dilations: Any) -> None:
    x, w = normal(*image), normal(*window, image[-1], 1)
    rates = (dilations, dilations)

    def convolve(x: Any, w: Any) -> Any:
        strides = [1, stride, stride, 1]
        return tf.nn.depthwise_conv2d(x, w, strides, padding, dilations=rates)

    assert "tiles(" in loops_of(convolve, x, w)
    check(with_gradients(convolve), x, w, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("channels", "filters"), [(12, 2), (3, 7), (1, 20)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_several_filters_for_each_channel(
    channels: int, filters: int, stride: int, dtype: Any
) -> None:
    """The channel is written down for each of them."""
    x, w = [v.astype(dtype) for v in (normal(2, 17, 13, channels), normal(3, 3, channels, filters))]

    def convolve(x: Any, w: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], "SAME")

    assert "tiles(" in loops_of(convolve, x, w)
    check(with_gradients(convolve), x, w, rtol=1e-4, atol=1e-3)


def test_few_pixels_of_channels_apart_are_sums() -> None:
    x, w = normal(1, 5, 4, 3), normal(3, 3, 3, 2)

    def convolve(x: Any, w: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")

    assert "tiles(" not in loops_of(convolve, x, w)
    check(with_gradients(convolve), x, w, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("cache", [4 << 10, 40 << 10, 1 << 30])
def test_blocks_do_not_change_a_bit(cache: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = normal(3, 20, 21, 24), normal(3, 3, 24, 100)
    run = with_gradients(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
    whole, values = compile_native(run, x, w)
    wanted = whole(*values)
    monkeypatch.setattr(blocking, "second_cache_bytes", lambda: cache)
    cut, values = compile_native(run, x, w)
    for got, expected in zip(cut(*values), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_how_a_product_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "second_cache_bytes", lambda: 1 << 20)
    monkeypatch.setattr(llvm, "vector_bytes", lambda: 64)
    places = Places(
        levels=(Level(100, 56 * 4096, 0, 56 * 512),), rows=56, columns=512, vectors=2,
        depth=((4096, 1, 32),), a_row=4096, b_panel=4096 * 32, c_row=512, line_elements=56 * 4096,
    )  # fmt: skip
    blocks = blocks_of(places, dtypes.float32, shared=True)
    # A panel and a line take up an eighth of the cache: 88 numbers for each of 372 steps at most.
    assert blocks.depth == [(16, 256, 8192), (1, 0, 0), (256, 1, 32)]
    assert (blocks.steps, blocks.chunks) == (1, 16)
    assert blocks.count >= 16
    assert blocks.lines * (56 * 256 + 56 * 512) * 4 <= 1 << 20


@pytest.mark.parametrize("rows", [1, 6, 7, 9, 14, 28, 56, 57, 112])
@pytest.mark.parametrize("vectors", [1, 2, 3, 4])
def test_tiles_cover_all_rows(rows: int, vectors: int) -> None:
    found = blocking.even_rows(rows, vectors)
    assert sum(count * height for count, height in found) == rows
    assert max(height for _, height in found) <= blocking.most_rows(vectors)


@pytest.mark.parametrize("register", [16, 32, 64])
@pytest.mark.parametrize("columns", [1, 20, 64, 300])
def test_rows_a_page_apart_make_low_tiles(
    register: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvm, "vector_bytes", lambda: register)

    def width(apart: int) -> int:
        return blocking.vectors_for(columns, dtypes.float32, 56, apart)

    assert width(0) == width(4092)
    if blocking.most_rows(width(0)) <= 8:  # low enough as it is: nothing changes
        assert width(4096) == width(0)
    elif columns >= 4 * register // 4:
        assert blocking.most_rows(width(8192)) <= 8


@pytest.mark.parametrize(("n", "k"), [(16, 256), (37, 130), (100, 47), (9, 500), (64, 64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("_vectors")
def test_matrices_are_turned_into_stripes(n: int, k: int, dtype: Any) -> None:
    a, b = normal(70, k, dtype=dtype), normal(n, k, dtype=dtype)

    def function(a: Any, b: Any) -> Any:
        return tf.matmul(a, b, transpose_b=True)

    if n * k >= 4096:
        assert "turned(" in loops_of(function, a, b)
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    check(function, a, b, rtol=tolerance, atol=10 * tolerance)


def test_filters_that_a_loop_does_not_change() -> None:
    x, w = normal(2, 14, 14, 24), normal(3, 3, 24, 24)

    def function(x: Any, w: Any) -> Any:
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.conv2d(x, w / 20.0, 1, "SAME")
            x = tf.tanh(tape.gradient(y, x, output_gradients=tf.tanh(y)))
        return x

    native = tf.function(function, jit_compile=True)(tf.constant(x), tf.constant(w))
    np.testing.assert_allclose(native, function(tf.constant(x), tf.constant(w)), atol=1e-4)


# --- arrays -------------------------------------------------------------------------------------


@pytest.fixture(name="kernels")
def _kernels(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Machine code for convolutions of arrays of any size, with guards around them."""
    monkeypatch.setattr(window_machine, "_FROM", 0)
    monkeypatch.setattr(window_machine.offer, "kernels", window_kernels.WindowKernels())
    monkeypatch.setattr(flags, "guard_pages", "end")
    # On a busy machine an op that takes long becomes a program of its own, and calls no kernel.
    monkeypatch.setattr(dispatch, "run_large", dispatch.run_kernel)
    calls = []
    for name in ("convolved", "filter_gradient", "input_gradient", "convolved_channels",
                 "channels_filter_gradient", "channels_input_gradient"):  # fmt: skip
        kernel = getattr(window_kernels.WindowKernels, name)

        def watched(*given: Any, kernel: Any = kernel, name: str = name) -> Any:
            out = kernel(*given)
            for _ in range(3):
                if out is None:  # what is missing is being loaded
                    worker.wait()
                    out = kernel(*given)
            calls.append((name, out is not None))
            return out

        monkeypatch.setattr(window_kernels.WindowKernels, name, watched)
    return calls


@pytest.mark.parametrize(("image", "filters", "strides", "padding", "dilations"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_convolved(
    image: Any, filters: Any, strides: Any, padding: Any, dilations: Any, dtype: Any, kernels: Any
) -> None:
    x, w = normal(*image, dtype=dtype), normal(*filters, dtype=dtype)
    run = with_gradients(lambda x, w: tf.nn.conv2d(x, w, strides, padding, dilations=dilations))
    given = tf.constant(x), tf.constant(w)
    y, (dx, dw) = run(*given)
    names = {name for name, done in kernels if done}
    assert names == {"convolved", "filter_gradient", "input_gradient"}
    with by_numpy():
        wanted, (wanted_dx, wanted_dw) = run(*given)
    tolerance = 1e-4 if dtype is np.float32 else 1e-11
    for got, expected in ((y, wanted), (dx, wanted_dx), (dw, wanted_dw)):
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize(("image", "window", "stride", "padding", "dilations"), CHANNELS)
def test_channels_of_arrays_are_convolved(
    image: Any, window: Any, stride: int, padding: Any, dilations: Any, kernels: Any
) -> None:
    x, w = normal(*image), normal(*window, image[-1], 1)
    rates = (dilations, dilations)
    run = with_gradients(
        lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding, dilations=rates)
    )
    given = tf.constant(x), tf.constant(w)
    y, (dx, dw) = run(*given)
    assert {"convolved_channels", "channels_filter_gradient"} <= {n for n, done in kernels if done}
    with by_numpy():
        wanted, (wanted_dx, wanted_dw) = run(*given)
    for got, expected in ((y, wanted), (dx, wanted_dx), (dw, wanted_dw)):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)


def test_other_layouts_of_arrays(kernels: Any) -> None:
    x, w = normal(2, 6, 20, 23), normal(3, 3, 6, 20)
    run = with_gradients(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", data_format="NCHW"))
    given = tf.constant(x), tf.transpose(tf.constant(w.transpose(3, 2, 1, 0)))
    y, (dx, dw) = run(*given)
    assert all(done for _, done in kernels)
    with by_numpy():
        wanted, (wanted_dx, wanted_dw) = run(*given)
    for got, expected in ((y, wanted), (dx, wanted_dx), (dw, wanted_dw)):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)


def test_kernels_are_loaded_when_numpy_has_worked_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    offer: machine_offers.Offer[Any] = machine_offers.Offer()
    offer.install(asked.append)
    monkeypatch.setattr(window_machine, "offer", offer)
    nothing = np.zeros(3, np.float32)

    def attempt(size: int = 1 << 30, dtype: Any = nothing.dtype) -> Any:
        return window_machine.attempted(size, dtype, lambda kernels: None, lambda: nothing)

    monkeypatch.setattr(machine_offers, "_SPENT", -1.0)
    attempt(size=10)
    attempt(dtype=np.dtype(np.int32))
    with by_numpy():
        attempt()
    monkeypatch.setattr(flags, "deterministic", True)
    attempt()
    assert not asked
    monkeypatch.setattr(flags, "deterministic", False)
    attempt()
    attempt()
    assert asked == [offer._take]


@pytest.mark.parametrize("size", [(8, 6), (9, 7)])  # with and without something left over
@pytest.mark.parametrize("window", [2, (3, 2)])
def test_maxima_of_windows_beside_each_other(size: Any, window: Any) -> None:
    x = rng.integers(0, 3, size=(2, *size, 5)).astype(np.float32)  # many are equally large
    x[0, 0, 0, 0], x[1, 1, 1, 1] = np.nan, np.inf

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, window, window, "VALID")
        return y, tape.gradient(y, x, output_gradients=1.0 + tf.square(y))

    assert "fill" not in loops_of(gradient, x)
    check(gradient, x)


@pytest.mark.parametrize(("inputs", "outputs"), [(512, 130), (130, 512)])
def test_filters_of_single_pixels_with_many_channels(inputs: int, outputs: int) -> None:
    """Their gradient is a plain product."""
    x = rng.normal(size=(2, 5, 6, inputs)).astype(np.float32)
    g = rng.normal(size=(2, 5, 6, outputs)).astype(np.float32)

    def gradient(x: Any, g: Any) -> Any:
        with tf.GradientTape() as tape:
            w = tf.zeros((1, 1, inputs, outputs))
            tape.watch(w)
            y = tf.nn.conv2d(x, w, 1, "VALID")
        return tape.gradient(y, w, output_gradients=g)

    check(gradient, x, g, rtol=1e-4, atol=1e-4)
