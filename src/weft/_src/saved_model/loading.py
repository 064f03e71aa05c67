"""`tf.saved_model.load`: the objects of a SavedModel, with variables, tables and functions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import weft as tf
from weft._src.core.aliases import PathLike
from weft._src.core.context import init_scope
from weft._src.errors import (
    InvalidArgumentError,
    NotFoundError,
    ParseError,
    UnsupportedError,
)
from weft._src.fileio.assets import Asset
from weft._src.fileio.structured_values import dtype_of, shape_of, value_of
from weft._src.messages.message import Message
from weft._src.messages.saved_models import SavedModel
from weft._src.raw_ops.reaching_out import own_file
from weft._src.saved_model import seals
from weft._src.saved_model.functions import LoadedFunction, Parameters, Signature, Trace
from weft._src.saved_model.importing import Library
from weft._src.saved_model.nodes import attribute_value
from weft._src.saving.bundle import BundleReader
from weft._src.saving.object_graph import saved_objects, stored_parts
from weft._src.saving.sorted_table import damaged
from weft._src.state.tracking import AutoTrackable, Trackable

_FILE = "saved_model.pb"
_TEXT = "saved_model.pbtxt"
_SERVE = "serve"


class LoadedObject(AutoTrackable):
    """An object of a loaded model; its children are its attributes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__dict__.get("__call__")
        if function is None:
            names = [name for name in self.__dict__ if not name.startswith("_")]
            raise TypeError(
                "This object of a loaded model cannot be called: no function was saved as its "
                f"__call__. It has {', '.join(names) or 'nothing'}."
            )
        return function(*args, **kwargs)

    def __repr__(self) -> str:
        names = [name for name in self.__dict__ if not name.startswith("_self")]
        return f"<loaded object with {', '.join(names) or 'nothing'}>"


