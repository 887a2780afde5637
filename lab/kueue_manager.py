"""What is Kueue's own in the way the lab runs its manager."""

from __future__ import annotations

from pathlib import Path

from lab.api import Right
from lab.certificates import Webhook
from lab.manager import Kind, Sections
from lab.ports import KUEUE
from tallyard import labels
from tallyard.render.kueue_manager import WEBHOOK_SECRET, WEBHOOK_SERVICE


def _differences(_: Path) -> Sections:
    # It writes to a fixed path under the root folder and ends where it may not.
    return {"featureGates": {"VisibilityOnDemand": False}}


KIND = Kind(
    name=KUEUE,
    title="Kueue's manager",
    namespace=labels.KUEUE_NAMESPACE,
    account=labels.KUEUE_ACCOUNT,
    rights=(
        Right("update", "admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        Right("update", "", "secrets", labels.KUEUE_NAMESPACE),
        Right("create", "authentication.k8s.io", "tokenreviews"),
    ),
    # Kueue's certificate management replaces, without a word, whatever is not in its own
    # form: an authority valid for the name "kueue-ca", a leaf for the Service's name, keys in
    # PKCS#1, and more than 90 days left (its look-ahead).
    webhook=Webhook("kueue-ca", "kueue", f"{WEBHOOK_SERVICE}.{labels.KUEUE_NAMESPACE}.svc"),
    api=(labels.KUEUE_GROUP, labels.KUEUE_VERSION),
    definitions=(
        "admissionchecks",
        "clusterqueues",
        "cohorts",
        "localqueues",
        "multikueueclusters",
        "multikueueconfigs",
        "provisioningrequestconfigs",
        "resourceflavors",
        "topologies",
        "workloadpriorityclasses",
        "workloads",
    ),
    # Without a process that serves them, the visibility APIServices make every deletion of a
    # namespace hang. The Secret of the webhook's certificate is the lab's own: were it
    # Pulumi's, a refresh would bring its keys into the state.
    left_out=frozenset({"internalcert", "visibility"}),
    secret=WEBHOOK_SECRET,
    memory_limit="140MiB",
    arguments=(),
    differences=_differences,
)
