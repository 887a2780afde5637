"""Spec to manifests, without I/O but the templates: shapes in, finished objects out."""
