"""Recorded calls of raw ops on sparse and ragged tensors."""

from __future__ import annotations

import numpy as np

from support.raw_call import Call, f32, i32, i64, numbers, texts

# --- sparse and ragged ---------------------------------------------------------------------------


def _sparse() -> list[Call]:
    a = {
        "a_indices": i64([[0, 1], [1, 0], [1, 2]]),
        "a_values": f32([1, 2, -3]),
        "a_shape": i64([2, 3]),
    }
    b = {"b_indices": i64([[0, 1], [1, 1]]), "b_values": f32([-5, 4]), "b_shape": i64([2, 3])}
    sp = {"sp_indices": a["a_indices"], "sp_values": a["a_values"], "sp_shape": a["a_shape"]}
    none = np.zeros(0, f32)
    counted = {"weights": none, "binary_output": False}
    weighted = {"weights": f32([0.5, 1, 2, 4]), "binary_output": False}
    words = {
        "indices": [i64([[0, 0], [1, 0], [1, 1]])],
        "values": [texts(b"a", b"b", b"c")],
        "shapes": [i64([2, 2])],
        "dense_inputs": [texts(b"x", b"y").reshape(2, 1)],
    }
    names = {"hashed_output": False, "num_buckets": 0, "hash_key": 956888297470,
             "out_type": "string", "internal_type": "string"}  # fmt: skip
    hashed = {**names, "hashed_output": True, "num_buckets": 1000, "out_type": "int64"}
    return [
        Call("SparseSparseMaximum", {**a, **b}),
        Call("SparseSparseMinimum", {**a, **b}),
        *[
            Call(f"SparseDenseCwise{op}", {**sp, "dense": numbers(2, 3, low=1, high=2)})
            for op in ("Add", "Div", "Mul")
        ],
        Call("SparseDenseCwiseMul", {**sp, "dense": numbers(3)}),
        Call("SparseTensorDenseAdd", {**a, "b": numbers(2, 3)}),
        *[
            Call(
                "SparseSplit",
                {"split_dim": i64(axis), "indices": a["a_indices"], "values": a["a_values"],
                 "shape": a["a_shape"], "num_split": count},
                ("split_dim",),
            )
            for axis, count in ((1, 2), (0, 2), (1, 3))
        ],
        Call("SparseAddGrad", {"backprop_val_grad": f32([1, 2, 3]), "a_indices": a["a_indices"],
                               "b_indices": b["b_indices"],
                               "sum_indices": i64([[0, 1], [1, 0], [1, 1]])}),
        Call("SparseSliceGrad", {"backprop_val_grad": f32([5, 6]), "input_indices": a["a_indices"],
                                 "input_start": i64([1, 0]),
                                 "output_indices": i64([[0, 0], [0, 2]])}),
        *[
            Call(op, {"reverse_index_map": i64([0, 3, 1]), "grad_values": f32([1, 2, 4, 8])})
            for op in ("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
        ],
        *[
            Call("DenseToDenseSetOperation", {"set1": i64([[1, 2], [3, 3]]),
                                              "set2": i64([[2, 5, 1], [4, 4, 3]]),
                                              "set_operation": kind})
            for kind in ("a-b", "b-a", "intersection", "union")
        ],
        Call("DenseToSparseSetOperation", {"set1": i64([[1, 2], [3, 3]]),
                                           "set2_indices": i64([[0, 0], [1, 0], [1, 1]]),
                                           "set2_values": i64([2, 3, 9]), "set2_shape": i64([2, 2]),
                                           "set_operation": "union"}),
        Call("DenseCountSparseOutput", {"values": i32([1, 1, 3, 0]), **counted}),
        Call("DenseCountSparseOutput", {"values": i32([[1, 1], [3, 0]]), **counted,
                                        "minlength": 6}),
        Call("DenseCountSparseOutput", {"values": i32([1, 1, 3, 0]), **weighted, "maxlength": 2}),
        Call("DenseCountSparseOutput", {"values": i32([1, 1, 3, 0]), "weights": none,
                                        "binary_output": True}),
        Call("SparseCountSparseOutput", {"indices": i64([[0, 0], [0, 2], [2, 1], [2, 2]]),
                                         "values": i64([1, 1, 3, 0]), "dense_shape": i64([3, 3]),
                                         **weighted}),
        *[
            Call("SparseBincount", {"indices": i64([[0, 0], [0, 2], [2, 1], [2, 2]]),
                                    "values": i64([1, 1, 3, 9]), "dense_shape": i64([3, 3]),
                                    "size": i64(4), **form})
            for form in (weighted, {"weights": none}, {"weights": none, "binary_output": True})
        ],
        Call("SparseBincount", {"indices": i64([[0], [4]]), "values": i64([1, 1]),
                                "dense_shape": i64([5]), "size": i64(3), "weights": none}),
        *[
            Call(op, {"input_indices": i64([[0, 0], [0, 2], [2, 1]]),
                      "input_values": f32([1, 2, 3]), "input_shape": i64([3, 3]),
                      "reduction_axes": i32([1]), **form},
                 ("reduction_axes",))
            for op in ("SparseReduceSumSparse", "SparseReduceMaxSparse")
            for form in ({}, {"keep_dims": True})
        ],
        Call("RaggedCountSparseOutput", {"splits": i64([0, 2, 2, 4]), "values": i64([1, 1, 3, 0]),
                                         **weighted}),
        Call("SparseCross", {**words, **names}),
        Call("SparseCross", {**words, **hashed}),
        Call("SparseCrossV2", {**words, "sep": np.array(b"-", object)}, ("sep",)),
    ]  # fmt: skip


def _ragged() -> list[Call]:
    values, splits = f32([1, 2, 3, 4, 5, 6, 7]), i64([0, 3, 3, 7])
    none = np.zeros(0, f32)
    rows = {"values": values, "default_value": f32(-1)}
    nested = [i64([0, 2, 2, 3]), i64([0, 1, 4, 7])]
    crossed = {
        "ragged_values": [texts(b"a", b"b", b"c")],
        "ragged_row_splits": [i64([0, 1, 3])],
        "sparse_indices": [i64([[0, 0], [1, 0]])],
        "sparse_values": [i64([7, 8])],
        "sparse_shape": [i64([2, 2])],
        "dense_inputs": [texts(b"x", b"y").reshape(2, 1)],
        "input_order": "DRS",
        "num_buckets": 0,
        "hash_key": 956888297470,
        "out_row_splits_type": "int64",
    }
    return [
        *[
            Call("RaggedTensorToTensor", {"shape": i64(shape), **rows,
                                          "row_partition_tensors": [splits],
                                          "row_partition_types": ["ROW_SPLITS"]})
            for shape in ([-1, -1], [2, -1], [-1, 6], [5, 2])
        ],
        Call("RaggedTensorToTensor", {"shape": i64([-1, -1]), **rows,
                                      "row_partition_tensors": [i64(4), i64([0, 0, 0, 2, 2, 2, 2])],
                                      "row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}),
        Call("RaggedTensorToTensor", {"shape": i64([-1, -1, 2]), **rows,
                                      "row_partition_tensors": nested,
                                      "row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]}),
        Call("RaggedTensorToTensor", {"shape": i64([-1, -1, -1]), **rows, "row_partition_types": [
                                          "FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"],
                                      "row_partition_tensors": [i64(3), i64([0, 0, 2]),
                                                                i64([0, 1, 1, 1, 2, 2, 2])]}),
        Call("RaggedTensorToTensor", {"shape": i64([-1, 4, 2]), "values": numbers(7, 2),
                                      "default_value": f32([8, 9]),
                                      "row_partition_tensors": [splits],
                                      "row_partition_types": ["ROW_SPLITS"]}),
        Call("RaggedTensorToSparse", {"rt_nested_splits": nested, "rt_dense_values": values}),
        Call("RaggedRange", {"starts": i32([0, 5]), "limits": i32([3, 1]), "deltas": i32(1)}),
        Call("RaggedGather", {"params_nested_splits": [splits], "params_dense_values": values,
                              "indices": i32([2, 0, 2]), "OUTPUT_RAGGED_RANK": 1}),
        Call("RaggedGather", {"params_nested_splits": nested, "params_dense_values": values,
                              "indices": i32([2, 0]), "OUTPUT_RAGGED_RANK": 2}),
        Call("RaggedBincount", {"splits": splits, "values": i32([1, 1, 0, 3, 9, 2, 3]),
                                "size": i32(4), "weights": none}),
        Call("RaggedBincount", {"splits": splits, "values": i32([1, 1, 0, 3, 9, 2, 3]),
                                "size": i32(4), "weights": numbers(7)}),
        Call("RaggedBincount", {"splits": splits, "values": i32([1, 1, 0, 3, 9, 2, 3]),
                                "size": i32(4), "weights": none, "binary_output": True}),
        Call("RaggedCross", {**crossed, "hashed_output": False, "out_values_type": "string"},
             ("ragged_values", "sparse_values", "dense_inputs")),
        Call("RaggedCross", {**crossed, "hashed_output": True, "out_values_type": "int64",
                             "num_buckets": 500},
             ("ragged_values", "sparse_values", "dense_inputs")),
        Call("RaggedFillEmptyRows", {"value_rowids": i64([0, 0, 2]), "values": f32([1, 2, 3]),
                                     "nrows": i64(5), "default_value": f32(-1)}),
    ]  # fmt: skip


def calls() -> list[Call]:
    """All of them."""
    return [*_sparse(), *_ragged()]
