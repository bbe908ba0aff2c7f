"""The pytest plugin: collects claims, runs them and reports their verdicts."""
