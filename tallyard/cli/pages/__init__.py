"""Files that are made from the code: pages of `docs/` and the schemas. See `__main__.py`."""
