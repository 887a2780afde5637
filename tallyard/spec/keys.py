"""What every mapping of the spec has in common: fixed keys, nothing converted.

The mappings themselves stand beside this by what they are about, and `document.py` puts them
together into the two files.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Keys(BaseModel):
    """A mapping with a fixed set of keys; nothing is converted, nothing unknown accepted."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=False
    )
