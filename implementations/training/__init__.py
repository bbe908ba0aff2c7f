"""Mixed precision: sixteen-bit floats, loss scaling, clipping, and a training step under autocast."""
