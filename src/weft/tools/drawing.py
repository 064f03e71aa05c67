"""`weft.tools.drawing`: a graph as a picture or a page."""

from weft._src.public.namespaces import open_namespace as _open_namespace
from weft._src.tools.drawing import graph_svg
from weft._src.tools.graph_page import graph_html

__all__ = ["graph_html", "graph_svg"]

_open_namespace(__name__)
