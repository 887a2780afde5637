"""Every name that Tallyard writes into a cluster, each from one place.

A label in a policy and a label in a template cannot differ, because both come from here.
Names that belong to Kubernetes or Kueue are listed too, so that they are spelled once.
"""

from __future__ import annotations

DOMAIN = "tallyard.dev"
FIELD_MANAGER = "tallyard"
# On every object of ours, with the name above as its value.
MANAGED_BY = "app.kubernetes.io/managed-by"
# By these Pulumi applies an object under that name, and takes a field back that somebody else
# has changed; without them it invents a name for each object, and refuses such a field.
PATCH_MANAGER = "pulumi.com/patchFieldManager"
PATCH_FORCE = "pulumi.com/patchForce"
# Who holds queues by `tally drain`; Pulumi's own manager would lose all other fields.
DRAIN_MANAGER = f"{FIELD_MANAGER}-drain"

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
# Why it carries that, in one sentence, as an annotation.
HELD = f"{DOMAIN}/held"

# Namespaces and what people submit.
# The label is the project's id, which never changes; the annotation what people call it now.
PROJECT = f"{DOMAIN}/project"
PROJECT_KEY = f"{DOMAIN}/project-key"
USER = f"{DOMAIN}/user"
# The whole name of the user who asked, which is often no legal label value.
LOGIN = f"{DOMAIN}/login"

# What people ask for by an annotation: cards with this much memory or more, all pods in one place.
GPU_MEMORY_LEAST = f"{DOMAIN}/gpu-memory"
WITHIN = f"{DOMAIN}/within"
# Marks work that starts pods on behalf of a program; a pool may bound how many.
AGENT = f"{DOMAIN}/agent"

# On a flavor: the core-hours that one card, or one slice of a card, costs for one hour.
RATE = f"{DOMAIN}/rate"
# What a container of a project asks for when it names nothing.
CONTAINER_DEFAULTS = "container-defaults"

# The effect of each taint of ours: what runs on a host stays, nothing new comes.
NO_SCHEDULE = "NoSchedule"

# The namespace of who names none; Events about what has none, such as a node, live there.
DEFAULT_NAMESPACE = "default"
# On every namespace, written by the API server alone.
NAMESPACE_NAME = "kubernetes.io/metadata.name"

# Kueue's own.
KUEUE_GROUP = "kueue.x-k8s.io"
KUEUE_VERSION = "v1beta2"
KUEUE_API = f"{KUEUE_GROUP}/{KUEUE_VERSION}"
QUEUE_NAME = f"{KUEUE_GROUP}/queue-name"
PRIORITY_CLASS = f"{KUEUE_GROUP}/priority-class"
MAX_EXEC_TIME = f"{KUEUE_GROUP}/max-exec-time-seconds"
REQUIRED_TOPOLOGY = f"{KUEUE_GROUP}/podset-required-topology"
PARENT_FRAMEWORK = f"{KUEUE_GROUP}/pod-suspending-parent"
# On each pod: its Workload (an annotation), and which of its pod sets it is of (a label).
WORKLOAD = f"{KUEUE_GROUP}/workload"
POD_SET = f"{KUEUE_GROUP}/podset"
# On pods that are one Workload together, from the begin: its name.
POD_GROUP = f"{KUEUE_GROUP}/pod-group-name"
KUEUE_NAMESPACE = "kueue-system"
# The service account of its manager, by which the API server knows it.
KUEUE_ACCOUNT = "kueue-controller-manager"

# JobSet's own.
JOBSET_GROUP = "jobset.x-k8s.io"
JOBSET_VERSION = "v1alpha2"
JOBSET_NAMESPACE = "jobset-system"
JOBSET_ACCOUNT = "jobset-controller"
# On the jobs and pods of a JobSet.
JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"

# The admission check of the ledger; the finalizer with which a Workload is made and that stays until
# it is let in; and the one that takes its place then, until its end is on record.
CORE_HOURS_CHECK = "core-hours"
HOLD_FINALIZER = f"{DOMAIN}/hold"
SETTLE_FINALIZER = f"{DOMAIN}/settle"
FINALIZERS = frozenset({HOLD_FINALIZER, SETTLE_FINALIZER})

# Who may do what: the roles, and the group whose members hold the operators' one.
MEMBER_ROLE = "tallyard:member"
ADMIN_ROLE = "tallyard:admin"
READER_ROLE = "tallyard:reader"
OPERATOR_ROLE = "tallyard:operator"
OPERATOR_GROUP = "tallyard:operators"
# What our controllers may do everywhere, what in their own namespace, and who may tell people.
CONTROLLERS_ROLE = "tallyard:controllers"
CONTROLLERS_OWN_ROLE = "tallyard:controllers-own"
EVENTS_ROLE = "tallyard:events"
NODE_LABELLER_ROLE = "tallyard:node-labeller"
SPEC_READER_ROLE = "tallyard:spec-reader"

# Our own: where what we run lives, the service account of our controllers and that of the
# playbooks for hosts, and the ConfigMap with the spec as it was at the last `pulumi up`.
SYSTEM_NAMESPACE = "tallyard-system"
CONTROLLERS = "controllers"
NODE_LABELLER = "node-labeller"
SPEC_CONFIG = "platform"
# On that ConfigMap: which of its files is the environment's.
OVERLAY = f"{DOMAIN}/overlay"
API = f"{DOMAIN}/v1"
# The table that the admission policies look into, and the policies.
PROJECT_TABLE = "platform"
PROJECT_TABLE_KIND = "ProjectTable"
PROJECT_TABLES = "projecttables"
# What a project has of core-hours, for people to read; its one object is called like the check.
CORE_HOURS_KIND = "CoreHours"
CORE_HOURS_PLURAL = "corehours"
STAMP_POLICY = "tallyard-stamp"
LOCK_POLICY = "tallyard-lock"
ELSEWHERE_POLICY = "tallyard-elsewhere"
# What the cluster itself needs; no policy of ours says a word there. By name, so that no label
# can let anything in or out.
SYSTEM_NAMESPACES = (
    "kube-system",
    "kube-public",
    "kube-node-lease",
    KUEUE_NAMESPACE,
    JOBSET_NAMESPACE,
    SYSTEM_NAMESPACE,
)

# The built-in pool of hosts without cards, and the root of the cohort tree.
CPU_POOL = "cpu"
ROOT_COHORT = "cluster"


def account_login(namespace: str, account: str) -> str:
    """Return what the API server calls a service account that asks for something."""
    return f"system:serviceaccount:{namespace}:{account}"


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
