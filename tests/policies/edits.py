"""What is edited into a copy of the checkout, so that each rule has something to find, or not."""

from __future__ import annotations

from tests.policies.cases import DIGEST
from tests.policies.checkout import Edit

_SPEC, _LAB = "stacks/platform.yaml", "stacks/Pulumi.local.yaml"
_VISION = """  vision:
    tier: bronze
    default-user: zhao.min
    users:
      zhao.min: {}
"""
_AUDIO = """  audio:
    tier: bronze
    users:
      wu.lan: {}
"""
_TOP = "  - {name: elastic, value: 100, preemptible: true}"
_BOTTOM = "  - {name: spare, value: 50, preemptible: true}"
# A pod beside the queues, and one without a queue in the namespace of a project.
_STRAY = f"""    from infra.objects import KubernetesObject
    from tallyard.render.manifest import Manifest

    card = {{"limits": {{"nvidia.com/gpu": 1}}}}
    main = {{"name": "main", "image": "registry.example.com/x@{DIGEST}", "resources": card}}
    stray = {{
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {{"name": "stray", "namespace": "default"}},
        "spec": {{"containers": [main]}},
    }}
    unqueued = {{**stray, "metadata": {{"name": "unqueued", "namespace": "nlp"}}}}
    for pod in (stray, unqueued):
        KubernetesObject(Manifest(pod), pulumi.ResourceOptions(provider=cluster.provider))
"""

DENIED = (
    # The lab's program takes a stack for a lab's that does not say so any more.
    Edit("infra/settings.py", 'if not config.get_bool("lab"):', "if False:"),
    Edit(_LAB, "  tallyard:lab: true\n", "  tallyard:registry-token: hunter-2-hunter\n"),
    Edit(
        "templates/workload-priority-class.yaml.j2",
        "value: {{ value | tojson }}",
        'value: {{ (20000 if name == "training" else value) | tojson }}',
    ),
    Edit(
        "templates/_resource_groups.yaml.j2",
        "nominalQuota: {{ resource.nominal | tojson }}",
        'nominalQuota: {{ ("64" if resource.name == "nvidia.com/gpu" else resource.nominal)'
        " | tojson }}",
    ),
    Edit(
        "infra/__main__.py",
        "None if told.outside else required_image(told.controllers_image)",
        '"registry.example.com/tallyard/controllers:1.0"',
    ),
    Edit(
        "infra/tenants.py",
        "(*role_manifests(platform), *limit_range_manifests(platform))",
        "role_manifests(platform)",
    ),
    Edit(
        "tallyard/render/admission/table.py",
        "for p in platform.projects.values()}",
        'for p in platform.projects.values() if p.id != "vision"}',
    ),
    Edit("templates/validating-binding.yaml.j2", "[Deny]", "[Warn]"),
    Edit("templates/namespace.yaml.j2", "extra=pod_security", "extra={}"),
    Edit("infra/release.py", '"matchPolicy": "Equivalent"', '"matchPolicy": "Exact"'),
    Edit("templates/cluster-queue.yaml.j2", 'stopPolicy: "None"', "stopPolicy: Hold"),
    Edit(
        "infra/__main__.py",
        "    queues.open_to(tenants.namespaces)\n",
        f"    queues.open_to(tenants.namespaces)\n{_STRAY}",
    ),
    Edit(
        "templates/role-member.yaml.j2",
        "resources: [localqueues, workloads]\n    verbs: [get",
        "resources: [localqueues, workloads]\n    verbs: [create, get",
    ),
)
# A queue goes away, which is only told; all else may be.
ALLOWED = (
    Edit(_SPEC, _VISION, _AUDIO),
    Edit(_SPEC, _TOP, f"{_TOP}\n{_BOTTOM}"),
    Edit(_SPEC, "training: {A100-SXM4-40GB: 2}", "training: {A100-SXM4-40GB: 4}"),
    Edit(_SPEC, "borrow: {training: 8}", "borrow: {training: 16}"),
    Edit(_SPEC, "rate: 12,", "rate: 13,"),
    Edit(
        "infra/__main__.py",
        "None if told.outside else required_image(told.controllers_image)",
        f'"registry.example.com/tallyard/controllers@{DIGEST}"',
    ),
    Edit("templates/validating-binding.yaml.j2", "[Deny]", "[Deny, Audit]"),
    Edit(
        "templates/role-member.yaml.j2",
        "resources: [localqueues, workloads]",
        "resources: [clusterqueues, localqueues, workloads]",
    ),
)
