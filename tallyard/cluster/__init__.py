"""The one client of the API server, and what we read from it. Writes nothing."""
