"""One process that acts in the cluster: the host gate. It starts in `main.py`."""
