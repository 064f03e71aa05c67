"""`tf.distribute.experimental`."""

from weft._src.distribute.values import (
    CollectiveCommunication,
    CommunicationImplementation,
    CommunicationOptions,
    ValueContext,
)
from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.saving.preemption import PreemptionCheckpointHandler, TerminationConfig

__all__ = [
    "CollectiveCommunication",
    "CommunicationImplementation",
    "CommunicationOptions",
    "PreemptionCheckpointHandler",
    "TerminationConfig",
    "ValueContext",
]

_open_namespace(__name__)
