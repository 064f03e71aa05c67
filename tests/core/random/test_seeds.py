"""Seeds and generator states: the tables are recorded from TensorFlow 2.21."""

import random

import numpy as np
import pytest

from weft._src.core.random_numbers import seeds
from weft._src.core.random_numbers.distributions import uniform_float, uniform_full_int

# Seed, key, counter words.
SCRAMBLED = [
    ((0, 0), 16103252647613272195, [0, 18388005586443337812]),
    ((1, 2), 10413732777507651514, [0, 17830669156045600267]),
    ((-1, 5), 14871329193082503880, [0, 13010662996493797292]),
    ((9223372036854775807, -9223372036854775808), 2032754897972228665, [0, 9442655896330659279]),
    ((2147483648, -2147483648), 12993173707806214846, [0, 14990344563157903409]),
]

# Seed, state.
STATES = [
    (0, [0, 0, 0]),
    (7, [7, 0, 0]),
    (-1, [-1, -1, -1]),
    (2**63, [-(2**63), 0, 0]),
    (2**64 + 3, [3, 1, 0]),
    (-(2**63), [-(2**63), -1, -1]),
    (-(2**64), [0, -1, -1]),
    (2**191, [0, 0, -(2**63)]),
    (2**200, [0, 0, 0]),
    ([], [0, 0, 0]),
    ([1], [0, 0, 1]),
    ([1, 2], [0, 1, 2]),
    ([1, 2, 3], [1, 2, 3]),
    ([1, 2, 3, 4], [1, 2, 3]),
    ([2**64 - 1], [0, 0, -1]),
    ([2**63, -1], [0, -(2**63), -1]),
    (np.int32(-2), [0, 0, -2]),
    (np.uint64(2**63), [0, 0, -(2**63)]),
    (np.array([[1, 2]]), [0, 1, 2]),
]

# Numbers skipped, state before, state after.
SKIPPED = [
    (1, [-1, 0, 9], [255, 1, 9]),
    (5, [-1, -1, 9], [1279, 0, 9]),
    (2**56, [0, 0, 9], [0, 0, 9]),
    (-1, [0, 0, 9], [-256, 0, 9]),
    (-1, [-1, 0, 9], [-257, 0, 9]),
    (-1, [-1, -1, 9], [-257, -1, 9]),
    (-1, [4294967295, 3, 9], [4294967039, 3, 9]),
    (-1, [1000000, 5, 9], [999744, 5, 9]),
    (-1, [1099511627853, 0, 9], [1099511627597, 1, 9]),
    (-5, [0, 0, 9], [-1280, 0, 9]),
    (-5, [-1, 0, 9], [-1281, 0, 9]),
    (-5, [-1, -1, 9], [-1281, -1, 9]),
    (-5, [4294967295, 3, 9], [4294966015, 3, 9]),
    (-5, [1000000, 5, 9], [998720, 5, 9]),
    (-5, [1099511627853, 0, 9], [1099511626573, 1, 9]),
    (1099511627776, [0, 0, 9], [281474976710656, 0, 9]),
    (1099511627776, [-1, 0, 9], [281474976710655, 1, 9]),
    (1099511627776, [-1, -1, 9], [281474976710655, 0, 9]),
    (1099511627776, [4294967295, 3, 9], [281479271677951, 3, 9]),
    (1099511627776, [1000000, 5, 9], [281474977710656, 5, 9]),
    (1099511627776, [1099511627853, 0, 9], [282574488338509, 0, 9]),
    (72057594037927935, [0, 0, 9], [-256, 0, 9]),
    (72057594037927935, [-1, 0, 9], [-257, 0, 9]),
    (72057594037927935, [-1, -1, 9], [-257, -1, 9]),
    (72057594037927935, [4294967295, 3, 9], [4294967039, 3, 9]),
    (72057594037927935, [1000000, 5, 9], [999744, 5, 9]),
    (72057594037927935, [1099511627853, 0, 9], [1099511627597, 1, 9]),
    (36028797018963968, [0, 0, 9], [-9223372036854775808, 0, 9]),
    (36028797018963968, [-1, 0, 9], [9223372036854775807, 1, 9]),
    (36028797018963968, [-1, -1, 9], [9223372036854775807, 0, 9]),
    (36028797018963968, [4294967295, 3, 9], [-9223372032559808513, 3, 9]),
    (36028797018963968, [1000000, 5, 9], [-9223372036853775808, 5, 9]),
    (36028797018963968, [1099511627853, 0, 9], [-9223370937343147955, 0, 9]),
    (-1125899906842624, [0, 0, 9], [-288230376151711744, 0, 9]),
    (-1125899906842624, [-1, 0, 9], [-288230376151711745, 1, 9]),
    (-1125899906842624, [-1, -1, 9], [-288230376151711745, 0, 9]),
    (-1125899906842624, [4294967295, 3, 9], [-288230371856744449, 3, 9]),
    (-1125899906842624, [1000000, 5, 9], [-288230376150711744, 5, 9]),
    (-1125899906842624, [1099511627853, 0, 9], [-288229276640083891, 0, 9]),
    (-16777215, [0, 0, 9], [-4294967040, 0, 9]),
    (-16777215, [-1, 0, 9], [-4294967041, 0, 9]),
    (-16777215, [-1, -1, 9], [-4294967041, -1, 9]),
    (-16777215, [4294967295, 3, 9], [255, 3, 9]),
    (-16777215, [1000000, 5, 9], [-4293967040, 5, 9]),
    (-16777215, [1099511627853, 0, 9], [1095216660813, 1, 9]),
    (36028797027352576, [0, 0, 9], [-9223372034707292160, 0, 9]),
    (36028797027352576, [-1, 0, 9], [-9223372034707292161, 1, 9]),
    (36028797027352576, [-1, -1, 9], [-9223372034707292161, 0, 9]),
    (36028797027352576, [4294967295, 3, 9], [-9223372030412324865, 3, 9]),
    (36028797027352576, [1000000, 5, 9], [-9223372034706292160, 5, 9]),
    (36028797027352576, [1099511627853, 0, 9], [-9223370935195664307, 0, 9]),
    (-36028797018963968, [0, 0, 9], [-9223372036854775808, 0, 9]),
    (-36028797018963968, [-1, 0, 9], [9223372036854775807, 1, 9]),
    (-36028797018963968, [-1, -1, 9], [9223372036854775807, 0, 9]),
    (-36028797018963968, [4294967295, 3, 9], [-9223372032559808513, 3, 9]),
    (-36028797018963968, [1000000, 5, 9], [-9223372036853775808, 5, 9]),
    (-36028797018963968, [1099511627853, 0, 9], [-9223370937343147955, 0, 9]),
]

