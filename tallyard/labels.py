"""Every name that Tallyard writes into a cluster, each from one place.

A label in a policy and a label in a template cannot differ, because both come from here.
Names that belong to Kubernetes or Kueue are listed too, so that they are spelled once.
"""

from __future__ import annotations

DOMAIN = "tallyard.dev"
FIELD_MANAGER = "tallyard"

# Nodes. A kubelet may not write labels under this suffix (the NodeRestriction plugin of
# the API server), so a host cannot move itself into another pool or price.
PROTECTED_DOMAIN = f"{DOMAIN}.node-restriction.kubernetes.io"
NODE_POOL = f"{PROTECTED_DOMAIN}/pool"
NODE_MODEL = f"{PROTECTED_DOMAIN}/model"
NODE_BLOCK = f"{PROTECTED_DOMAIN}/block"
NODE_RACK = f"{PROTECTED_DOMAIN}/rack"
NODE_HOSTNAME = "kubernetes.io/hostname"
# What users select on; a kubelet can write these, so they never decide a price alone.
GPU_VENDOR = "gpu.vendor"
GPU_MODEL = "gpu.model"
GPU_MEMORY = "gpu.memory"
# The taint that keeps a pool's hosts for the pool's own queues.
POOL_TAINT = f"{DOMAIN}/pool"

# What a host carries until it is seen to be what the spec says of it.
UNVERIFIED_TAINT = f"{DOMAIN}/unverified"

# Namespaces and what people submit.
# The label is the project's id, which never changes; the annotation what people call it now.
PROJECT = f"{DOMAIN}/project"
PROJECT_KEY = f"{DOMAIN}/project-key"
USER = f"{DOMAIN}/user"
# The whole name of the user who asked, which is often no legal label value.
LOGIN = f"{DOMAIN}/login"

# Kueue's own.
KUEUE_GROUP = "kueue.x-k8s.io"
KUEUE_VERSION = "v1beta2"
KUEUE_API = f"{KUEUE_GROUP}/{KUEUE_VERSION}"
QUEUE_NAME = f"{KUEUE_GROUP}/queue-name"
PRIORITY_CLASS = f"{KUEUE_GROUP}/priority-class"
KUEUE_NAMESPACE = "kueue-system"

# Who may do what: the roles, and the group whose members hold the operators' one.
MEMBER_ROLE = "tallyard:member"
READER_ROLE = "tallyard:reader"
OPERATOR_ROLE = "tallyard:operator"
OPERATOR_GROUP = "tallyard:operators"

# Our own: where what we run lives, the service account of our controllers and that of the
# playbooks for hosts, and the ConfigMap with the spec as it was at the last `pulumi up`.
SYSTEM_NAMESPACE = "tallyard-system"
CONTROLLERS = "controllers"
NODE_LABELLER = "node-labeller"
SPEC_CONFIG = "platform"

# The built-in pool of hosts without cards, and the root of the cohort tree.
CPU_POOL = "cpu"
ROOT_COHORT = "cluster"


def cluster_queue(project_id: str, pool: str) -> str:
    """Return the ClusterQueue's name of one project in one pool."""
    return f"{project_id}-{pool}"


def local_queue(pool: str) -> str:
    """Return the LocalQueue's name in a project's namespace; users type it."""
    return pool


def namespace(project_id: str) -> str:
    """Return the namespace of a project; the id survives a rename, so it does too."""
    return project_id


_SLICED = ".shared"


def slice_resource(resource: str) -> str:
    """Return under which name slices of a resource are offered.

    NVIDIA's device plugin adds this ending with `renameByDefault`; so slices have quotas and
    prices of their own, and nobody who asks for a card is given a slice of one.
    """
    return f"{resource}{_SLICED}"


def is_sliced(resource: str) -> bool:
    """Return whether a resource counts slices of cards."""
    return resource.endswith(_SLICED)


def object_name(text: str) -> str:
    """Turn a model's or a pool's name into a DNS label: lower case, dashes."""
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
