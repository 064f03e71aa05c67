"""Training examples as files hold them, and checkpoints: `tf.train`."""

from weft._src.distribute.clusters import ClusterSpec
from weft._src.distribute.coordinator import Coordinator
from weft._src.messages.clusters import ClusterDef, JobDef, ServerDef
from weft._src.messages.examples import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.saving.checkpoint import Checkpoint, CheckpointOptions
from weft._src.saving.manager import CheckpointManager
from weft._src.saving.reader import list_variables, load_checkpoint, load_variable
from weft._src.saving.states import checkpoints_iterator, get_checkpoint_state, latest_checkpoint
from weft._src.saving.views import CheckpointView, TrackableView
from weft._src.state.moving_averages import ExponentialMovingAverage
from weft.train import experimental

__all__ = [
    "BytesList",
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "CheckpointView",
    "ClusterDef",
    "ClusterSpec",
    "Coordinator",
    "Example",
    "ExponentialMovingAverage",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "JobDef",
    "SequenceExample",
    "ServerDef",
    "TrackableView",
    "checkpoints_iterator",
    "experimental",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]

_open_namespace(__name__)
