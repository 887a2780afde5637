"""Overrides that end: what they gave returns without anybody, and what runs goes on."""
