"""An OpenAI-style server on the continuous-batching engine, and a client that times any such server."""
