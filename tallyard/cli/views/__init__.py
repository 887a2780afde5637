"""From the cluster's objects to frozen rows. Pure: no I/O, no clock, no printing."""
