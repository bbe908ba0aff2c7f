"""Commands that are loaded when they are called, one a module."""
