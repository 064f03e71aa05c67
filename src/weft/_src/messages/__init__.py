"""Protocol buffer messages: the wire format, a table of what messages hold, and objects for them.

`wire.py` knows bytes, `kinds.py` and `table.py` what a field can be, `message.py` the objects. The
messages themselves are declared by subject: `examples.py`, `tensors.py`, `graphs.py`, `events.py`.
"""
