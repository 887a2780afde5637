# ruff: noqa: RUF001 - Chinese has its own punctuation
"""What the models and the kinds of value say of the spec's keys, in Chinese.

The English texts stand on the keys themselves (`document.py`, `keys_of_*.py`) and in `kinds.py`; a test compares
them with this table. Words that are written into the spec stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tallyard.languages import Language
from tallyard.spec.fields import NOT_ENFORCED

_MODELS: Mapping[str, str] = {
    NOT_ENFORCED: "（会检查和比较；目前尚未强制执行。）",
    # Both files
    "What is the same in every environment.": "各环境相同的内容。",
    "The form of this file.": "本文件的格式版本。",
    "What this file describes.": "本文件描述的是什么。",
    "In which days and months are counted, e.g. Asia/Shanghai.": (
        "按哪个时区计算日和月，例如 Asia/Shanghai。"
    ),
    "When a period of core-hours begins, and when a day of an override ends.": (
        "决定核时周期何时开始，以及例外的最后一天何时结束。"
    ),
    "the same everywhere": "各地一致",
    "The models of card.": "卡的型号。",
    "Labels that users select on.": "供用户选择的标签。",
    "The levels at which work is kept together, widest first, down to the host.": (
        "让作业集中放置的各个级别，由大到小，直到主机。"
    ),
    "The Topology of every flavor.": "每个 flavor 的 Topology。",
    "The priorities of work.": "作业的各个优先级。",
    "Kinds of work and where they run.": "作业的类别，以及在哪里运行。",
    "A cohort each, and a queue in each project that is granted it.": (
        "每个资源池一个队列组，并在每个获得授予的项目中有一个队列。"
    ),
    "Beginnings of the names of resources that no queue counts, e.g. rdma/.": (
        "不由任何队列计算的资源的名称前缀，例如 rdma/。"
    ),
    "Kueue's excludeResourcePrefixes: asking for them never makes work wait.": (
        "Kueue 的 excludeResourcePrefixes：申请这些资源不会使作业等待。"
    ),
    "what a pod asks for and no queue counts would wait for ever": (
        "Pod 申请了而没有队列计算的资源，会使它永远等待"
    ),
    "The part of all hours in which a card can be expected to work.": (
        "卡预计可用的时间在全部时间中的占比。"
    ),
    "What the cards can give is counted with it.": "计算卡能提供多少核时要用到它。",
    "rule of thumb: failures, upgrades and gaps between jobs take a tenth": (
        "经验值：故障、升级和作业之间的空档约占十分之一"
    ),
    "Classes of quota.": "各个配额等级。",
    "The teams.": "各个团队。",
    "What differs between environments. A key that the platform's file says too counts from here.": (
        "因环境而异的内容。平台文件中也有的键，以这里为准。"
    ),
    "The platform's file, seen from this file's folder.": "平台文件，相对于本文件所在的目录。",
    "The hosts of the environment.": "该环境的主机。",
    "Labels, taints and quotas.": "标签、污点和配额。",
    "Names the platform.": "给平台命名。",
    "What the platform is called.": "平台的名称。",
    # Accelerators
    "A model of card; its key is the value of the node label gpu.model.": (
        "一种卡的型号；键名就是节点标签 gpu.model 的值。"
    ),
    "Who makes the card, in lower case.": "卡的厂商，用小写字母。",
    "The node label gpu.vendor.": "节点标签 gpu.vendor。",
    "The memory of one card, e.g. 80Gi.": "一张卡的显存，例如 80Gi。",
    "The node label gpu.memory.": "节点标签 gpu.memory。",
    "The resource that the vendor's device plugin offers; for nvidia it is nvidia.com/gpu.": (
        "厂商的设备插件提供的资源名；nvidia 的是 nvidia.com/gpu。"
    ),
    "What jobs request and what quotas count.": "作业按它申请，配额按它计算。",
    "the name that NVIDIA's device plugin uses; the others have none that is sure": (
        "NVIDIA 的设备插件使用的名称；其他厂商没有确定的名称"
    ),
    "Core-hours for one card for one hour, with up to three decimals.": (
        "一张卡使用一小时所计的核时，至多三位小数。"
    ),
    "What a job freezes and pays; what a tier's core-hours last for.": (
        "决定作业冻结和支付多少核时，以及配额等级的核时能用多久。"
    ),
    "The vCPU and memory that the rate covers for each card; more is paid for like CPU work.": (
        "费率为每张卡包含的 vCPU 和内存；超出部分按 CPU 作业计费。"
    ),
    "Only what a pod asks beyond it costs core-hours of its own.": (
        "只有 Pod 申请的超出部分才另计核时。"
    ),
    "nothing is included unless it is said": "未写明则不包含",
    "Where the rate comes from, so that people know what to trust.": (
        "费率的来源，让人知道它有多可信。"
    ),
    "Shown beside the rate.": "与费率一同显示。",
    "What the rate of a card covers besides the card.": "卡的费率除卡本身以外还包含什么。",
    "vCPU that the rate covers, for each card.": "费率为每张卡包含的 vCPU 数。",
    "Memory that the rate covers, for each card, e.g. 64Gi.": (
        "费率为每张卡包含的内存，例如 64Gi。"
    ),
    # Priorities
    "One priority of work.": "作业的一个优先级。",
    "What the priority is called.": "优先级的名称。",
    "A PriorityClass and a WorkloadPriorityClass.": (
        "一个 PriorityClass 和一个 WorkloadPriorityClass。"
    ),
    "The higher goes first.": "数值高者优先。",
    "The order in a queue, and who gives cards back to whom.": (
        "决定队列中的先后，以及谁要把卡还给谁。"
    ),
    "Whether this work can be stopped to give cards back to their owner.": (
        "这种作业能否被抢占，即停下来把卡还给所有者。"
    ),
    "A pool that borrows needs such a priority; an inference pool may not have one.": (
        "借用的资源池必须使用可抢占的优先级；推理资源池不得使用。"
    ),
    "work is stopped only where that is said": "只有写明之处才会停止作业",
    # Pools
    "How the cards of a pool are cut.": "资源池的卡如何切片。",
    "How many share one card in turns, without a wall between their memories.": (
        "一张卡由多少个切片轮流使用，彼此的显存没有隔离。"
    ),
    "The card is offered as so many slices under a resource of their own.": (
        "每张卡按这个数目提供切片，切片有专用的资源名。"
    ),
    "A kind of work and the cards it runs on.": "一类作业，以及它使用的卡。",
    "The accelerators of the pool; a pool that borrows takes them from its lender.": (
        "资源池的加速卡型号；借用的资源池沿用借出方的型号。"
    ),
    "One ResourceFlavor for each.": "每个型号一个 ResourceFlavor。",
    "batch runs to an end; inference serves until somebody stops it.": (
        "batch 运行到结束为止；inference 持续提供服务，直到有人停止它。"
    ),
    "Inference outranks all batch work and may have burst and scale-within.": (
        "推理的优先级高于所有批处理作业，并可写 burst 和 scale-within。"
    ),
    "most pools run jobs": "多数资源池运行的是批处理作业",
    "The priority of the pool's work.": "该资源池的作业的优先级。",
    "The priority that its queues demand.": "其队列要求作业使用的优先级。",
    "exclusive gives whole cards; {time-slicing: N} gives N slices of each.": (
        "exclusive 提供整卡；{time-slicing: N} 把每张卡分成 N 个切片。"
    ),
    "Quotas count cards all the same; of a sliced card all slices.": (
        "配额仍按卡计算；切片的卡计入它的全部切片。"
    ),
    "whole cards are what training and serving at a promised speed need": (
        "训练和承诺速度的服务需要整卡"
    ),
    "The model for work that names none; the first of `models` if it is not said.": (
        "作业未指明型号时使用的型号；不写则为 `models` 的第一个。"
    ),
    "Such work waits for this model and is not moved to a dearer one.": (
        "这样的作业会等待该型号，不会换到更贵的型号。"
    ),
    "What happens to cards that a queue has borrowed when their owner wants them.": (
        "队列借用的卡在所有者需要时如何处理。"
    ),
    "keep: work of the same priority runs to its end; reclaim: the owner stops it.": (
        "keep：同优先级的作业运行到结束；reclaim：所有者将其停止。"
    ),
    "a training run that is stopped loses more than its owner gains": (
        "训练中途停止，损失大于卡的所有者所得"
    ),
    "The pool whose idle cards this one uses; it then owns none itself.": (
        "本资源池借用哪个资源池的空闲卡；这时它自己没有卡。"
    ),
    "Its queues have a quota of nothing in the lender's cohort.": (
        "其队列在借出方的队列组中，配额为零。"
    ),
    "Whether work without cards runs here too, on the hosts of the built-in pool cpu.": (
        "是否也在此运行无卡作业，使用内置资源池 cpu 的主机。"
    ),
    "The CPU hosts' quota stands on this pool's cohort.": (
        "CPU 主机的配额写在该资源池的队列组上。"
    ),
    "one pool runs such work, and it is named": "只有一个资源池运行这类作业，须写明是哪个",
    "How long work may take to save itself when it is stopped, e.g. 120s.": (
        "作业被停止时，有多长时间保存进度，例如 120s。"
    ),
    "terminationGracePeriodSeconds of the pool's pods, where more or nothing is said.": (
        "该资源池的 Pod 未写 terminationGracePeriodSeconds 或写得更大时，采用此值。"
    ),
    "Kubernetes' own default": "Kubernetes 自身的默认值",
    "How far a queue of an inference pool may go beyond its cards, in per cent of them.": (
        "推理资源池的队列可以超出自有的卡多少，按自有卡数的百分比计。"
    ),
    "The borrowing limit of its ClusterQueues, rounded down to whole cards.": (
        "其 ClusterQueue 的借用上限，向下取整到整卡。"
    ),
    "a reservation is what it says unless burst is given": "未写 burst 时，预留多少就是多少",
    "How soon a service of the pool is to have more replicas when its load rises.": (
        "负载上升时，该资源池的服务应在多长时间内增加副本。"
    ),
    "The bound that its scaling is configured and watched for.": "服务的扩容按此时限配置和监控。",
    "How many pods one agent may start in a pool that borrows.": (
        "在借用的资源池中，一个智能体最多可启动多少个 Pod。"
    ),
    "Work with the label tallyard.dev/agent that asks for more pods at once is refused.": (
        "带标签 tallyard.dev/agent 的作业同时申请更多 Pod 时，会被拒绝。"
    ),
    "How often a job of a pool that borrows starts again after it failed.": (
        "借用的资源池中，作业失败后最多重新启动多少次。"
    ),
    "backoffLimit of its jobs, where more or nothing is said.": (
        "其作业未写 backoffLimit 或写得更大时，采用此值。"
    ),
    # Defaults
    "What a request that names nothing gets.": "申请没有写明时得到什么。",
    "What a request gets for each of its cards.": "申请的每张卡附带什么。",
    "What it gets for each card.": "每张卡附带什么。",
    "The requests of a container with cards that names none, and its limit of memory; "
    "for a slice its part.": ("用卡的容器未写时的 requests，以及内存的上限；切片按其份额。"),
    "vCPU for each card.": "每张卡的 vCPU 数。",
    "Memory for each card, e.g. 4Gi.": "每张卡的内存，例如 4Gi。",
    "The local disk that a container gets, e.g. 20Gi.": "每个容器得到的本地磁盘，例如 20Gi。",
    "The request of a container that names none.": "容器未写该项申请时采用的值。",
    "Resources of other device plugins that each pod gets, e.g. {rdma/hca: 1}.": (
        "每个 Pod 都会得到的、由其他设备插件提供的资源，例如 {rdma/hca: 1}。"
    ),
    "Each of them must be named in `uncounted`: no queue has a quota of it.": (
        "每一项都必须写在 `uncounted` 中：没有队列对它设配额。"
    ),
    "a pod gets nothing that it did not ask for": "Pod 不会得到它没有申请的资源",
    "The defaults that may differ between environments.": "可因环境而异的默认值。",
    "The registry of images that name none, e.g. registry.example.com/team.": (
        "镜像没有写明仓库时使用的镜像仓库，例如 registry.example.com/team。"
    ),
    "It is put before such an image's name.": "加在这样的镜像名之前。",
    # Tiers
    "A class of quota that projects share.": "一个配额等级，可由多个项目共用。",
    "The share of idle cards that a project of the tier gets, relative to the others.": (
        "该等级的项目分得空闲卡的权重，相对于其他项目。"
    ),
    "The fair sharing weight of its ClusterQueues.": "其 ClusterQueue 的公平共享权重。",
    "The core-hours that a project gets, per day, week or month: 600000/month.": (
        "每个项目每天、每周或每月得到的核时：600000/month。"
    ),
    "What its jobs can freeze and are charged to.": "其作业从中冻结和扣除核时。",
    "The longest time limit that a job may have, e.g. 72h.": "作业可设的最长时限，例如 72h。",
    "A job that asks for more is refused.": "申请更长时限的作业会被拒绝。",
    "The part of the project's core-hours that one user may have frozen and charged.": (
        "一个用户可以冻结和扣除的核时，在项目核时中的占比。"
    ),
    "The limit of each user who has no `share`.": "没有写 `share` 的用户的上限。",
    "a project shares among its people as it likes": "项目内部如何分配由项目自己决定",
    "Pool, model, number: the cards that each project of the tier owns. "
    "A pool that is not named is not granted.": (
        "资源池、型号、数量：该等级的每个项目自有的卡。没有写明的资源池不授予。"
    ),
    "The nominal quota of the project's ClusterQueue in that pool.": (
        "项目在该资源池的 ClusterQueue 的名义配额。"
    ),
    "Pool, number: the cards of each model that a queue may use beyond its own.": (
        "资源池、数量：队列在自有的卡之外，每种型号还可以借用多少张。"
    ),
    "The borrowing limit of the ClusterQueue.": "ClusterQueue 的借用上限。",
    "a queue keeps to its own cards unless it is said": "未写明时，队列只使用自有的卡",
    # Projects
    "A team; the key is what people say.": "一个团队；键名是大家平时的叫法。",
    "The name in labels, namespace and books; it survives a rename of the key.": (
        "标签、命名空间和账目中的名称；键名改了它也不变。"
    ),
    "The namespace, and the first part of each ClusterQueue's name.": (
        "命名空间，以及每个 ClusterQueue 名称的第一部分。"
    ),
    "The class of quota that the project has.": "项目的配额等级。",
    "Who pays for what a service account or an unknown login submits; without one it is refused.": (
        "服务账户或未知登录名提交的作业由谁付费；不写则拒绝这样的作业。"
    ),
    "The user's label of such work.": "这样的作业的用户标签。",
    "The people of the project.": "项目的成员。",
    "Who may submit into its queues.": "谁可以向其队列提交作业。",
    "Other limits for a time.": "例外：一段时间内采用其他限额。",
    "They replace the tier's until they end.": "到期之前取代配额等级的限额。",
    "The part of a period's core-hours that may still be used in the next period.": (
        "一个周期的核时中，可以结转到下一周期使用的部分。"
    ),
    "What is left beyond it expires at the end of the period.": (
        "超出该部分的剩余核时在周期结束时作废。"
    ),
    "cards that stood idle last month cannot be used this month": (
        "上个月闲置的卡无法留到这个月使用"
    ),
    "A person; the key is a legal label value and stands in labels and books.": (
        "一个人；键名须是合法的标签值，会写在标签和账目中。"
    ),
    "What the API server calls the person; the key itself where none is given.": (
        "API 服务器使用的用户名；不写则为键名本身。"
    ),
    "The subjects of the RoleBinding in the project's namespace.": (
        "项目命名空间中 RoleBinding 的 subjects。"
    ),
    "The part of the project's core-hours that this user may have frozen and charged; "
    "the tier's user-share if it is not said. All shares may add up to more than 100%.": (
        "该用户可以冻结和扣除的核时，在项目核时中的占比；不写则为配额等级的 user-share。"
        "所有占比之和可以超过 100%。"
    ),
    "The limit on this user's account.": "该用户账户的上限。",
    "Whether the person looks after the project.": "这个人是否管理该项目。",
    "Beside what a member may do: service accounts, and who else is a member.": (
        "除成员的权限外，还可管理服务账号，以及还有谁是成员。"
    ),
    "a member works and lets others work": "成员只管理自己的作业",
    "Other limits for one project until a moment; then its tier's hold again.": (
        "一项例外：到某一时刻为止，一个项目采用其他限额；此后恢复其配额等级的限额。"
    ),
    "Pool, model, number: the cards that replace the tier's.": (
        "资源池、型号、数量：取代配额等级的卡数。"
    ),
    "The nominal quota until then.": "到期之前的名义配额。",
    "what is not named stays as the tier has it": "没有写明的仍按配额等级",
    "Pool, number: the borrowing that replaces the tier's.": (
        "资源池、数量：取代配额等级的借用数。"
    ),
    "The borrowing limit until then.": "到期之前的借用上限。",
    "The core-hours that replace the tier's.": "取代配额等级的核时。",
    "The longest time limit that replaces the tier's.": "取代配额等级的最长时限。",
    "The last day on which it holds, or the moment at which it ends: 2026-12-31, "
    "2026-12-31T18:00, 2026-12-31T18:00+08:00.": (
        "例外有效的最后一天，或结束的时刻：2026-12-31、2026-12-31T18:00、2026-12-31T18:00+08:00。"
    ),
    "At that moment the tier's limits are back, without anybody's `pulumi up`; what runs goes on.": (
        "到期时自动恢复配额等级的限额，无需执行 `pulumi up`；运行中的作业不受影响。"
    ),
    "Why, in a few words.": "原因，用几个词说明。",
    "Shown wherever the limits are shown.": "凡显示限额之处都会显示。",
    # Waivers
    "Exceptions from the rules that a change is reviewed by; those of both files hold.": (
        "豁免：对审查变更的规则的例外；两个文件中的都有效。"
    ),
    "What the rule finds there is told, with the reason, and stops nothing.": (
        "规则在该处的发现连同原因一起显示，但不再阻止变更。"
    ),
    "every rule holds": "所有规则都有效",
    "An exception from one rule of the review until a moment; then the rule holds again.": (
        "一项豁免：到某一时刻为止，对一条审查规则的例外；此后规则重新生效。"
    ),
    "The rule, by the name that its findings end with.": ("规则的名称，即其每条发现末尾的名称。"),
    "What it is waived for, as Kind/name, or Kind/namespace/name where an object has one; `*`, "
    "`?` and `[ab]` stand for other letters of a name. A finding that is about no object is "
    "named in the same way: Pin/charts.kueue.digest, Setting/tallyard:token.": (
        "豁免的对象：写 Kind/name，有命名空间的写 Kind/namespace/name；名称中的 `*`、`?` 和 `[ab]` "
        "代表其他字符。与对象无关的发现也这样写：Pin/charts.kueue.digest、Setting/tallyard:token。"
    ),
    # Hosts
    "Hosts of one kind.": "一种主机。",
    "A host, or a range of them: a100-[00-03].": "一台主机，或主机的范围：a100-[00-03]。",
    "Node names.": "节点名。",
    "The pool that the hosts belong to; cpu is the built-in pool of hosts without cards.": (
        "主机所属的资源池；cpu 是内置的无卡主机池。"
    ),
    "The node's label and taint.": "节点的标签和污点。",
    "The accelerator in the hosts.": "主机中的加速卡型号。",
    "How many cards each host has.": "每台主机的卡数。",
    "How the cards of a host are linked; hosts of one model in one pool are alike.": (
        "一台主机的卡如何互联；同一资源池中同一型号的主机必须相同。"
    ),
    "What placement inside a host is judged by.": "判断主机内放置好坏的依据。",
    "vCPU that a host can give to work.": "一台主机可供作业使用的 vCPU 数。",
    "Memory that a host can give to work, e.g. 1Ti.": "一台主机可供作业使用的内存，例如 1Ti。",
    "The network block, or a range over which the racks are shared out.": (
        "网络区块；写成范围时，机架分到其中各个区块。"
    ),
    "The widest level of placement.": "最大的放置级别。",
    "The rack, or a range over which the hosts are shared out in order: r[0-1].": (
        "机架；写成范围时，主机依次分到其中各个机架：r[0-1]。"
    ),
    "The level of placement between block and host.": "区块与主机之间的放置级别。",
    # Prices
    "What work costs; a core-hour is one vCPU and 1 GiB for one hour.": (
        "作业如何计费；一核时是一个 vCPU 和 1 GiB 内存使用一小时。"
    ),
    "What work costs, in core-hours: one is one vCPU and 1 GiB for one hour. What a card costs is its accelerator's `rate`.": (
        "作业的费用，以核时计：1 核时即 1 个 vCPU 加 1 GiB 内存一小时。一张卡的费用是其加速卡型号的 `rate`。"
    ),
    "What a pod pays whose vCPU and GiB differ: the larger of the two numbers, or their mean.": (
        "Pod 的 vCPU 数与 GiB 数不同时按什么计费：两数中较大的，或两数的平均。"
    ),
    "The rate of CPU work, and of what a pod asks beyond what its cards include.": (
        "CPU 作业的费率，以及 Pod 申请超出其卡所含部分的费率。"
    ),
    "rule of thumb: who takes the larger one leaves a rest that nobody can use": (
        "经验值：一种占得多，另一种就会剩下没有人能用的部分"
    ),
    "What waiting in a queue costs.": "在队列中等待如何计费。",
    "What waiting costs.": "等待如何计费。",
    "The part of a job's rate that its wait costs.": "等待期间按作业费率的百分之几计费。",
    "A freeze of its own beside the job's.": "在作业的冻结之外另行冻结。",
    "rule of thumb: who holds a place pays for it as for the card": (
        "经验值：占着位置，就如同占着卡一样付费"
    ),
    "The most of a wait that is charged; the rest is free.": "等待最多计费多长时间；其余免费。",
    "The most that the wait can cost, frozen before it begins.": (
        "等待可能产生的最高费用，在等待开始前冻结。"
    ),
    "rule of thumb: five minutes are the user's, more is the platform's fault": (
        "经验值：五分钟之内算用户的，再久就是平台的责任"
    ),
    # Starting and ending
    "Admitted work starts whole, or gives its cards back.": (
        "已准入的作业要么整体启动，要么归还卡。"
    ),
    "How long admitted work may take to start.": "已准入的作业最多用多久启动。",
    "How long all pods of admitted work may take to be ready, and to be ready again when "
    "one of them has failed.": (
        "已准入作业的全部 Pod 最多用多久就绪；其中一个失败后，最多用多久重新就绪。"
    ),
    "Then they are stopped, the cards go back and the work waits for another turn "
    "(Kueue's waitForPodsReady).": (
        "超过后停止全部 Pod，归还卡，作业重新排队（Kueue 的 waitForPodsReady）。"
    ),
    "rule of thumb: a large image on a new host takes 40 minutes": (
        "经验值：新主机拉取大镜像要 40 分钟"
    ),
    "How often work that did not start in time gets another turn.": (
        "未能及时启动的作业可以重新排队几次。"
    ),
    "After that it is stopped for good, until `retention.stopped` removes it.": (
        "之后不再尝试，直到 `retention.stopped` 到期删除。"
    ),
    "rule of thumb: a fault that outlasts four hosts is in the work itself": (
        "经验值：换了四次主机仍不行，问题就在作业自身"
    ),
    "How long such work waits before its next turn; twice as long each time, up to 1h.": (
        "这样的作业隔多久才再次排队；每次加倍，最长 1h。"
    ),
    "Meanwhile others can have the cards.": "其间卡可以给其他作业。",
    "Kueue's own default": "Kueue 自己的默认值",
    "How long what has ended is kept.": "结束的作业保留多久。",
    "How long what has ended is kept, for people to look at.": "结束的作业保留多久，供人查看。",
    "How long a job is kept after it has succeeded or failed.": "作业成功或失败后保留多久。",
    "Then the job, its pods and Kueue's record are removed; a job may name its own "
    "ttlSecondsAfterFinished.": (
        "到期后删除作业、其 Pod 和 Kueue 的记录；作业可自行写明 ttlSecondsAfterFinished。"
    ),
    "rule of thumb: who asks about a job asks within the week": (
        "经验值：要查作业的人一周之内就会来查"
    ),
    "How long a job is kept that was stopped for good: at its time limit, or because it "
    "never started in time.": "被彻底停止的作业保留多久：到了时限的，或一直未能及时启动的。",
    "Kueue then removes the job itself with its pods; it would stay suspended for ever.": (
        "到期后 Kueue 删除作业及其 Pod；否则它会一直处于挂起状态。"
    ),
    # Freezing
    "How core-hours are frozen before work runs.": "作业运行之前如何冻结核时。",
    "The part of a project's core-hours that one queue may have frozen at once.": (
        "一个队列可以同时冻结的核时，在项目核时中的占比。"
    ),
    "A job that alone exceeds it is refused.": "单个作业就超出的，会被拒绝。",
    "rule of thumb: three queues cannot starve a fourth": (
        "经验值：三个队列不至于让第四个队列无核时可用"
    ),
    "Short work that may go past the cap.": "可以越过冻结上限的短作业。",
    "Short work may go past the cap.": "短作业可以越过冻结上限。",
    "The longest time limit of work in the fast lane.": "快速通道中作业的最长时限。",
    "Such work may use what is left when the queue's cap is reached.": (
        "队列达到冻结上限之后，这样的作业仍可使用剩余的核时。"
    ),
    "rule of thumb: a quarter of an hour tests a job before it runs": (
        "经验值：一刻钟足够在正式运行之前试跑"
    ),
    "The time limit of a job that names none.": "作业没有写明时限时采用的时限。",
    "Such a job is stopped after it, or after its tier's `max-time` if that is shorter.": (
        "这样的作业到此时限即停止；配额等级的 `max-time` 更短时，以后者为准。"
    ),
    "rule of thumb: half a working day": "经验值：半个工作日",
    "How long ahead open-ended work is frozen for, again and again.": (
        "没有结束时间的作业每次提前冻结多长时间，到期再续。"
    ),
    "What a service has frozen at any time.": "服务在任一时刻冻结着多少核时。",
    "rule of thumb: long enough to react, short enough not to hoard": (
        "经验值：长到来得及应对，短到不会囤积"
    ),
    "How far a service may run into debt, in per cent of the project's core-hours.": (
        "服务最多可以欠多少核时，按项目核时的百分比计。"
    ),
    "Beyond it no new work of the project starts; the service runs on.": (
        "超出之后，项目的新作业不再启动；服务继续运行。"
    ),
    "rule of thumb: about a day and a half of a month": "经验值：约为一个月中的一天半",
    # Overcommitment
    "How much more is promised than there is.": "承诺量相对于实有量的倍数。",
    "Granted cards for each installed one, 1 to 10.": "每安装一张卡可以授予多少张，1 到 10。",
    "Quotas may add up to more than what is installed; then not all can run at once.": (
        "配额之和可以超过已安装的卡；这时不能全部同时运行。"
    ),
    "what is promised is there": "承诺多少，就有多少",
    "Granted core-hours for each one that the cards can give, 1 to 10.": (
        "卡每能提供一核时，可以授予多少核时，1 到 10。"
    ),
    "Grants may add up to more than the cards can give.": "授予之和可以超过卡能提供的核时。",
}
_KINDS: Mapping[str, str] = {
    "mapping": "映射",
    "list of mappings": "列表，每项：映射",
    "list of {}": "列表，每项：{}",
    "true or false": "true 或 false",
    "whole number": "整数",
    "number, with up to three decimals": "数，至多三位小数",
    "{} to {}": "{} 到 {}",
    "{}, {}": "{}，{}",
    "{} ({})": "{}（{}）",
    "{}, at least one": "{}，至少一个",
    "at most {} characters": "至多 {} 个字符",
    "text": "文本",
    "text in one line": "单行文本",
    "name of small letters, digits and dashes": "由小写字母、数字和短横组成的名称",
    "name of letters, digits, dashes, dots and underscores": (
        "由字母、数字、短横、点和下划线组成的名称"
    ),
    "login, without blanks": "登录名，不含空白",
    "resource: domain/name": "资源名：domain/name",
    "beginning of a resource: domain or domain/": "资源名的前缀：domain 或 domain/",
    "registry: host, host:port/path": "镜像仓库：host、host:port/path",
    "percentage": "百分比",
    "number/day, number/week or number/month": "整数加 /day、/week 或 /month",
    "day, or moment: 2026-12-31, 2026-12-31T18:00+08:00": (
        "日期，或时刻：2026-12-31、2026-12-31T18:00+08:00"
    ),
    "time zone: Area/City": "时区：Area/City",
    "name, or range of names: gpu-[00-03]": "名称，或名称的范围：gpu-[00-03]",
    "object: Kind/name or Kind/namespace/name": "对象：Kind/name 或 Kind/namespace/name",
    "quantity with its unit: 512Mi, 4Gi, 1.5Ti": "带单位的数量：512Mi、4Gi、1.5Ti",
    "time: 90s, 15m, 4h, 3d": "时长：90s、15m、4h、3d",
}

ZH: Mapping[str, str] = MappingProxyType({**_MODELS, **_KINDS})


def told(text: str, lang: Language) -> str:
    """Return a text of the models or of the kinds of value in a language.

    Args:
        text: As it stands in the schema. `fields.NOT_ENFORCED` may follow an effect.
        lang: `en` or `zh`.

    A text that the table does not have is told in English: it helps more than none.
    """
    if lang == "en" or not text:
        return text
    alone = text.removesuffix(f" {NOT_ENFORCED}")
    after = ZH[NOT_ENFORCED] if alone != text else ""
    return ZH.get(alone, alone) + after