# Global seed; the first numbers of ops with seeds 5, -2, 2**31 + 9 and 0, then of one without.
STATEFUL = [
    (7, [0.8669310808, 0.4966332912, 0.0275971889, 0.7537285089], 0.8344538212),
    (-3, [0.8379977942, 0.3750067949, 0.9510113001, 0.8995765448], 0.6763781309),
    (0, [0.9263930321, 0.9913191795, 0.5883824825, 0.0197570324], 0.2919751406),
    (2**31 - 1, [0.9263930321, 0.9913191795, 0.5883824825, 0.0197570324], 0.2250841856),
    (2**31 + 5, [0.6191072464, 0.9976109266, 0.2660646439, 0.4526180029], 0.1212444305),
    (2**40 + 1, [0.9508677721, 0.5695385933, 0.0642734766, 0.1990065575], 0.8806798458),
]

FOLDED = [
    ((1, 2), 0, "int32", [1105988140, 0]),
    ((1, 2), -3, "int32", [1105988140, -3]),
    ((1, 2), 77, "uint32", [1105988140, 77]),
    ((1, 2), 77, "int64", [7464880146280614444, 77]),
    ((-5, 2**31 - 1), 2**40, "int64", [6948465983245821415, 2**40]),
    ((-5, 2**31 - 1), 77, "uint64", [6948465983245821415, 77]),
]


@pytest.mark.parametrize(("seed", "key", "counter"), SCRAMBLED)
def test_seeds_are_scrambled_as_tensorflow_does(seed, key, counter):
    low, high = counter
    assert seeds.key_counter_from_seed(seed) == (key, high << 64 | low)
    assert seeds.key_counter_from_seed(np.array(seed, np.int64)) == (key, high << 64 | low)


@pytest.mark.parametrize("seed", [(1,), (1, 2, 3)])
def test_a_seed_has_two_parts(seed):
    with pytest.raises(ValueError, match="values to unpack"):
        seeds.key_counter_from_seed(seed)


