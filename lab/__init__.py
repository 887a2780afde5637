"""A real Kubernetes control plane on one machine, with simulated hosts from the spec.

The lab starts, watches and ends processes; it decides nothing about queues or quotas.
"""
