"""The graph of a SavedModel outside of its functions, which sessions and servers run.

It holds a handle for each variable, a placeholder for each argument of a signature and a call, and
nodes that save and restore the variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from weft._src.graph.tensor_proto import make_tensor_proto
from weft._src.messages.graphs import AttrValue, GraphDef, NodeDef, VersionDef
from weft._src.messages.saved_models import SaverDef, SignatureDef, TensorInfo
from weft._src.messages.tensors import shape_message
from weft._src.saved_model.exporting import attribute
from weft._src.saved_model.structures import sizes_of

_PRODUCER = 1882  # the version of graphs that TensorFlow 2 began with
_METHOD = "tensorflow/serving/predict"
_INIT = "__saved_model_init_op"
_FILENAME = "saver_filename"
_V2 = 2  # the format of checkpoints


class MainGraph:
    """The nodes, and what says which of them are what."""

    def __init__(self) -> None:
        self.nodes: list[NodeDef] = []
        self.signatures: dict[str, SignatureDef] = {}
        self.saver: SaverDef | None = None
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

    def saving(self, variables: dict[str, tuple[str, Any]]) -> None:
        """Nodes that save and restore variables: by key, the name of a handle, and the variable."""
        filename = self._add(
            _FILENAME,
            "Placeholder",
            dtype=attribute("type", tf.string),
            shape=attribute("shape", []),
        )
        keys = sorted(variables)
        types = attribute("list(type)", [variables[key][1].dtype for key in keys])
        names = self.constant(np.array(keys, object), tf.string, "save/names")
        slices = self.constant(np.array([""] * len(keys), object), tf.string, "save/slices")
        reads = [
            self._add(
                "save/Read",
                "ReadVariableOp",
                [variables[key][0]],
                dtype=attribute("type", variables[key][1].dtype),
            )
            for key in keys
        ]
        written: list[str] = []
        restored: list[str] = []
        if keys:
            inputs = [filename, names, slices]
            written = [self._add("save/SaveV2", "SaveV2", [*inputs, *reads], dtypes=types)]
            values = self._add("save/RestoreV2", "RestoreV2", inputs, dtypes=types)
            restored = [
                self._add(
                    "save/Assign",
                    "AssignVariableOp",
                    [variables[key][0], f"{values}:{i}" if i else values],
                    dtype=attribute("type", variables[key][1].dtype),
                )
                for i, key in enumerate(keys)
            ]
        controls = [f"^{name}" for name in written]
        saved = self._add(
            "save/Identity", "Identity", [filename, *controls], T=attribute("type", tf.string)
        )
        restore = self._add("save/restore_all", "NoOp", [f"^{name}" for name in restored])
        self.saver = SaverDef(
            filename_tensor_name=f"{filename}:0",
            save_tensor_name=f"{saved}:0",
            restore_op_name=restore,
            version=_V2,
        )
        init = self._add("NoOp", "NoOp")
        self.signatures[_INIT] = SignatureDef(
            outputs={_INIT: TensorInfo(name=init, tensor_shape=shape_message(None))}
        )

    def message(self) -> GraphDef:
        """The nodes."""
        return GraphDef(node=self.nodes, versions=VersionDef(producer=_PRODUCER))


def inputs_types(signed: Any) -> list[Any]:
    """The specs of the arguments of a signature, in the order of their names."""
    return [spec for _, spec in sorted(signed.takes[1].items())]


def _info(name: str, spec: Any) -> TensorInfo:
    return TensorInfo(
        name=name,
        dtype=spec.dtype.as_datatype_enum,
        tensor_shape=shape_message(sizes_of(spec.shape)),
    )
