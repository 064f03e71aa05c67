"""The graph of a SavedModel outside of its functions, which sessions and servers run.

It holds a handle for each variable, a placeholder for each argument of a signature and a call, and
nodes that save and restore the variables.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.specs import TensorSpec
from weft._src.fileio.structured_values import sizes_of
from weft._src.graph.tensor_proto import make_tensor_proto
from weft._src.lookup.tables import Table
from weft._src.messages.graphs import AttrValue, GraphDef, NodeDef, VersionDef
from weft._src.messages.saved_models import AssetFileDef, SaverDef, SignatureDef, TensorInfo
from weft._src.messages.tensors import shape_message
from weft._src.raw_ops.signatures import signature_of
from weft._src.saved_model.exporting import attribute
from weft._src.saved_model.tables import Creation

PRODUCER = 1882  # the version of graphs that TensorFlow 2 began with
_METHOD = "tensorflow/serving/predict"
_INIT = "__saved_model_init_op"
_FILENAME = "saver_filename"
_V2 = 2  # the format of checkpoints


class MainGraph:
    """The nodes, and what says which of them are what."""

    def __init__(self) -> None:
        self.nodes: list[NodeDef] = []
        self.signatures: dict[str, SignatureDef] = {}
        self.assets: list[AssetFileDef] = []
        self.saver: SaverDef | None = None
        self._first: list[str] = []  # what fills tables
        self._paths: dict[str, str] = {}  # of nodes that read paths of files: the variables
        self._names: set[str] = set()

    def _add(self, name: str, op: str, inputs: Any = (), **attrs: AttrValue) -> str:
        made, at = name, 0
        while made in self._names:
            at += 1
            made = f"{name}_{at}"
        self._names.add(made)
        self.nodes.append(NodeDef(name=made, op=op, input=list(inputs), attr=attrs))
        return made

    def constant(self, value: Any, dtype: Any, name: str = "Const") -> str:
        """A constant; its name."""
        proto = AttrValue(tensor=make_tensor_proto(np.asarray(value), dtype))
        return self._add(name, "Const", dtype=attribute("type", dtype), value=proto)

    def handle(self, variable: Any) -> str:
        """The handle of a variable; its name."""
        name = variable.name.removesuffix(":0")
        return self._add(
            "".join([c if c.isalnum() or c in "_./" else "_" for c in name]) or "Variable",
            "VarHandleOp",
            dtype=attribute("type", variable.dtype),
            shape=attribute("shape", sizes_of(variable.shape)),
            shared_name=attribute("string", f"{name}_{len(self.nodes)}"),
        )

    def asset(self, path: str, taken: set[str]) -> str:
        """A file under a name of its own: the variable that holds its path; the name of a read.

        Who loads the graph hands in the path while tables are filled, and at no other time.
        """
        base, ending = os.path.splitext(os.path.basename(path) or "asset")
        name, at = base + ending, 0
        while name in taken:
            at += 1
            name = f"{base}_{at}{ending}"
        taken.add(name)
        kind = attribute("type", tf.string)
        shape = attribute("shape", [])
        given = self._add("asset_path_initializer", "Placeholder", dtype=kind, shape=shape)
        text = attribute("string", f"{given}_path")
        held = self._add("asset_path", "VarHandleOp", dtype=kind, shape=shape, shared_name=text)
        assigned = self._add(f"{held}/Assign", "AssignVariableOp", [held, given], dtype=kind)
        self._first.append(assigned)
        info = _info(f"{given}:0", TensorSpec.of(tf.string, ()))
        self.assets.append(AssetFileDef(tensor_info=info, filename=name))
        read = self._add(f"{held}/Read", "ReadVariableOp", [held], dtype=kind)
        self._paths[read] = held
        return read

    def table(self, creation: Creation) -> str:
        """The handle of a table; its name."""
        signature = signature_of(creation.op)
        assert signature is not None
        kinds = {attr.name: attr.kind for attr in signature.attributes}
        attrs = {name: attribute(kinds[name], value) for name, value in creation.attrs.items()}
        inputs = [self.constant(array, dtype, "key") for array, dtype in creation.inputs]
        return self._add("table", creation.op, inputs, **attrs)

    def initialized(self, function: str, captured: list[str]) -> None:
        """A call of the function that fills a table; paths are read when they are assigned."""
        kind = attribute("type", tf.string)
        inputs: list[str] = []
        for name in captured:
            held = self._paths.get(name)
            if held is not None:
                name = self._add(
                    f"{held}/ReadAssigned", "ReadVariableOp", [held, f"^{held}/Assign"], dtype=kind
                )
            inputs.append(name)
        types = [tf.string if name in self._paths else tf.resource for name in captured]
        call = self._add(
            "StatefulPartitionedCall",
            "StatefulPartitionedCall",
            inputs,
            f=attribute("func", function),
            Tin=attribute("list(type)", types),
            Tout=attribute("list(type)", [tf.int32]),
        )
        self._first.append(call)

    def signature(self, key: str, function: str, signed: Any, captured: list[str]) -> None:
        """A call of a signature."""
        inputs: dict[str, TensorInfo] = {}
        for name, spec in sorted(signed.takes[1].items()):
            sizes = sizes_of(spec.shape)
            placeholder = self._add(
                f"{key}_{name}",
                "Placeholder",
                dtype=attribute("type", spec.dtype),
                shape=attribute("shape", sizes),
            )
            inputs[name] = _info(f"{placeholder}:0", spec)
        outputs = sorted(signed.gives.items())
        pure = signed.concrete.graph.effects.none
        types = [x.dtype for x in inputs_types(signed)] + [
            outer.dtype for outer, _ in signed.concrete.graph.captures
        ]
        call = self._add(
            "PartitionedCall" if pure else "StatefulPartitionedCall",
            "PartitionedCall" if pure else "StatefulPartitionedCall",
            [info.name.partition(":")[0] for info in inputs.values()] + captured,
            f=attribute("func", function),
            Tin=attribute("list(type)", types),
            Tout=attribute("list(type)", [spec.dtype for _, spec in outputs]),
        )
        found = {name: _info(f"{call}:{i}", spec) for i, (name, spec) in enumerate(outputs)}
        self.signatures[key] = SignatureDef(inputs=inputs, outputs=found, method_name=_METHOD)

    def saving(
        self,
        variables: dict[str, tuple[str, Any]],
        tables: Sequence[tuple[tuple[str, str], str, Table]],
    ) -> None:
        """Nodes that save and restore.

        `variables` are by key the name of a handle, and the variable; of tables there are the keys
        of what they hold, the name of the handle and the table.
        """
        kind = attribute("type", tf.string)
        shape = attribute("shape", [])
        filename = self._add(_FILENAME, "Placeholder", dtype=kind, shape=shape)
        held = {key: variable.dtype for key, (_, variable) in variables.items()}
        read: dict[str, str] = {}
        for key, (handle, variable) in variables.items():
            dtype = attribute("type", variable.dtype)
            read[key] = self._add("save/Read", "ReadVariableOp", [handle], dtype=dtype)
        for keys, handle, table in tables:
            types = (table.key_dtype, table.value_dtype)
            held |= dict(zip(keys, types, strict=True))
            found = self._add(
                "save/Export",
                "LookupTableExportV2",
                [handle],
                Tkeys=attribute("type", types[0]),
                Tvalues=attribute("type", types[1]),
            )
            read |= {keys[0]: found, keys[1]: f"{found}:1"}
        order = sorted(held)
        dtypes = attribute("list(type)", [held[key] for key in order])
        inputs = [
            filename,
            self.constant(np.array(order, object), tf.string, "save/names"),
            self.constant(np.array([""] * len(order), object), tf.string, "save/slices"),
        ]
        written: list[str] = []
        restored: list[str] = []
        if order:
            tensors = [read[key] for key in order]
            written = [self._add("save/SaveV2", "SaveV2", [*inputs, *tensors], dtypes=dtypes)]
            values = self._add("save/RestoreV2", "RestoreV2", inputs, dtypes=dtypes)
            place = {key: f"{values}:{i}" if i else values for i, key in enumerate(order)}
            restored = [
                self._add(
                    "save/Assign",
                    "AssignVariableOp",
                    [handle, place[key]],
                    dtype=attribute("type", variable.dtype),
                )
                for key, (handle, variable) in sorted(variables.items())
            ]
            restored += [
                self._add(
                    "save/Import",
                    "LookupTableImportV2",
                    [handle, *[place[key] for key in keys]],
                    Tin=attribute("type", table.key_dtype),
                    Tout=attribute("type", table.value_dtype),
                )
                for keys, handle, table in tables
            ]
        controls = [f"^{name}" for name in written]
        saved = self._add("save/Identity", "Identity", [filename, *controls], T=kind)
        restore = self._add("save/restore_all", "NoOp", [f"^{name}" for name in restored])
        self.saver = SaverDef(
            filename_tensor_name=f"{filename}:0",
            save_tensor_name=f"{saved}:0",
            restore_op_name=restore,
            version=_V2,
        )
        init = self._add("NoOp", "NoOp", [f"^{name}" for name in self._first])
        self.signatures[_INIT] = SignatureDef(
            outputs={_INIT: TensorInfo(name=init, tensor_shape=shape_message(None))}
        )

    def message(self) -> GraphDef:
        """The nodes."""
        return GraphDef(node=self.nodes, versions=VersionDef(producer=PRODUCER))


def inputs_types(signed: Any) -> list[Any]:
    """The specs of the arguments of a signature, in the order of their names."""
    return [spec for _, spec in sorted(signed.takes[1].items())]


def _info(name: str, spec: Any) -> TensorInfo:
    return TensorInfo(
        name=name,
        dtype=spec.dtype.as_datatype_enum,
        tensor_shape=shape_message(sizes_of(spec.shape)),
    )
