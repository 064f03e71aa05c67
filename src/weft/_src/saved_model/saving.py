"""`tf.saved_model.save`: objects with their functions and variables, as TensorFlow loads them."""

from __future__ import annotations

import os
import shutil
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft as tf
from weft._src.core.aliases import PathLike
from weft._src.core.context import init_scope, state
from weft._src.core.dtypes import resource
from weft._src.core.random_numbers.stream_state import RngCell
from weft._src.errors import UnsupportedError
from weft._src.fileio.assets import Asset
from weft._src.fileio.paths import file_errors, path_text
from weft._src.fileio.structured_values import message_of, sizes_of
from weft._src.function.concrete import ConcreteFunction
from weft._src.lookup.tables import MutableTable, Table
from weft._src.messages.checkpoints import ObjectReference
from weft._src.messages.graphs import FunctionDefLibrary, VersionDef
from weft._src.messages.saved_models import (
    MetaGraphDef,
    MetaInfoDef,
    SaveableObject,
    SavedAsset,
    SavedBareConcreteFunction,
    SavedConcreteFunction,
    SavedConstant,
    SavedFunction,
    SavedModel,
    SavedObject,
    SavedObjectGraph,
    SavedResource,
    SavedUserObject,
    SavedVariable,
)
from weft._src.messages.tensors import shape_message
from weft._src.saved_model import seals
from weft._src.saved_model.exporting import Functions
from weft._src.saved_model.functions import LoadedFunction, Signature, Trace
from weft._src.saved_model.main_graph import MainGraph
from weft._src.saved_model.tables import TableFunction, TableFunctions, handle_of
from weft._src.saved_model.traces import (
    function_spec,
    gives,
    is_function,
    ordered_inputs,
    signature_functions,
    takes,
    traces_of,
)
from weft._src.saving.object_graph import (
    OBJECT_GRAPH,
    Found,
    snapshot,
    variable_of,
    variables_among,
    walk,
)
from weft._src.saving.sharding import checked_callback, sharded
from weft._src.saving.writing import sync_folder, whole_file, write_bundle, write_files
from weft._src.state.tracking import Trackable
from weft._src.state.variable import Variable

_SERVE = "serve"
_SIGNATURES = "signatures"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_TABLE = "/.ATTRIBUTES/table"
# Models of Keras name their signature by this, and keep the functions that train them elsewhere.
_OF_KERAS = "_default_save_signature"
_NOT_SAVED = frozenset({"train_function", "test_function", "predict_function"})
# The version of TensorFlow whose ops the graph keeps to; loaders ask for the text.
_LIKE = "2.4.0"


