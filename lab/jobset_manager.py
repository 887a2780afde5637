"""What is JobSet's own in the way the lab runs its controller."""

from __future__ import annotations

from pathlib import Path

from lab.api import Right
from lab.certificates import Webhook
from lab.manager import Kind, Sections
from lab.ports import JOBSET
from tallyard import labels
from tallyard.render.jobset_manager import WEBHOOK_SERVICE


def _differences(certificate_folder: Path) -> Sections:
    return {
        # Its own management writes into one fixed folder of the machine, which two labs
        # would share; without it the files are read from where they are.
        "internalCertManagement": {"enable": False},
        "metrics": {"certDir": str(certificate_folder)},
    }


KIND = Kind(
    name=JOBSET,
    title="JobSet's controller",
    namespace=labels.JOBSET_NAMESPACE,
    account=labels.JOBSET_ACCOUNT,
    rights=(Right("update", labels.JOBSET_GROUP, "jobsets/status"),),
    webhook=Webhook("jobset-ca", "jobset", f"{WEBHOOK_SERVICE}.{labels.JOBSET_NAMESPACE}.svc"),
    api=(labels.JOBSET_GROUP, labels.JOBSET_VERSION),
    definitions=("jobsets",),
    # An empty Secret that nobody fills here.
    left_out=frozenset({"webhook/secret.yaml"}),
    secret="",
    memory_limit="80MiB",
    # What the chart's Deployment has.
    arguments=("--zap-log-level=2",),
    differences=_differences,
)
