"""What Pod Security `restricted` refuses in a pod, refused when its template is submitted.

Pod Security itself looks at pods, so a Job would be taken and then have none, with the reason in
an Event. What the stamps fill in (`stamps.py`) is left out here.
"""

from __future__ import annotations

from tallyard.render.admission import cel
from tallyard.render.admission.rule import Lock, of_fresh_template

_SHARED = (
    "variables.templates.map(t, ['hostNetwork', 'hostPID', 'hostIPC']"
    ".filter(f, t.spec[?f].orValue(false)).map(f, "
    + cel.said("{} is true: leave it out", "f")
    + ")).flatten()"
)
_PORTS = (
    "variables.containers.map(c, c.spec.?ports.orValue([]).filter(p, p.?hostPort.orValue(0) != 0)"
    ".map(p, "
    + cel.said(
        "container {} takes port {} of its host: leave hostPort out and use a Service",
        "c.spec.name",
        "string(p.hostPort)",
    )
    + ")).flatten()"
)
_VOLUME_KINDS = cel.texts(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
_VOLUMES = (
    "variables.templates.map(t, t.spec.?volumes.orValue([]).map(v, v.map(k, k)"
    f".filter(k, k != 'name' && !(k in {_VOLUME_KINDS})).map(k, "
    + cel.said("volume {} is of kind {}: use a persistentVolumeClaim or an emptyDir", "v.name", "k")
    + ")).flatten()).flatten()"
)

# Whose security context it is, with the words for it.
_CONTEXTS = cel.joined(
    (
        "variables.templates.map(t, "
        + cel.record(who="'the pods'", what="t.spec.?securityContext.orValue({})")
        + ")",
        "variables.containers.map(c, "
        + cel.record(who="'container ' + c.spec.name", what="c.spec.?securityContext.orValue({})")
        + ")",
    )
)
_ROOT = ("runAsNonRoot false (root)", "s.what.?runAsNonRoot.orValue(true) == false")
_ROOT_ID = ("runAsUser 0 (root)", "s.what.?runAsUser.orValue(1) == 0")
_ESCALATION = (
    "allowPrivilegeEscalation",
    "s.what.?allowPrivilegeEscalation.orValue(false)",
)
_PRIVILEGED = ("privileged", "s.what.?privileged.orValue(false)")
_CAPABILITIES = (
    "capabilities.add",
    "s.what.?capabilities.add.orValue([]).exists(a, a != 'NET_BIND_SERVICE')",
)
_SECCOMP = ("seccompProfile", "s.what.?seccompProfile.type.orValue('') == 'Unconfined'")
_APPARMOR = ("appArmorProfile", "s.what.?appArmorProfile.type.orValue('') == 'Unconfined'")
_SELINUX_TYPES = cel.texts(
    ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
)
_SELINUX_SAYS = (
    f"!(s.what.?seLinuxOptions.?type.orValue('') in {_SELINUX_TYPES}) || "
    "s.what.?seLinuxOptions.?user.orValue('') != '' || "
    "s.what.?seLinuxOptions.?role.orValue('') != ''"
)
_SELINUX = ("seLinuxOptions", _SELINUX_SAYS)
_PROC = ("procMount", "!(s.what.?procMount.orValue('Default') in ['', 'Default'])")
_SYSCTLS = (
    "sysctls",
    "s.what.?sysctls.orValue([]).exists(y, !(y.name in "
    + cel.texts(
        (
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.tcp_syncookies",
            "net.ipv4.ping_group_range",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes",
            "net.ipv4.tcp_rmem",
            "net.ipv4.tcp_wmem",
        )
    )
    + "))",
)
_HOST_PROCESS = ("windowsOptions.hostProcess", "s.what.?windowsOptions.hostProcess.orValue(false)")
_FIELDS = (
    _ROOT,
    _ROOT_ID,
    _ESCALATION,
    _PRIVILEGED,
    _CAPABILITIES,
    _SECCOMP,
    _APPARMOR,
    _SELINUX,
    _PROC,
    _SYSCTLS,
    _HOST_PROCESS,
)
_ASKED = " + ".join(cel.when(condition, cel.text(name)) for name, condition in _FIELDS)
# Most have one field of these or none, so the list of their names is looked at first.
_RIGHTS = (
    f"({_CONTEXTS}).filter(s, size(s.what) > 0).map(s, ({_ASKED}).map(f, "
    + cel.said(
        "securityContext.{} of {} is more than Pod Security restricted gives: leave it out",
        "f",
        "s.who",
    )
    + ")).flatten()"
)

LOCKS: tuple[Lock, ...] = (
    of_fresh_template(
        "rights-few",
        cel.joined((_SHARED, _PORTS, _VOLUMES, _RIGHTS)),
    ),
)