class SaveOptions:
    """How `tf.saved_model.save` writes; accepted for compatibility, as far as nothing else is said.

    Args:
      namespace_whitelist: accepted for compatibility.
      save_debug_info: accepted for compatibility.
      function_aliases: a dict from names to functions of the object; tools find traces by them.
      experimental_debug_stripper: accepted for compatibility.
      experimental_io_device: accepted for compatibility.
      experimental_variable_policy: accepted for compatibility.
      experimental_custom_gradients: accepted for compatibility; gradients given by
        `tf.custom_gradient` are not saved.
      experimental_image_format: accepted for compatibility.
      experimental_skip_saver: accepted for compatibility.
      experimental_sharding_callback: what divides the values of variables among files, a
        `tf.train.experimental.ShardingCallback`; None means one file.
      extra_tags: tags beside "serve".

    >>> tf.saved_model.SaveOptions(extra_tags=["small"]).extra_tags
    ['small']
    """

    def __init__(
        self,
        namespace_whitelist: Sequence[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: dict[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Sequence[str] | None = None,
    ) -> None:
        self.namespace_whitelist = namespace_whitelist
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = checked_callback(experimental_sharding_callback)
        self.extra_tags = list(extra_tags or [])


def functions_of(owner: Any) -> dict[str, Any]:
    """The traced functions among the attributes and methods of an object, and single traces."""
    if not isinstance(owner, Trackable) or variable_of(owner) is not None:
        return {}
    is_keras = hasattr(type(owner), _OF_KERAS)
    names = dict.fromkeys([n for n in vars(owner) if not (is_keras and n in _NOT_SAVED)])
    for kind in type(owner).__mro__:
        names |= {name: None for name, value in vars(kind).items() if is_function(value)}
    found = {name: getattr(owner, name) for name in names}
    return {
        name: value
        for name, value in found.items()
        if is_function(value) or isinstance(value, ConcreteFunction)
    }


def loaded_signatures(root: Any) -> dict[str, Signature] | None:
    """The signatures of an object that was loaded."""
    found = getattr(root, _SIGNATURES, None)
    if not isinstance(found, dict) or not found:
        return None
    return found if all(isinstance(x, Signature) for x in found.values()) else None


def _signature_of_keras(root: Any) -> Any:
    """The function that a model of Keras offers as its signature; None if it has none to offer."""
    try:
        return getattr(root, _OF_KERAS, None)
    except Exception:  # noqa: BLE001 - a model that was not built fails anyhow: nothing is offered
        return None


class Saver:
    """One SavedModel while it is put together; nothing is written before it is whole."""

    def __init__(self, root: Any, signatures: Any, options: SaveOptions) -> None:
        self.root, self.options = root, options
        if signatures is None:
            signatures = loaded_signatures(root) or _signature_of_keras(root)
        self._streams: dict[int, tuple[Any, Variable]] = {}
        self.found = self._reached(signatures)
        self.objects: list[SavedObject] = [_object(one) for one in self.found]
        self.functions = Functions()
        self.concrete: dict[str, SavedConcreteFunction] = {}
        self.graph = MainGraph()
        self.aliases: dict[str, str] = {}
        self._places: dict[int, int] = {}  # of captured tensors: the objects they are
        self._nodes: dict[int, str] = {}  # of these objects: nodes of the main graph
        self._constants: list[Any] = []
        self._tables: dict[int, TableFunctions] = {}
        self._mutable: dict[int, tuple[str, str]] = {}  # of tables: their keys in the checkpoint
        self._assets: dict[int, Asset] = {}
        for one, variable in variables_among(self.found):
            self._places[id(variable._handle)] = one.number
        for one in self.found:
            self._resource(one)
        if loaded_signatures(root) is not None:  # they are written once more, as those of the root
            names = [child.local_name for child in self.objects[0].children]
            del self.objects[0].children[names.index(_SIGNATURES)]
        for tensor, variable in self._streams.values():
            self._places[id(tensor)] = self._places[id(variable._handle)]
        owned = [(one, functions_of(one.value)) for one in self.found]
        signed = signature_functions(owned[0][1], signatures)
        numbers: dict[int, int] = {}
        for one, functions in owned:
            for name, function in functions.items():
                inner = getattr(function, "_function", function)
                if id(inner) not in numbers:
                    numbers[id(inner)] = self._function(name, function)
                self._own(one.number, name, numbers[id(inner)])
        for one in self.found:
            self._loaded(one)
        self._main_nodes()
        self._signatures(signed)
        self.functions.check(f"The {type(root).__name__}")
        self._saved_values()

    # --- objects ----------------------------------------------------------------------------------

    def _reached(self, signatures: Any) -> list[Found]:
        """All objects; streams of random numbers of functions become variables of the root."""
        owned = [functions_of(one.value) for one in walk(self.root)]
        traces: list[ConcreteFunction] = []
        for function in [f for functions in owned for f in functions.values()]:
            is_one = isinstance(function, ConcreteFunction)
            traces += [function] if is_one else traces_of(function)
        traces += [signed.concrete for signed in signature_functions(owned[0], signatures)]
        for tensor in [outer for trace in traces for outer, _ in trace.graph.captures]:
            cell = getattr(tensor, "_value", None)
            if isinstance(cell, RngCell) and id(tensor) not in self._streams:
                variable = tf.Variable(cell.read(), trainable=False, name="random_stream")
                self._streams[id(tensor)] = (tensor, variable)
        states = [variable for _, variable in self._streams.values()]
        extra = {f"_random_stream_{i}": variable for i, variable in enumerate(states)}
        return _unified(walk(self.root, extra))

    def _new(self, **fields: Any) -> int:
        self.objects.append(SavedObject(**fields))
        return len(self.objects) - 1

    def _own(self, owner: int, name: str, child: int) -> None:
        children = self.objects[owner].children
        children.append(ObjectReference(node_id=child, local_name=name))

    def _resource(self, one: Found) -> None:
        """Tables and files are objects whose handles functions capture."""
        handle = handle_of(one.value)
        if handle is not None:
            self._places[id(handle)] = one.number
            initializer = getattr(one.value, "_initializer", None)
            self._tables[one.number] = TableFunctions(self.functions, handle, initializer)
        elif isinstance(one.value, Asset):
            self._places[id(one.value.asset_path)] = one.number
            self.objects[one.number].asset.asset_file_def_index = len(self._assets)
            self._assets[one.number] = one.value

    def _function(self, name: str, function: Any) -> int:
        if isinstance(function, ConcreteFunction):
            return self._bare(name, function)
        names = [self._trace(name, trace) for trace in traces_of(function)]
        for alias, aliased in self.options.function_aliases.items():
            if aliased is function or aliased == function:
                self.aliases |= dict.fromkeys(names, alias)
        saved = SavedFunction(concrete_functions=names, function_spec=function_spec(function))
        return self._new(function=saved)

    def _loaded(self, one: Found) -> None:
        """A function that was loaded takes the place of its object as one that was traced."""
        if isinstance(one.value, LoadedFunction):
            names = [self._loaded_trace(trace) for trace in one.value.concrete_functions]
            spec = one.value._parameters.message
            saved = SavedFunction(concrete_functions=names, function_spec=spec)
            self.objects[one.number].function.CopyFrom(saved)
        elif isinstance(one.value, Signature):
            self.objects[one.number].bare_concrete_function.CopyFrom(
                SavedBareConcreteFunction(
                    concrete_function_name=self._loaded_trace(one.value._trace),
                    argument_keywords=one.value._names,
                    allowed_positional_arguments=one.value._by_place,
                )
            )

    def _loaded_trace(self, trace: Trace) -> str:
        concrete = trace.concrete
        name = self.functions.of(concrete.graph)
        self.concrete[name] = SavedConcreteFunction(
            bound_inputs=self._bound(trace.name, concrete),
            canonicalized_input_signature=message_of(trace.takes),
            output_signature=message_of(trace.gives),
        )
        return name

    def _trace(self, owner: str, concrete: ConcreteFunction) -> str:
        name = self.functions.of(concrete.graph, inputs=ordered_inputs(concrete))
        try:
            self.concrete[name] = SavedConcreteFunction(
                bound_inputs=self._bound(owner, concrete),
                canonicalized_input_signature=message_of(takes(concrete)),
                output_signature=message_of(gives(concrete)),
            )
        except TypeError as error:
            raise TypeError(
                f"tf.saved_model.save: {owner} was traced for "
                f"{concrete.pretty_printed_signature(verbose=False)}, which cannot be saved. "
                f"{error}"
            ) from None
        return name

    def _bare(self, owner: str, concrete: ConcreteFunction) -> int:
        """A single trace: it takes tensors by position or by name."""
        name = self._trace(owner, concrete)
        placed, named = takes(concrete)
        keywords = [
            getattr(spec, "name", None) or f"x{i}" for i, spec in enumerate(placed)
        ] + sorted(named)
        return self._new(
            bare_concrete_function=SavedBareConcreteFunction(
                concrete_function_name=name,
                argument_keywords=keywords,
                allowed_positional_arguments=len(placed),
            )
        )

    def _bound(self, owner: str, concrete: ConcreteFunction) -> list[int]:
        return [self._place(owner, outer) for outer, _ in concrete.graph.captures]

    def _place(self, owner: str, tensor: Any) -> int:
        """The object that a captured tensor is."""
        if id(tensor) in self._places:
            return self._places[id(tensor)]
        if tensor.dtype is resource:
            raise self._untracked(owner, tensor)
        node = self.graph.constant(tensor.numpy(), tensor.dtype)
        number = self._new(constant=SavedConstant(operation=node))
        self._constants.append(tensor)
        self._places[id(tensor)], self._nodes[number] = number, node
        return number

    def _untracked(self, owner: str, tensor: Any) -> Exception:
        variable = getattr(tensor._value, "variable", None)
        if variable is None:
            if isinstance(tensor._value, Table):
                return ValueError(
                    f"tf.saved_model.save: {owner} uses the table {tensor._value.name!r}, which no "
                    f"attribute of the {type(self.root).__name__} leads to, so it would not be "
                    "saved. Make it an attribute."
                )
            return UnsupportedError(
                f"tf.saved_model.save: {owner} uses {type(tensor._value).__name__}, a state of "
                "Weft's that a SavedModel cannot hold."
            )
        return ValueError(
            f"tf.saved_model.save: {owner} uses the variable {variable.name!r}, which no attribute "
            f"of the {type(self.root).__name__} leads to, so it would not be saved. Make it an "
            "attribute."
        )

    def _main_nodes(self) -> None:
        """Variables, files and tables in the graph that sessions run, with what belongs to them."""
        for one, variable in variables_among(self.found):
            self._nodes[one.number] = self.graph.handle(variable)
        names: set[str] = set()
        for number, asset in self._assets.items():
            self._nodes[number] = self.graph.asset(asset._path, names)
        for number, table in self._tables.items():
            self._nodes[number] = self.graph.table(table.creation)
        for number, table in self._tables.items():
            self._table(number, table)

    def _table(self, number: int, table: TableFunctions) -> None:
        initialize = table.initializer_function()
        for name, function in (
            ("_create_resource", table.creator()),
            ("_initialize", initialize),
            ("_destroy_resource", table.destroyer()),
        ):
            spec = function_spec(tf.function(lambda: None, autograph=False))
            self._bound_to(function)
            saved = SavedFunction(concrete_functions=[function.name], function_spec=spec)
            self._own(number, name, self._new(function=saved))
        self.graph.initialized(
            initialize.name, [self._nodes[self._places[id(x)]] for x in initialize.captures]
        )
        if isinstance(table.table, MutableTable):
            key = f"{self.found[number].key}{_TABLE}"
            self._mutable[number] = (f"{key}-keys", f"{key}-values")
            self.objects[number].saveable_objects["table"].CopyFrom(
                SaveableObject(
                    save_function=self._of_text(table.save()),
                    restore_function=self._single(table.restore()),
                )
            )

    def _bound_to(self, function: TableFunction) -> None:
        self.concrete[function.name] = SavedConcreteFunction(
            bound_inputs=[self._places[id(x)] for x in function.captures],
            canonicalized_input_signature=message_of((function.takes, {})),
            output_signature=message_of(function.gives),
        )

    def _single(self, function: TableFunction) -> int:
        self._bound_to(function)
        return self._new(
            bare_concrete_function=SavedBareConcreteFunction(
                concrete_function_name=function.name,
                argument_keywords=[str(spec.name) for spec in function.takes],
                allowed_positional_arguments=len(function.takes),
            )
        )

    def _of_text(self, function: TableFunction) -> int:
        """A function of one text that TensorFlow 2.12 may call with a Python string."""
        self._bound_to(function)
        spec = function_spec(tf.function(lambda checkpoint_key: None, autograph=False))
        saved = SavedFunction(concrete_functions=[function.name], function_spec=spec)
        return self._new(function=saved)

    def _signatures(self, signed: list[Any]) -> None:
        owner = self._new(user_object=_user_object("signature_map"))
        self._own(0, _SIGNATURES, owner)
        for signature in signed:
            name = signature.write(self.functions)
            bound = self._bound(f"the signature {signature.key!r}", signature.concrete)
            self.concrete[name] = SavedConcreteFunction(
                bound_inputs=bound,
                canonicalized_input_signature=message_of(signature.takes),
                output_signature=message_of(signature.gives),
            )
            number = self._new(
                bare_concrete_function=SavedBareConcreteFunction(
                    concrete_function_name=name,
                    argument_keywords=sorted(signature.inputs),
                    allowed_positional_arguments=0,
                )
            )
            self._own(owner, signature.key, number)
            captured = [self._nodes[n] for n in bound]
            self.graph.signature(signature.key, name, signature, captured)

    def _saved_values(self) -> None:
        variables = {
            f"{one.key}{_VALUE}": (self._nodes[one.number], variable)
            for one, variable in variables_among(self.found)
        }
        tables = [
            (keys, self._nodes[number], self._tables[number].table)
            for number, keys in self._mutable.items()
        ]
        self.graph.saving(variables, tables)

    # --- writing ----------------------------------------------------------------------------------

    def message(self) -> SavedModel:
        """The file `saved_model.pb`."""
        graph = self.graph.message()
        graph.library.CopyFrom(FunctionDefLibrary(function=self.functions.definitions))
        info = MetaInfoDef(
            tags=[_SERVE, *self.options.extra_tags],
            tensorflow_version=_LIKE,
            tensorflow_git_version=f"weft {tf.__version__}",
            stripped_default_attrs=True,
            function_aliases=self.aliases,
        )
        meta = MetaGraphDef(
            meta_info_def=info,
            graph_def=graph,
            saver_def=self.graph.saver,
            signature_def=self.graph.signatures,
            asset_file_def=self.graph.assets,
            object_graph_def=SavedObjectGraph(nodes=self.objects, concrete_functions=self.concrete),
        )
        return SavedModel(saved_model_schema_version=1, meta_graphs=[meta])

    def write(self, folder: str) -> None:
        """Writes everything into a folder, `saved_model.pb` last."""
        taken = snapshot(self.found)
        table = np.array(taken.graph().SerializeToString(), object)
        os.makedirs(os.path.join(folder, "assets"), exist_ok=True)
        for asset, saved in zip(self._assets.values(), self.graph.assets, strict=True):
            target = os.path.join(folder, "assets", saved.filename)
            with file_errors("The asset of a model", asset._path):
                if os.path.realpath(asset._path) != os.path.realpath(target):
                    shutil.copyfile(asset._path, target)
        prefix = os.path.join(folder, "variables", "variables")
        arrays = [*sorted(taken.arrays().items()), (OBJECT_GRAPH, table)]
        sharding = self.options.experimental_sharding_callback
        if sharding is None:
            write_bundle(prefix, arrays)
        else:
            write_files(prefix, sharded(sharding, arrays, taken.owners()))
        data = seals.sealed(self.message().SerializeToString(), folder)
        with whole_file(os.path.join(folder, seals.FILE), "Saving a model") as file:
            file.write(data)


def _unified(found: list[Found]) -> list[Found]:
    """The objects with each variable once: those of Keras are reached by two objects."""
    numbers: dict[int, int] = {}
    kept: list[Found] = []
    places: list[int] = []
    for one in found:
        variable = variable_of(one.value)
        key = id(one.value) if variable is None else id(variable._handle)
        if key not in numbers:
            numbers[key] = len(kept)
            kept.append(one)
        places.append(numbers[key])
    return [
        Found(one.value, i, one.path, {name: places[n] for name, n in one.children.items()})
        for i, one in enumerate(kept)
    ]


def _user_object(identifier: str) -> SavedUserObject:
    return SavedUserObject(identifier=identifier, version=VersionDef(producer=1, min_consumer=1))


def _object(one: Found) -> SavedObject:
    children = [
        ObjectReference(node_id=number, local_name=name) for name, number in one.children.items()
    ]
    variable = variable_of(one.value)
    if variable is not None:
        saved = SavedVariable(
            dtype=variable.dtype.as_datatype_enum,
            shape=shape_message(sizes_of(variable.shape)),
            trainable=variable.trainable,
            name=variable.name.removesuffix(":0"),
        )
        return SavedObject(children=children, variable=saved)
    if handle_of(one.value) is not None:
        return SavedObject(children=children, resource=SavedResource())
    if isinstance(one.value, Asset):
        return SavedObject(children=children, asset=SavedAsset())
    identifier = "_generic_user_object"
    if isinstance(one.value, list):
        identifier = "trackable_list_wrapper"
    elif isinstance(one.value, (dict, OrderedDict)):
        identifier = "trackable_dict_wrapper"
    elif isinstance(one.value, tuple):
        identifier = "trackable_tuple_wrapper"
    return SavedObject(children=children, user_object=_user_object(identifier))


def save(obj: Any, export_dir: PathLike, signatures: Any = None, options: Any = None) -> None:
    """Saves an object with its functions and variables as a SavedModel, which TensorFlow loads.

    Functions are saved as they have been traced: all their traces, and those that an
    `input_signature` describes. Graphs are written with TensorFlow's ops (those of version 2.4, but
    for random numbers, which need 2.5), so that it and its servers can run them, and
    `tf.saved_model.load` here. Gradients given by `tf.custom_gradient` are not part of a model;
    streams of random numbers are, and go on where they were.

    Args:
      obj: a `tf.Module` or another trackable object. Its attributes are saved as far as they are
        variables, traced functions, trackable objects, lists or dicts.
      export_dir: the folder. It appears whole; in one that is there, the model is replaced.
      signatures: a function with an input_signature, one of its traces, or a dict of them by name.
        They take tensors by name and give dicts of tensors. None takes the only function of the
        object that can be one.
      options: a `tf.saved_model.SaveOptions`.

    Raises:
      UnsupportedError: if ops have no form in TensorFlow; all of them are listed.
      ValueError: if a function uses a variable that the object does not lead to, or cannot be a
        signature.
      TypeError: if the object is not trackable, or a trace was made for Python values that cannot
        be saved.

    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         self.factor = tf.Variable(3.0)
    ...
    ...     @tf.function(input_signature=[tf.TensorSpec([None])])
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> tf.saved_model.save(Scale(), "scale")
    >>> tf.saved_model.load("scale")(tf.constant([1.0, 2.0])).numpy()
    array([3., 6.], dtype=float32)
    """
    if state.graph is not None:
        raise RuntimeError("tf.saved_model.save: a function is being traced.")
    if not isinstance(obj, Trackable):
        raise TypeError(
            "tf.saved_model.save: obj must be a trackable object such as a tf.Module, got "
            f"{obj!r}. Make what is to be saved attributes of one."
        )
    folder = path_text("tf.saved_model.save", export_dir)
    with init_scope():
        saver = Saver(obj, signatures, options or SaveOptions())
        with file_errors("Saving a model", folder):
            _write(saver, folder)


def _write(saver: Saver, folder: str) -> None:
    if os.path.isdir(folder) and os.listdir(folder):
        saver.write(folder)
        return
    temporary = f"{folder.rstrip('/')}.tmp-{uuid.uuid4().hex[:12]}"
    try:
        saver.write(temporary)
        os.replace(temporary, folder)  # takes the place of an empty one, too
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(os.path.dirname(os.path.abspath(folder)))
