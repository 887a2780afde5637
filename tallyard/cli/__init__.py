"""The command `tally`: reads, asks, prints. Everything it decides is decided elsewhere."""
