"""The Pulumi program: makes the platform so. `__main__.py` says what happens, in order."""