@pytest.mark.parametrize(("global_seed", "seeded", "unseeded"), STATEFUL)
def test_stateful_ops_start_where_tensorflow_does(global_seed, seeded, unseeded):
    def first(op_seed):
        key, counter = seeds.key_counter_from_op_seed(global_seed, op_seed)
        return float(uniform_float(key, counter, (), np.float32))

    assert [round(first(op_seed), 10) for op_seed in (5, -2, 2**31 + 9, 0)] == seeded
    # An eager op without a seed takes one from Python's generator.
    assert round(first(random.Random(global_seed).randint(0, 2**31 - 1)), 10) == unseeded


def test_stateful_ops_move_on_by_256():
    key, counter = seeds.key_counter_from_op_seed(7, 1)
    after_three = uniform_float(key, counter + 3 * seeds.SKIP_PER_SAMPLE, (), np.float32)
    assert round(float(after_three), 10) == 0.3771557808


def test_default_global_seed():
    key, counter = seeds.key_counter_from_op_seed(seeds.DEFAULT_GLOBAL_SEED, 1)
    assert round(float(uniform_float(key, counter, (), np.float32)), 10) == 0.2390373945


@pytest.mark.parametrize(("seed", "expected"), STATES)
def test_create_rng_state(seed, expected):
    state = seeds.create_rng_state(seed)
    assert state.dtype == np.int64
    assert state.tolist() == expected
    assert seeds.create_rng_state(seed, "auto_select").tolist() == expected


def test_create_rng_state_refuses_longer_words():
    with pytest.raises(ValueError, match=r"at most 64 bits, got 18446744073709551616 in \["):
        seeds.create_rng_state([2**64, 1])


def test_create_rng_state_for_threefry_has_two_words():
    assert seeds.create_rng_state(7, "threefry").tolist() == [7, 0]
    assert seeds.create_rng_state([1, 2, 3], "threefry").tolist() == [1, 2]


@pytest.mark.parametrize(("delta", "before", "after"), SKIPPED)
def test_skip(delta, before, after):
    state = np.array(before)
    assert seeds.skip(state, delta).tolist() == after
    assert state.tolist() == before


@pytest.mark.parametrize("words", [[3, 4, 9], [-1, -2, -3], [2**63 - 1, -(2**63), 0]])
def test_states_and_key_counters_convert_both_ways(words):
    key, counter = seeds.key_counter_from_state(np.array(words))
    assert 0 <= key < 2**64
    assert 0 <= counter < 2**128
    assert seeds.state_from_key_counter(key, counter).tolist() == words


@pytest.mark.parametrize(
    ("batches", "samples", "counters"),
    [(1, 0, 38400), (1, 1, 51200), (1, 5, 102400), (3, 1, 153600), (3, 2, 192000)],
)
def test_binomial_draws_skip_more(batches, samples, counters):
    after = seeds.skip(np.array([0, 0, 9]), seeds.binomial_delta(batches, samples))
    assert after.tolist() == [counters, 0, 9]


def test_make_seeds_and_split():
    state = np.array([3, 4, 9])
    keys = [1382690622331518172, -6868921752985532874, 7358659805260995807]
    made, after = seeds.make_seeds(state, 3)
    assert made.tolist() == [keys, [0, 0, 0]]
    assert after.tolist() == [771, 4, 9]
    children, after_split = seeds.split_state(state, 3)
    assert [child.tolist() for child in children] == [[0, 0, key] for key in keys]
    assert after_split.tolist() == [771, 4, 9]


def test_split_seed():
    expected = [[1228973543, 1617815807], [-482749029, 735362078], [1508721297, -262820538]]
    split = seeds.split_seed((-5, 2**31 - 1), 3, np.int32)
    assert split.dtype == np.int32
    assert split.tolist() == expected
    wide = seeds.split_seed((1, 2), 1, np.int64)
    assert wide.tolist() == [[7464880146280614444, 1591045637757961278]]


@pytest.mark.parametrize(("seed", "data", "dtype", "expected"), FOLDED)
def test_fold_in(seed, data, dtype, expected):
    folded = seeds.fold_in_seed(seed, data, dtype)
    assert folded.dtype == dtype
    assert folded.tolist() == expected


def test_neighbouring_seeds_give_unrelated_numbers():
    drawn = [
        uniform_full_int(*seeds.key_counter_from_seed((a, b)), (4,), np.uint32)
        for a in range(-5, 5)
        for b in range(-5, 5)
    ]
    assert np.unique(drawn).size == 400
