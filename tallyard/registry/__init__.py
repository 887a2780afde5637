"""Asking OCI registries which digest a tag names, and writing it into the pins."""