class LoadedResource(Trackable):
    """A table of a loaded model."""

    def __init__(self, handle: Any) -> None:
        self.resource_handle = handle

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Without the functions that have made it: who saves it writes others."""
        found = super()._trackable_children(save_type, **kwargs)
        return {k: x for k, x in found.items() if not isinstance(x, (LoadedFunction, Signature))}


class _Captured(Trackable):
    """A tensor of another function, which the saved gradient of that function uses."""

    def __init__(self, name: str) -> None:
        self.name = name


def meta_graph(export_dir: PathLike, tags: Any = None) -> Any:
    """The graph of a SavedModel with the given tags; all of its errors are said here."""
    folder = os.fsdecode(export_dir)
    path = os.path.join(folder, _FILE)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        if os.path.exists(os.path.join(folder, _TEXT)):
            raise UnsupportedError(
                f"{folder} holds a SavedModel as text ({_TEXT}). Load it with TensorFlow and save "
                "it again."
            ) from None
        raise NotFoundError(
            None, None, f"{folder!r} is no SavedModel: there is no file {_FILE} in it."
        ) from None
    seals.verify(data, folder)
    try:
        graphs = list(SavedModel.FromString(data).meta_graphs)
        found = [set(graph.meta_info_def.tags) for graph in graphs]
    except ParseError:
        raise damaged(path, "it is no SavedModel") from None
    if not graphs:
        raise damaged(path, "there is no graph in it")
    if tags is None:
        return graphs[found.index({_SERVE}) if {_SERVE} in found else 0]
    wanted = {tags} if isinstance(tags, str) else set(tags)
    if wanted not in found:
        raise InvalidArgumentError(
            None,
            None,
            f"{folder} has no graph with the tags {sorted(wanted)}; it has "
            f"{', '.join(map(str, map(sorted, found)))}.",
        )
    return graphs[found.index(wanted)]


class LoadOptions:
    """How `tf.saved_model.load` reads.

    Args:
      allow_partial_checkpoint: accepted for compatibility; a model without the value of a variable
        is damaged.
      experimental_io_device: accepted for compatibility.
      experimental_skip_checkpoint: accepted for compatibility.
      experimental_variable_policy: accepted for compatibility.
      experimental_load_function_aliases: whether the loaded object gets an attribute
        `function_aliases`, a dict from the names in `tf.saved_model.SaveOptions` to functions.

    >>> options = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    >>> options.experimental_load_function_aliases
    True
    """

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases


class Loader:
    """One SavedModel while its objects are made."""

    def __init__(self, export_dir: PathLike, graph: Any, *, allow_io: bool) -> None:
        self.folder = os.fsdecode(export_dir)
        self.graph = graph
        self._allow_io = allow_io
        self.saved = list(graph.object_graph_def.nodes)
        if not self.saved:
            raise UnsupportedError(
                f"{self.folder} was saved without its objects, as TensorFlow 1 does. Load it in "
                "TensorFlow 2 and save it again."
            )
        self.library = Library(graph.graph_def.library.function, self.folder, allow_io=allow_io)
        self.concrete = dict(graph.object_graph_def.concrete_functions.items())
        self._constants: dict[str, Any] | None = None
        self._check_numbers()
        self.objects: dict[int, Any] = {}
        self.root: Any = None

    def _check_numbers(self) -> None:
        """Objects name each other by numbers: none that is not there."""
        named = [child.node_id for saved in self.saved for child in saved.children]
        named += [n for function in self.concrete.values() for n in function.bound_inputs]
        for saved in self.saved:
            for saveable in saved.saveable_objects.values():
                named += [saveable.save_function, saveable.restore_function]
        wrong = [number for number in named if not 0 <= number < len(self.saved)]
        if wrong:
            raise damaged(self.folder, f"it names object {wrong[0]} of {len(self.saved)}")

    def load(self) -> Any:
        """The root, with everything below it."""
        self.library.check(self._wanted())
        values = self._values()
        for number, saved in enumerate(self.saved):
            self.objects[number] = self._made(number, saved, values)
        self._connect()
        self.root = self.objects[0]
        for number, saved in enumerate(self.saved):
            if saved.WhichOneof("kind") == "resource":
                self._create(number, values)
        return self.root

    def aliases(self) -> dict[str, Any]:
        """Functions by the names that whoever saved them gave them."""
        names = dict(self.graph.meta_info_def.function_aliases.items())
        found: dict[str, Any] = {}
        for number, saved in enumerate(self.saved):
            if saved.WhichOneof("kind") == "function":
                for name in saved.function.concrete_functions:
                    if name in names:
                        found[names[name]] = self.objects[number]
        return found

    def _wanted(self) -> list[str]:
        """The functions that somebody may call: not those that save and restore."""
        found = []
        for saved in self.saved:
            kind = saved.WhichOneof("kind")
            if kind == "function":
                found += list(saved.function.concrete_functions)
            elif kind == "bare_concrete_function":
                found.append(saved.bare_concrete_function.concrete_function_name)
        savers = {
            number
            for saved in self.saved
            for saveable in saved.saveable_objects.values()
            for number in (saveable.save_function, saveable.restore_function)
        }
        hidden = {
            name
            for number in savers
            if self.saved[number].WhichOneof("kind") == "function"
            for name in self.saved[number].function.concrete_functions
        }
        return [name for name in dict.fromkeys(found) if name not in hidden and name]

    # --- values -----------------------------------------------------------------------------------

    def _values(self) -> dict[int, dict[str, Any]]:
        """What the checkpoint of the model has, by the number of the object and the attribute."""
        prefix = os.path.join(self.folder, "variables", "variables")
        if not os.path.exists(f"{prefix}.index"):
            return {}
        reader = BundleReader(prefix)
        nodes = saved_objects(reader)
        pairs, pending = {0: 0}, [0]
        while pending:
            number = pending.pop()
            theirs = {child.local_name: child.node_id for child in nodes[pairs[number]].children}
            for child in self.saved[number].children:
                if child.local_name in theirs and child.node_id not in pairs:
                    pairs[child.node_id] = theirs[child.local_name]
                    pending.append(child.node_id)
        found: dict[int, dict[str, Any]] = {}
        for number, node in pairs.items():
            for attribute in nodes[node].attributes:
                parts = stored_parts(reader, attribute)
                stored = {name: (reader, key) for name, key in parts.items()}
                found.setdefault(number, {}).update(stored)
        return found

    # --- objects ----------------------------------------------------------------------------------

    def _made(self, number: int, saved: Message, values: dict[int, dict[str, Any]]) -> Any:
        kind = saved.WhichOneof("kind")
        if kind == "variable":
            return self._variable(number, saved.variable, values)
        if kind == "constant":
            return self._constant(saved.constant.operation)
        if kind == "asset":
            return Asset(self._asset(saved.asset.asset_file_def_index))
        if kind == "function":
            return self._function(saved.function)
        if kind == "bare_concrete_function":
            return self._signature(saved.bare_concrete_function)
        if kind == "resource":
            return LoadedResource(None)
        if kind == "user_object":
            return _container(saved.user_object.identifier)
        if kind == "captured_tensor":
            return _Captured(saved.captured_tensor.name)
        return LoadedObject()

    def _constant(self, name: str) -> Any:
        if self._constants is None:  # many models have none, and large graphs
            nodes = self.graph.graph_def.node
            self._constants = {node.name: node for node in nodes if node.op == "Const"}
        if name not in self._constants:
            raise damaged(self.folder, f"there is no constant {name!r}")
        return attribute_value(self._constants[name].attr["value"])

    def _variable(self, number: int, saved: Message, values: dict[int, dict[str, Any]]) -> Any:
        dtype, shape = dtype_of(saved.dtype), shape_of(saved.shape)
        stored = values.get(number, {}).get("VARIABLE_VALUE")
        if stored is None:
            raise damaged(self.folder, f"its checkpoint has no value for {saved.name!r}")
        reader, key = stored
        value = reader.read(key)
        if not shape.is_compatible_with(value.shape) or value.dtype != dtype.as_numpy_dtype:
            what = f"{saved.name!r} is {dtype.name} {shape}, its value {value.dtype} {value.shape}"
            raise damaged(self.folder, what)
        return tf.Variable(
            value, dtype=dtype, shape=shape, trainable=saved.trainable, name=saved.name or None
        )

    def _asset(self, number: int) -> str:
        """The path of a file, which must lie in the folder of the model's assets."""
        files = list(self.graph.asset_file_def)
        name = files[number].filename if 0 <= number < len(files) else ""
        path = os.path.join(self.folder, "assets", name)
        found = os.path.realpath(path) if self._allow_io else own_file(self.folder, path)
        if not name or found is None:
            raise damaged(
                self.folder,
                f"the asset {name!r} does not lie in its folder (allow_io=True takes it all the "
                "same)",
            )
        return found

    def _trace(self, name: str) -> Trace:
        saved = self.concrete.get(name)
        if saved is None:
            raise damaged(self.folder, f"there is no function {name!r}")
        bound = list(saved.bound_inputs)

        def run(tensors: list[Any]) -> list[Any]:
            return self.library.run(name, [*tensors, *[self._handle(n) for n in bound]])

        def captured() -> list[Any]:
            return [self.objects[n] for n in bound]

        takes = value_of(saved.canonicalized_input_signature)
        return Trace(name, takes, value_of(saved.output_signature), run, self, captured)

    def _handle(self, number: int) -> Any:
        found = self.objects[number]
        if isinstance(found, _Captured):
            raise UnsupportedError(
                f"{self.folder}: a function needs the tensor {found.name!r} of another function, "
                "as only gradients do that were saved with a model. Take the gradient of the "
                "function itself with a tf.GradientTape."
            )
        if isinstance(found, tf.Variable):
            return found.handle
        if isinstance(found, LoadedResource):
            return found.resource_handle
        return found.asset_path if isinstance(found, Asset) else found

    def _function(self, saved: Message) -> LoadedFunction:
        names = list(saved.concrete_functions)
        shown = names[0].removeprefix("__inference_").rstrip("_0123456789") if names else "function"
        traces = [self._trace(name) for name in names]
        return LoadedFunction(shown, Parameters(saved.function_spec), traces)

    def _signature(self, saved: Message) -> Signature:
        name = saved.concrete_function_name
        places = int(saved.allowed_positional_arguments)
        return Signature(name, self._trace(name), list(saved.argument_keywords), places)

    def _connect(self) -> None:
        """Gives every object its children."""
        for number, saved in enumerate(self.saved):
            owner = self.objects[number]
            for child in saved.children:
                self._give(owner, child.local_name, self.objects[child.node_id])
        signatures = getattr(self.objects[0], "signatures", None)
        if isinstance(signatures, dict):
            for name, signature in signatures.items():
                if isinstance(signature, Signature):
                    signature.name = name

    def _give(self, owner: Any, name: str, child: Any) -> None:
        if isinstance(owner, list):
            if name != str(len(owner)):  # they are saved in their order
                raise damaged(self.folder, f"a list has an item {name!r} after {len(owner)} others")
            owner.append(child)
        elif isinstance(owner, dict):
            owner[name] = child
        elif isinstance(owner, LoadedObject):
            owner.__dict__[name] = child
        elif isinstance(owner, Trackable):
            owner._track_trackable(child, name, overwrite=True)

    def _create(self, number: int, values: dict[int, dict[str, Any]]) -> None:
        """Makes a table anew, with what was in it."""
        children = {child.local_name: child.node_id for child in self.saved[number].children}
        resource = self.objects[number]
        with init_scope():
            resource.resource_handle = self._call(children.get("_create_resource"))[0]
            if "_initialize" in children:
                self._call(children["_initialize"])
            stored = values.get(number, {})
            keys = next((v for k, v in stored.items() if k.endswith("-keys")), None)
            held = next((v for k, v in stored.items() if k.endswith("-values")), None)
            if keys is not None and held is not None:
                tf.raw_ops.LookupTableImportV2(
                    table_handle=resource.resource_handle,
                    keys=tf.constant(keys[0].read(keys[1])),
                    values=tf.constant(held[0].read(held[1])),
                )

    def _call(self, number: int | None) -> list[Any]:
        names = [] if number is None else list(self.saved[number].function.concrete_functions)
        if len(names) != 1 or names[0] not in self.concrete:
            raise damaged(self.folder, "it does not say how one of its tables is made")
        (name,) = names
        bound = [self._handle(n) for n in self.concrete[name].bound_inputs]
        return self.library.run_loading(name, bound)


