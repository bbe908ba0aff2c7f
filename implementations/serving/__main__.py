"""`python -m implementations.serving`: the server."""

from implementations.serving.command import serve

serve()
