"""Registers the harness as a pytest plugin, in a checkout as in an installed copy."""

pytest_plugins = ["runtwice.plugin"]