def _container(identifier: str) -> Any:
    if identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
        return []
    if identifier in ("trackable_dict_wrapper", "signature_map"):
        return {}
    return LoadedObject()


def load(
    export_dir: PathLike,
    tags: Any = None,
    options: Any = None,
    allow_io: bool = False,
) -> LoadedObject:
    """Loads a SavedModel that TensorFlow, Keras or Weft has written.

    Its functions are ordinary functions of Weft: they become machine code, tapes differentiate
    them, and their variables can be trained on. Loading runs nothing but what fills tables.

    Args:
      export_dir: the folder.
      tags: the tags of the graph to load; None takes the one for serving, or the only one.
      options: a `tf.saved_model.LoadOptions`.
      allow_io: whether ops that read and write files, or call Python, may be part of it.

    Returns:
      The object that was saved. Its attributes are variables, functions and other objects;
      `signatures` is a dict of functions that take and give tensors by name.

    Raises:
      tf.errors.NotFoundError: if there is no SavedModel.
      tf.errors.DataLossError: if it is damaged.
      UnsupportedError: if ops are missing in Weft; all of them are listed.

    >>> tf.saved_model.load("/nothing")
    Traceback (most recent call last):
    weft.errors.NotFoundError: '/nothing' is no SavedModel: there is no file saved_model.pb in it.
    """
    with init_scope():
        graph = meta_graph(export_dir, tags)
        try:
            loader = Loader(export_dir, graph, allow_io=allow_io)
            loaded: LoadedObject = loader.load()
            if options is not None and options.experimental_load_function_aliases:
                loaded.function_aliases = loader.aliases()
            return loaded
        except ParseError as error:
            raise damaged(os.fsdecode(export_dir), str(error).removesuffix(".")) from None


def contains_saved_model(export_dir: PathLike) -> bool:
    """Whether there is a SavedModel in a folder.

    Args:
      export_dir: the folder.

    Returns:
      A bool.

    >>> tf.saved_model.contains_saved_model("/nothing")
    False
    """
    folder = os.fsdecode(export_dir)
    return any(os.path.exists(os.path.join(folder, name)) for name in (_FILE, _TEXT))
