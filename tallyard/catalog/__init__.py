"""Facts about hardware and software, as data."""
