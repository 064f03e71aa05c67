"""SavedModels as messages: graphs with signatures, and the objects that own functions."""

from __future__ import annotations

from weft._src.messages.checkpoints import ObjectReference, SlotVariableReference
from weft._src.messages.graphs import GraphDef, VersionDef
from weft._src.messages.kinds import BOOL, BYTES, ENUM, FLOAT, INT32, INT64, STRING
from weft._src.messages.message import Message
from weft._src.messages.structures import FunctionSpec, StructuredValue, TypeSpecProto
from weft._src.messages.table import many, mapping, one
from weft._src.messages.tensors import TensorShapeProto


class MetaInfoDef(Message):
    """Who wrote a graph, and what it is for."""

    FIELDS = (
        one(1, "meta_graph_version", STRING),
        one(2, "stripped_op_list", BYTES),
        many(4, "tags", STRING),
        one(5, "tensorflow_version", STRING),
        one(6, "tensorflow_git_version", STRING),
        one(7, "stripped_default_attrs", BOOL),
        mapping(8, "function_aliases", STRING, STRING),
    )


class SaverDef(Message):
    """The nodes that save and restore variables in a session."""

    FIELDS = (
        one(1, "filename_tensor_name", STRING),
        one(2, "save_tensor_name", STRING),
        one(3, "restore_op_name", STRING),
        one(4, "max_to_keep", INT32),
        one(5, "sharded", BOOL),
        one(6, "keep_checkpoint_every_n_hours", FLOAT),
        one(7, "version", ENUM),
    )


class CooSparse(Message):
    """The tensors that a sparse tensor consists of."""

    FIELDS = (
        one(1, "values_tensor_name", STRING),
        one(2, "indices_tensor_name", STRING),
        one(3, "dense_shape_tensor_name", STRING),
    )


class CompositeTensorInfo(Message):
    """A composite tensor and the tensors it consists of."""

    FIELDS = (one(1, "type_spec", TypeSpecProto), many(2, "components", "TensorInfo"))


class TensorInfo(Message):
    """A tensor of a graph, by name."""

    FIELDS = (
        one(1, "name", STRING, "encoding"),
        one(2, "dtype", ENUM),
        one(3, "tensor_shape", TensorShapeProto),
        one(4, "coo_sparse", CooSparse, "encoding"),
        one(5, "composite_tensor", CompositeTensorInfo, "encoding"),
    )


class SignatureDef(Message):
    """What a graph can be asked for: tensors that go in and come out, by name."""

    FIELDS = (
        mapping(1, "inputs", STRING, TensorInfo),
        mapping(2, "outputs", STRING, TensorInfo),
        one(3, "method_name", STRING),
        mapping(4, "defaults", STRING, TensorInfo),
    )


class AssetFileDef(Message):
    """A file that belongs to a model, and the tensor that is its name."""

    FIELDS = (one(1, "tensor_info", TensorInfo), one(2, "filename", STRING))


class SavedUserObject(Message):
    """An object of Python: what kind it was."""

    FIELDS = (
        one(1, "identifier", STRING),
        one(2, "version", VersionDef),
        one(3, "metadata", STRING),
    )


class SavedAsset(Message):
    """A file, by its number among the assets."""

    FIELDS = (one(1, "asset_file_def_index", INT32),)


class SavedFunction(Message):
    """A function with all its traces."""

    FIELDS = (many(1, "concrete_functions", STRING), one(2, "function_spec", FunctionSpec))


class CapturedTensor(Message):
    """A tensor that a function has captured."""

    FIELDS = (one(1, "name", STRING), one(2, "concrete_function", STRING))


class SavedConcreteFunction(Message):
    """One trace: which objects it captures, what it takes, what it gives."""

    FIELDS = (
        many(2, "bound_inputs", INT32),
        one(3, "canonicalized_input_signature", StructuredValue),
        one(4, "output_signature", StructuredValue),
    )


class SavedBareConcreteFunction(Message):
    """One trace that stands alone, such as a signature."""

    FIELDS = (
        one(1, "concrete_function_name", STRING),
        many(2, "argument_keywords", STRING),
        one(3, "allowed_positional_arguments", INT64),
        one(4, "function_spec", FunctionSpec),
    )


class SavedConstant(Message):
    """A constant, by the name of its node."""

    FIELDS = (one(1, "operation", STRING),)


class SavedVariable(Message):
    """A variable."""

    FIELDS = (
        one(1, "dtype", ENUM),
        one(2, "shape", TensorShapeProto),
        one(3, "trainable", BOOL),
        one(4, "synchronization", ENUM),
        one(5, "aggregation", ENUM),
        one(6, "name", STRING),
        one(7, "device", STRING),
        many(8, "experimental_distributed_variable_components", "SavedVariable"),
    )


class SavedResource(Message):
    """A resource that is made anew, such as a table."""

    FIELDS = (one(1, "device", STRING),)


class SaveableObject(Message):
    """The functions that save and restore an object."""

    FIELDS = (one(2, "save_function", INT32), one(3, "restore_function", INT32))


class SavedObject(Message):
    """An object of a model: one of several kinds, with children."""

    FIELDS = (
        many(1, "children", ObjectReference),
        many(3, "slot_variables", SlotVariableReference),
        one(4, "user_object", SavedUserObject, "kind"),
        one(5, "asset", SavedAsset, "kind"),
        one(6, "function", SavedFunction, "kind"),
        one(7, "variable", SavedVariable, "kind"),
        one(8, "bare_concrete_function", SavedBareConcreteFunction, "kind"),
        one(9, "constant", SavedConstant, "kind"),
        one(10, "resource", SavedResource, "kind"),
        mapping(11, "saveable_objects", STRING, SaveableObject),
        one(12, "captured_tensor", CapturedTensor, "kind"),
        one(13, "registered_name", STRING),
        many(15, "dependencies", ObjectReference),
        one(16, "registered_saver", STRING),
    )


class SavedObjectGraph(Message):
    """All objects of a model, the first is the root, and the traces of its functions."""

    FIELDS = (
        many(1, "nodes", SavedObject),
        mapping(2, "concrete_functions", STRING, SavedConcreteFunction),
    )


class MetaGraphDef(Message):
    """A graph with everything around it."""

    FIELDS = (
        one(1, "meta_info_def", MetaInfoDef),
        one(2, "graph_def", GraphDef),
        one(3, "saver_def", SaverDef),
        mapping(5, "signature_def", STRING, SignatureDef),
        many(6, "asset_file_def", AssetFileDef),
        one(7, "object_graph_def", SavedObjectGraph),
    )


class SavedModel(Message):
    """The file `saved_model.pb`."""

    FIELDS = (
        one(1, "saved_model_schema_version", INT64),
        many(2, "meta_graphs", MetaGraphDef),
    )
