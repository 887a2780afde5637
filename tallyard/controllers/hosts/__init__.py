"""The host gate: no work on a host that is not what the spec says of it."""
