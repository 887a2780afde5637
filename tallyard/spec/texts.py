# ruff: noqa: RUF001 - Chinese has its own punctuation
"""The table of texts: a problem's code, its English sentence, its Chinese one.

`{found}` and the like are a problem's values as `messages.py` writes them; `{nearest}` and
`{choices}` become a sentence that suggests or lists valid names, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        # 0xx: the file, and its text as YAML
        "SPEC001": (
            "There is no file {file}. {nearest} Check the name: `base` is seen from its file's folder, a name of the command line from yours.",
            "没有文件 {file}。{nearest}请检查文件名：base 从其所在文件的目录算起，命令行中的名称从当前目录算起。",
        ),
        "SPEC002": (
            "{file} is not an ordinary file. Name a YAML file, e.g. stacks/local.yaml.",
            "{file} 不是普通文件。请给出一个 YAML 文件，例如 stacks/local.yaml。",
        ),
        "SPEC003": (
            "{file} cannot be read ({reason}). Check who may read it: ls -l {file}.",
            "无法读取 {file}（{reason}）。请检查读取权限：ls -l {file}。",
        ),
        "SPEC004": (
            "{file} is larger than {limit} bytes; a spec of 5,000 hosts has about a quarter of that. Check that it is the right file, and use ranges such as a100-[00-99].",
            "{file} 超过 {limit} 字节；5000 台主机的规格大约只有它的四分之一。请确认文件无误，并使用 a100-[00-99] 这样的范围。",
        ),
        "SPEC005": (
            "The text is not UTF-8{encoding}, so its letters cannot be known. Save the file as UTF-8 in your editor.",
            "文本不是 UTF-8{encoding}，无法确定其中的字符。请在编辑器中另存为 UTF-8。",
        ),
        "SPEC006": (
            "The file holds nothing. Start from stacks/platform.yaml and stacks/local.yaml.",
            "文件没有内容。请参照 stacks/platform.yaml 和 stacks/local.yaml 编写。",
        ),
        "SPEC007": (
            "A tab indents this line (lines of this kind: {count}); YAML allows only spaces there. Replace each tab by two spaces.",
            "此行用制表符缩进（这样的行共 {count} 行）；YAML 只允许用空格缩进。请把每个制表符换成两个空格。",
        ),
        "SPEC008": (
            "The character {character} has no place in a spec and is mostly invisible. Delete it.",
            "规格中不能有字符 {character}，它通常不可见。请删除。",
        ),
        "SPEC009": (
            "A second document starts here; a file of the spec is one document. Delete the line ---, or move what follows into a file of its own.",
            "这里开始了第二个文档；规格文件只能有一个文档。请删除 --- 这一行，或把后面的内容移到单独的文件。",
        ),
        "SPEC010": (
            "This is not YAML: {detail}. Correct the text at this place.",
            "这不是合法的 YAML：{detail}。请修改此处文本。",
        ),
        "SPEC011": (
            "A second `key: value` starts inside a value: either the line is indented too far, or a text has a colon in it. Align it with its neighbours, or put the text in quotes.",
            "在一个值里又出现了“键: 值”：可能是缩进过深，也可能是文本里含有冒号。请与相邻的键对齐，或给文本加引号。",
        ),
        "SPEC012": (
            "The bracket that opens here is not closed where the next line begins: the closing bracket or a comma is missing. Compare the pairs [ ] and {{ }}.",
            "从这里开始的括号到下一行仍未正确结束：缺少右括号或逗号。请检查 [ ] 和 {{ }} 是否成对。",
        ),
        "SPEC013": (
            "The quote that opens here is never closed. Close it on the same line.",
            "从这里开始的引号没有结束。请在同一行补上。",
        ),
        "SPEC014": (
            "The text does not fit what stands above: keys of one mapping and items of one list begin in one column, a blank follows each dash, and quotes are closed. Align the line, or close the quote above.",
            "此处与上文不一致：同一映射的键、同一列表的项必须从同一列开始，短横后要有空格，引号必须成对。请对齐此行，或补上前面的引号。",
        ),
        "SPEC015": (
            "This line is neither a key with a colon nor an item of a list. Write `key: value`, or a dash in front of an item; a comment begins with #.",
            "这一行既不是带冒号的键，也不是列表项。请写成“键: 值”，或在列表项前加短横；注释以 # 开头。",
        ),
        "SPEC016": (
            "No text may begin with this character, YAML keeps it for itself. Put the text in quotes.",
            "文本不能以该字符开头，它是 YAML 的保留字符。请给文本加引号。",
        ),
        "SPEC017": (
            "This bracket closes nothing that is open. Delete it, or open it where the list or mapping begins.",
            "这个右括号没有对应的左括号。请删除，或在列表或映射开始处补上左括号。",
        ),
        "SPEC018": (
            "A colon cannot stand here: within brackets a blank follows it, and nothing comes twice. Write `key: value`, or put a text in quotes.",
            "冒号不能写在这里：在括号里冒号后要有空格，且一项只能有一个。请写成“键: 值”，或给文本加引号。",
        ),
        "SPEC019": (
            "The character {character} only looks like `{usual}`; input methods and chat programs put it there. Type `{usual}` itself.",
            "字符 {character} 只是看起来像 `{usual}`，多由输入法或聊天软件带入。请改用半角的 `{usual}`。",
        ),
        "SPEC020": (
            "Anchors and aliases (&{name}, *{name}) are not used in the spec: each value is to be read where it stands. Write it out.",
            "规格中不使用锚点和别名（&{name}、*{name}）：每个值都应在原处可读。请直接写出。",
        ),
        "SPEC021": (
            "The tag {tag} is not used in the spec. Delete it; quotes make a text.",
            "规格中不使用标签 {tag}。请删除；需要文本时加引号即可。",
        ),
        "SPEC022": (
            "The key {key} stands here a second time, first in line {line}; one would hide the other. Delete one, or put both contents under one key.",
            "键 {key} 重复出现，第一次在第 {line} 行；其中一个会被掩盖。请删除一个，或合并到同一个键下。",
        ),
        "SPEC023": (
            "A list or a mapping stands where a key is expected; keys are texts. Write a name; the {{{{ }}}} of a template is to be filled in.",
            "键的位置上是列表或映射；键只能是文本。请写一个名字；模板的 {{{{ }}}} 要替换成实际内容。",
        ),
        "SPEC024": (
            "There are more than {limit} levels here; the spec has seven. Check the brackets and the indentation above.",
            "此处嵌套超过 {limit} 层；规格最多七层。请检查上面的括号和缩进。",
        ),
        "SPEC025": (
            "The file is not a mapping. Begin with `key: value`, as in stacks/local.yaml.",
            "文件不是映射。请像 stacks/local.yaml 那样以“键: 值”开头。",
        ),
        "SPEC026": (
            "The blank {character} is not the ordinary one, which YAML needs here; input methods and web pages put it there. Type an ordinary blank.",
            "空格 {character} 不是普通空格，而 YAML 在此需要普通空格；它多由输入法或网页带入。请改用半角空格。",
        ),
        "SPEC027": (
            "Git left this mark because two people changed the same lines. Keep one of the two texts, and delete the lines <<<<<<<, ======= and >>>>>>>.",
            "这是 Git 合并冲突的标记：两个人改了同样的行。请保留其中一份，并删除 <<<<<<<、=======、>>>>>>> 这几行。",
        ),
        "SPEC028": (
            'Within brackets a comma or the closing bracket is expected here. Separate the entries by commas; a text with a bracket, comma or colon in it goes in quotes, e.g. "a100-[00-03]".',
            '括号内的这个位置应为逗号或右括号。请用逗号分隔各项；含有括号、逗号或冒号的文本要加引号，例如 "a100-[00-03]"。',
        ),
        "SPEC029": (
            "What follows this # is a comment, also the bracket that should close the list or mapping. Put a text with # in quotes, or write the comment behind the whole line.",
            "# 之后都是注释，本应结束列表或映射的括号也在其中。含有 # 的文本请加引号，注释请写在整行之后。",
        ),
        "SPEC030": (
            "Some readers of YAML take {found} for true or false, others for a text. Write true or false, or put the text in quotes.",
            "{found} 在有的 YAML 解析器里是真或假，在有的里是文本。请写 true 或 false，或给文本加引号。",
        ),
        "SPEC031": (
            "Some readers of YAML take {found} for an octal number. Write it without the zero in front, or put a text in quotes.",
            "{found} 在有的 YAML 解析器里是八进制数。请去掉前面的零，若是文本请加引号。",
        ),
        "SPEC032": (
            "Readers of YAML differ on {found}: a number to some, a text to others. Write a number in plain digits and a time as 24h or 1h30m, or put a text in quotes.",
            "{found} 在不同的 YAML 解析器里可能是数，也可能是文本。请用普通数字书写，时长写成 24h 或 1h30m，若是文本请加引号。",
        ),
        "SPEC033": (
            "The key {found} is not a text but a number, a boolean or nothing. Put it in quotes.",
            "键 {found} 不是文本，而是数、布尔值或空。请加引号。",
        ),
        "SPEC034": (
            "The number {found} has too many digits; no figure of the spec has more than 18. Check it, or put a text in quotes.",
            "数 {found} 位数过多；规格中的数不超过 18 位。请检查，若是文本请加引号。",
        ),
        "SPEC035": (
            "A comma ends a value within brackets, so {found} was cut off. Write a fraction with a point (1.5) and thousands without a comma (1200).",
            "在括号里逗号表示一项结束，因此 {found} 被切断了。小数请用小数点（1.5），千位不要用逗号（1200）。",
        ),
        "SPEC036": (
            "The file has more than {limit} keys and values, the last of them here; 10,000 users take about half of that. Check that it is the right file, and use ranges such as a100-[00-99].",
            "文件中的键和值超过 {limit} 个，此处是最后一个；10000 名用户大约只需要一半。请确认文件无误，并使用 a100-[00-99] 这样的范围。",
        ),
        "SPEC037": (
            "There are more than {limit} faults of one kind, so it may be another kind of file; further ones are not told. Correct the first, or check the file.",
            "同类错误超过 {limit} 个，可能是另一种文件；其余的不再列出。请先修改前面的，或检查文件。",
        ),
        "SPEC038": (
            "A blank is missing behind the colon in {found}, so key and value are taken for one text. Write `{right}`.",
            "{found} 的冒号后缺少空格，键和值被当成了一个文本。请写 {right}。",
        ),
        "SPEC040": (
            "{file} describes the platform, not an environment: it has no hosts. Name the environment's file, e.g. stacks/local.yaml.",
            "{file} 描述的是平台而不是环境：其中没有主机。请给出环境文件，例如 stacks/local.yaml。",
        ),
        "SPEC041": (
            "{found} is this file itself. Name the platform's file, e.g. platform.yaml.",
            "{found} 就是本文件。请写平台文件，例如 platform.yaml。",
        ),
        "SPEC043": (
            "{found} is not a YAML file of this repository, so it is not read. Name the platform's file, e.g. platform.yaml.",
            "{found} 不是本仓库中的 YAML 文件，因此不读取。请写平台文件，例如 platform.yaml。",
        ),
        "SPEC042": (
            "`base` is seen from this file's folder: there is no file {file}. {nearest} Write the path from here.",
            "base 从本文件所在目录算起：没有文件 {file}。{nearest}请写相对于此目录的路径。",
        ),
        # 1xx: shape
        "SPEC101": (
            "There is no key {key} here. {nearest}{choices}",
            "这里没有键 {key}。{nearest}{choices}",
        ),
        "SPEC102": (
            "The key {key} belongs in the other file: what differs per environment stands in the overlay, the rest in the platform's file. Move it there.",
            "键 {key} 应写在另一个文件里：各环境不同的内容写在环境文件，其余写在平台文件。请移过去。",
        ),
        "SPEC103": (
            "The key {key} does not stand here but at {elsewhere}. Move it, and mind the indentation.",
            "键 {key} 不在这里，而应在 {elsewhere}。请移动，并注意缩进。",
        ),
        "SPEC104": (
            "The key {key} is missing. Add it; `tally spec explain {place}` says what it does.",
            "缺少键 {key}。请补上；`tally spec explain {place}` 可查看其作用。",
        ),
        "SPEC105": (
            "{found} is not a text. Write one; what reads as a number, or has a colon and a blank in it, goes in quotes.",
            "不是文本：{found}。请写文本；会被读成数的，或含有冒号加空格的，要加引号。",
        ),
        "SPEC106": (
            "{found} is not a whole number. Write digits only, without quotes, point or unit.",
            "不是整数：{found}。请只写数字，不加引号、小数点和单位。",
        ),
        "SPEC107": (
            "{found} is neither true nor false. Write one of the two, without quotes.",
            "既不是 true 也不是 false：{found}。请写其中之一，不加引号。",
        ),
        "SPEC108": (
            "{found} is not a list. Write {right}, or one item a line, each after a dash.",
            "不是列表：{found}。请写 {right}，或每行一项、以短横开头。",
        ),
        "SPEC109": (
            "{found} is not a mapping. Write {{key: value}}, or one `key: value` a line below it; {{}} is an empty one. {choices}",
            "不是映射：{found}。请写 {{键: 值}}，或在下面每行写一个“键: 值”；{{}} 表示空映射。{choices}",
        ),
        "SPEC110": (
            "{found} is not possible here. {nearest}{choices}",
            "这里不能写：{found}。{nearest}{choices}",
        ),
        "SPEC111": (
            "{found} is out of range: {least} to {most}. Write a number within it.",
            "{found} 超出范围：{least} 到 {most}。请写范围内的数。",
        ),
        "SPEC112": (
            "Nothing stands here, and at least one is needed. Add one.",
            "这里是空的，至少需要一项。请补充。",
        ),
        "SPEC113": (
            "{found} is longer than {limit} characters, the most that Kubernetes takes. Shorten it.",
            "{found} 超过 {limit} 个字符，这是 Kubernetes 的上限。请缩短。",
        ),
        "SPEC114": (
            "{found} cannot be a name here: names and labels in Kubernetes are made of it. {nearest} Use small letters a-z, digits and dashes, with a letter or digit at both ends.",
            "{found} 不能作为这里的名称：它会用作 Kubernetes 对象名或标签值。{nearest}请使用小写字母 a-z、数字和短横，首尾为字母或数字。",
        ),
        "SPEC115": (
            '{found} is neither a name nor a range of names. {nearest} Write gpu-00, "gpu-[00-03]" or "gpu-[00-03,07]".',
            '{found} 既不是名称也不是名称范围。{nearest}请写 gpu-00、"gpu-[00-03]" 或 "gpu-[00-03,07]"。',
        ),
        "SPEC116": (
            "{found} cannot be the value of a Kubernetes label. {nearest} Use at most 63 letters a-z, A-Z, digits, dashes, dots and underscores, with a letter or digit at both ends.",
            "{found} 不能作为 Kubernetes 标签值。{nearest}请使用至多 63 个字母 a-z、A-Z、数字、短横、点和下划线，首尾为字母或数字。",
        ),
        "SPEC117": (
            "{found} is not a quantity. {nearest} Write a number with its unit as a text: 4Gi, 512Mi, 1.5Ti, or 4G, 512M, 1.5T where thousands are meant.",
            "{found} 不是数量。{nearest}请写带单位的数：4Gi、512Mi、1.5Ti；按 1000 进位时写 4G、512M、1.5T。",
        ),
        "SPEC118": (
            "{found} is not a whole number of bytes, or more than 64 bits hold. Write it in a smaller or a larger unit.",
            "{found} 不是整数字节，或超出 64 位。请换用更小或更大的单位。",
        ),
        "SPEC119": (
            "{found} is less than 1Mi, so the unit must be wrong or missing. Write e.g. 4Gi.",
            "{found} 不足 1Mi，单位可能写错或漏写。请写成例如 4Gi。",
        ),
        "SPEC120": (
            "{found} is not the name of a device plugin's resource. Write domain/name, e.g. iluvatar.ai/gpu.",
            "{found} 不是设备插件的资源名。请写“域名/名称”，例如 iluvatar.ai/gpu。",
        ),
        "SPEC121": (
            "{found} cannot be a login: it is empty or has blanks. Write what the API server calls the person, e.g. oidc:li.wei@corp.example.",
            "{found} 不能作为登录名：为空或含有空白。请写 API 服务器使用的用户名，例如 oidc:li.wei@corp.example。",
        ),
        "SPEC122": (
            "{found} is empty, or begins or ends with a blank, or has a character that cannot be seen. Write one line of plain text.",
            "{found} 为空，或首尾有空白，或含有看不见的字符。请写成一行普通文本。",
        ),
        "SPEC123": (
            "Nothing is written here. Write the value ({{}} is an empty mapping); if it is not needed, delete the key as well.",
            "这里没有写值。请写上（{{}} 表示空映射）；若不需要，请连键一起删除。",
        ),
        "SPEC124": (
            "{found} is not a time. {nearest} Write days, hours, minutes and seconds with their letters, the larger first: 72h, 1h30m, 120s.",
            "{found} 不是时长。{nearest}请用字母 d、h、m、s 写天、时、分、秒，由大到小：72h、1h30m、120s。",
        ),
        "SPEC125": (
            "{found} is not a percentage. {nearest} Write a whole number with its sign: 30%.",
            "{found} 不是百分比。{nearest}请写带百分号的整数：30%。",
        ),
        "SPEC126": (
            "{found} is not an amount of core-hours. {nearest} Write a whole number for each day, week or month: 600000/month.",
            "{found} 不是核时额度。{nearest}请写每天（day）、每周（week）或每月（month）的整数：600000/month。",
        ),
        "SPEC127": (
            "{found} is neither a day nor a moment. {nearest} Write 2026-12-31 for the end of that day, or 2026-12-31T18:00, with +08:00 after it if another time zone is meant.",
            "{found} 既不是日期也不是时刻。{nearest}请写 2026-12-31（到该日结束）或 2026-12-31T18:00；若指其他时区，请在后面加 +08:00。",
        ),
        "SPEC128": (
            "{found} has more than three decimals, and the ledger counts in thousandths of a core-hour. Round it.",
            "{found} 的小数超过三位，而账本以千分之一核时为单位。请四舍五入。",
        ),
        "SPEC129": (
            "{found} is not a number. Write digits, with a point and up to three decimals if needed, without quotes or unit.",
            "不是数：{found}。请写数字，需要时可带小数点和至多三位小数，不加引号和单位。",
        ),
        "SPEC130": (
            "{found} is not the name of a time zone. {nearest} Write one such as Asia/Shanghai or UTC.",
            "{found} 不是时区名。{nearest}请写例如 Asia/Shanghai 或 UTC。",
        ),
        "SPEC131": (
            "{found} is not in the calendar: the month has fewer days, or the day fewer hours. Correct it.",
            "日历中没有 {found}：该月没有这么多天，或时刻超出一天。请更正。",
        ),
        "SPEC132": (
            "{found} is not the name of a registry. {nearest} Write its host and a path if needed, without https:// and without a slash at the end: registry.example.com/team.",
            "{found} 不是镜像仓库名。{nearest}请写主机名，需要时加路径，不带 https://，末尾不带斜杠：registry.example.com/team。",
        ),
        "SPEC133": (
            "{found} cannot be the beginning of a resource's name. {nearest} Write a domain with a slash, or a whole name: rdma/, rdma/hca.",
            "{found} 不能作为资源名的前缀。{nearest}请写带斜杠的域名，或完整的名称：rdma/、rdma/hca。",
        ),
        "SPEC134": (
            "The accelerator {found} stands in the place of a pool. Write its pool first: `{right}`. {choices}",
            "加速卡型号 {found} 写在了资源池的位置。请先写资源池：{right}。{choices}",
        ),
        "SPEC135": (
            "The number {found} stands without its pool or its model. Write `{right}`. {choices}",
            "数 {found} 没有写明资源池或型号。请写 {right}。{choices}",
        ),
        "SPEC136": (
            "The login {found} stands where a person is named, for labels and books. Write `{right}`.",
            "登录名 {found} 写在了人名的位置，人名用于标签和账目。请写 {right}。",
        ),
        "SPEC137": (
            "A list stands where a mapping is needed: each name with what belongs to it. Write `{right}`.",
            "需要映射的地方写了列表：每个名字后面要写上它的内容。请写 {right}。",
        ),
        "SPEC138": (
            "A list stands where one value is needed. Write {right} without brackets or a dash.",
            "只需要一个值的地方写了列表。请直接写 {right}，不加括号或短横。",
        ),
        "SPEC139": (
            "Cards cannot be shared by {found} yet. Write `exclusive` for whole cards, or {{time-slicing: 4}} for four that take turns.",
            "目前还不能用 {found} 共享卡。整卡请写 exclusive，四方轮流使用请写 {{time-slicing: 4}}。",
        ),
        "SPEC140": (
            "{found} is none of the words that can stand here. {choices} If none of them fits, leave the key out.",
            "{found} 不是此处可用的词。{choices}如果都不合适，请省略此键。",
        ),
        "SPEC141": (
            "{found} names no objects. {nearest} Write Kind/name, or Kind/namespace/name for what is in a namespace: ClusterQueue/nlp-training, LocalQueue/nlp/*. A kind begins with a capital and stands in full.",
            "{found} 不能表示对象。{nearest}请写 Kind/name，命名空间中的对象写 Kind/namespace/name：ClusterQueue/nlp-training、LocalQueue/nlp/*。Kind 以大写字母开头，须写全。",
        ),
        "SPEC199": (
            "{found} does not fit here ({detail}). See `tally spec explain`.",
            "{found} 不符合要求（{detail}）。请查看 tally spec explain。",
        ),
        # 2xx: references
        "SPEC201": (
            "There is no accelerator {found}. {nearest}{choices}",
            "没有加速卡型号 {found}。{nearest}{choices}",
        ),
        "SPEC202": (
            "There is no pool {found}. {nearest}{choices}",
            "没有资源池 {found}。{nearest}{choices}",
        ),
        "SPEC203": (
            "There is no tier {found}. {nearest}{choices}",
            "没有配额等级 {found}。{nearest}{choices}",
        ),
        "SPEC204": (
            "There is no priority {found}. {nearest}{choices}",
            "没有优先级 {found}。{nearest}{choices}",
        ),
        "SPEC205": (
            "There is no rule {found}. {nearest}{choices}",
            "没有规则 {found}。{nearest}{choices}",
        ),
        "SPEC206": (
            "The rule {found} is asked by the API server of all that is submitted, and no waiver reaches it there. Delete this entry.",
            "规则 {found} 由 API 服务器对提交的全部内容检查，豁免对它不起作用。请删除此项。",
        ),
        # 3xx: accelerators, topology, priorities, pools
        "SPEC301": (
            "The priority {found} stands in the list twice; each has one value. Delete one.",
            "优先级 {found} 在列表中出现两次；每个优先级只有一个值。请删除一个。",
        ),
        "SPEC302": (
            "A pool cannot be called {found}: cpu is the built-in pool of hosts without cards, cluster the root of all cohorts. Choose another name.",
            "资源池不能叫 {found}：cpu 是内置的无卡主机池，cluster 是所有队列组的根。请换一个名字。",
        ),
        "SPEC303": (
            "The pool {found} has no cards: it neither lists models nor borrows. Add `models: [...]`, or `borrows-from:` and a pool that has some.",
            "资源池 {found} 没有卡：既没有列出型号，也不借用。请加上 models: [...]，或用 borrows-from: 指定一个有卡的资源池。",
        ),
        "SPEC304": (
            "A pool that borrows from {lender} has that pool's models and none of its own. Delete `models`, or delete `borrows-from`.",
            "从 {lender} 借用的资源池使用该池的型号，自己没有卡。请删除 models 或 borrows-from。",
        ),
        "SPEC305": (
            "{found} owns no cards to lend, it borrows itself. {choices}",
            "{found} 自己没有卡可借，它本身就是借用。{choices}",
        ),
        "SPEC306": (
            "Cards that a borrowing pool uses can always be taken back, so `borrowed` has no effect in {found}. Delete it.",
            "借用池使用的卡随时可被收回，因此 borrowed 在 {found} 中不起作用。请删除。",
        ),
        "SPEC307": (
            "{found} is not preemptible, so cards that this pool borrows could not be taken back. Name a priority with `preemptible: true`.",
            "{found} 不可抢占，该池借用的卡将无法收回。请使用带 preemptible: true 的优先级。",
        ),
        "SPEC308": (
            "{found} ({value}) is not a lower priority than {other} ({other_value}) of the pool {lender}; cards are taken back only from a lower one. Lower the value, or name a lower priority.",
            "{found}（{value}）不低于资源池 {lender} 的 {other}（{other_value}）；只能从更低优先级收回卡。请调低数值，或使用更低的优先级。",
        ),
        "SPEC309": (
            "{other} runs work without cards already, and one pool can: the quota of the CPU hosts stands in one place. Delete `cpu` in {found} or in {other}.",
            "{other} 已经运行无卡作业，而这样的资源池只能有一个：CPU 主机的配额只写在一处。请删除 {found} 或 {other} 中的 cpu。",
        ),
        "SPEC310": (
            "The model {found} stands in this pool twice. Delete one.",
            "型号 {found} 在该资源池中出现两次。请删除一个。",
        ),
        "SPEC311": (
            "{found} and {other} would both be called {name} in Kubernetes, where capitals, dots and underscores do not tell names apart. Rename one.",
            "{found} 和 {other} 在 Kubernetes 中都会叫 {name}，大小写、点和下划线无法区分。请改名。",
        ),
        "SPEC312": (
            "The key resource is missing: plugins of {vendor} do not all use one name. Look at a host's allocatable, and write e.g. `resource: {usual}`.",
            "缺少键 resource：{vendor} 的设备插件使用的名称不统一。请查看主机的 allocatable，并写成例如 resource: {usual}。",
        ),
        "SPEC313": (
            "The levels do not stand widest first, each once, down to the host. Write [{right}].",
            "各级应由大到小、每级一次、直到 host。请写 [{right}]。",
        ),
        "SPEC314": (
            "{found} begins with system-, which Kubernetes keeps for its own priorities. Rename it.",
            "{found} 以 system- 开头，这是 Kubernetes 自用的优先级前缀。请改名。",
        ),
        "SPEC315": (
            "The accelerator {found} is in no pool, so nobody can use it. Add it to a pool's models, or delete it.",
            "加速卡 {found} 不在任何资源池中，没有人能使用。请加入某个资源池的 models，或删除。",
        ),
        "SPEC316": (
            "No host in {overlay} has {found} for the pool {pool}, so its queue could never run. Add hosts there, or take the model out of the pool.",
            "{overlay} 中没有主机为资源池 {pool} 提供 {found}，其队列永远无法运行。请在那里加主机，或从资源池去掉该型号。",
        ),
        "SPEC317": (
            "The pool {pool} does not have the model {found}, so it cannot be the one for work that names none. {choices}",
            "资源池 {pool} 没有型号 {found}，不能作为未指明型号时的默认。{choices}",
        ),
        "SPEC318": (
            "The cards {found} cannot be time-sliced: only NVIDIA's device plugin offers slices. Write `sharing: exclusive`, or keep only NVIDIA's models in {pool}.",
            "{found} 不能分时切片：只有 NVIDIA 的设备插件提供切片。请写 sharing: exclusive，或在 {pool} 中只保留 NVIDIA 的型号。",
        ),
        "SPEC319": (
            "{found} has no cards of its own to share; it has those of {lender} as they are. Delete `sharing`.",
            "{found} 自己没有可共享的卡，它按原样使用 {lender} 的卡。请删除 sharing。",
        ),
        "SPEC320": (
            "The cards of {found} are cut into slices, and slices are not lent: what borrows them could not be told from their owners. Borrow from a pool of whole cards.",
            "{found} 的卡已切片，而切片不外借：借用者与拥有者无法区分。请从整卡资源池借用。",
        ),
        "SPEC321": (
            "{found} shares its cards in turns, so nobody can promise how soon a service has more of them. Delete `scale-within`, or write `sharing: exclusive`.",
            "{found} 的卡由多方轮流使用，无法承诺服务多久能扩容。请删除 scale-within，或写 sharing: exclusive。",
        ),
        "SPEC322": (
            "Only a pool for services has {key}, and {pool} runs batch work. Delete it, or write `work: inference` there if it serves.",
            "只有用于在线服务的资源池可以有 {key}，而 {pool} 运行批处理作业。请删除；若该池用于在线服务，请写 work: inference。",
        ),
        "SPEC323": (
            "`{key}` bounds what agents start on borrowed cards, and {pool} borrows none. Delete it, or write it in a pool that borrows.",
            "{key} 用来限制智能体在借来的卡上启动的作业，而 {pool} 不借用。请删除，或写到借用的资源池中。",
        ),
        "SPEC324": (
            "{found} ({value}) does not outrank {other} ({other_value}), the priority of the batch work in the pool {other_pool}: inference would wait behind it. Use a priority with a value above {other_value} here, or one with a lower value there.",
            "{found}（{value}）不高于资源池 {other_pool} 的批处理作业的优先级 {other}（{other_value}）：推理会排在它之后。请在此使用数值高于 {other_value} 的优先级，或在那里使用数值更低的优先级。",
        ),
        "SPEC325": (
            "Inference cannot live on cards borrowed from {found}: they can be taken back at any time. Give the pool `models` of its own, or delete `work: inference`.",
            "推理不能依靠从 {found} 借来的卡：它们随时可能被收回。请给该池自己的 models，或删除 work: inference。",
        ),
        "SPEC326": (
            "{found} is preemptible, and inference within its reservation is never stopped for others. Name a priority without `preemptible: true`.",
            "{found} 可被抢占，而推理在其预留之内不会为他人让出。请使用没有 preemptible: true 的优先级。",
        ),
        "SPEC327": (
            "No pool has the priority {found}, so nothing ever runs with it. Name it in a pool, or delete it.",
            "没有资源池使用优先级 {found}，不会有作业用到它。请在资源池中使用，或删除。",
        ),
        "SPEC328": (
            "{found} is the value of the priority {other} too, so neither goes first. Give each its own value, or use one of the two.",
            "{found} 也是优先级 {other} 的数值，两者不分先后。请各给一个数值，或只用其中一个。",
        ),
        "SPEC329": (
            "{found} is the resource of {other} by {vendor} already, and two vendors' plugins cannot offer one name. Look at a host's allocatable, and correct one of the two.",
            "{found} 已是 {vendor} 的 {other} 的资源名，两家的设备插件不能提供同一个名称。请查看主机的 allocatable，修改其中一个。",
        ),
        "SPEC330": (
            "{found} is the name of slices: the plugin of {vendor} adds the ending where a pool has `sharing: {{time-slicing: ...}}`. Write the whole card's resource: {right}.",
            "{found} 是切片的资源名：资源池写了 sharing: {{time-slicing: ...}} 时，{vendor} 的设备插件会自动加上该后缀。请写整卡的资源名：{right}。",
        ),
        "SPEC331": (
            "{found} slices do not divide the rate of {other}, {rate} in line {line}, to the thousandth: each would cost {each} an hour and all of them {total}, but slices cost together what their card costs. Write there a rate that they divide (nearest: {right}), or share the cards otherwise here: `exclusive` always fits, and so does a number that divides the rate. {choices}",
            "{other} 的费率 {rate}（第 {line} 行）不能按千分之一均分给 {found} 个切片：每片每小时 {each}，合计 {total}，而各切片之和必须等于整卡。请在那里写能均分的费率（最接近的：{right}），或改变此处的共享方式：exclusive 总是可行，能均分该费率的切片数也可以。{choices}",
        ),
        # 4xx: hosts
        "SPEC401": (
            "The range in {found} runs backwards: {first} is more than {last}. Swap the two.",
            "{found} 的范围是倒的：{first} 大于 {last}。请交换。",
        ),
        "SPEC402": (
            "With {found} there are more than {limit} hosts, the most that Kubernetes supports in one cluster. Check the range, or split the environment.",
            "加上 {found} 后超过 {limit} 台主机，这是 Kubernetes 单集群支持的上限。请检查范围，或拆分环境。",
        ),
        "SPEC403": (
            "{found} cannot be a host's name. {nearest} Use at most 63 small letters a-z, digits, dashes and dots, with a letter or digit at both ends.",
            "{found} 不能作为主机名。{nearest}请使用至多 63 个小写字母 a-z、数字、短横和点，首尾为字母或数字。",
        ),
        "SPEC404": (
            "The host {found} is written already in line {line}; a host stands once. Correct one of the ranges.",
            "主机 {found} 在第 {line} 行已经写过；每台主机只能出现一次。请修改其中一个范围。",
        ),
        "SPEC405": (
            "There are more racks ({racks}) than hosts ({hosts}) to share out. {nearest} Name fewer racks, or write the hosts as a range in square brackets.",
            "有 {racks} 个机架，却只有 {hosts} 台主机可分。{nearest}请减少机架，或用方括号把主机写成范围。",
        ),
        "SPEC406": (
            "There are more blocks ({blocks}) than racks ({racks}), and a rack lies in one block. Name fewer blocks or more racks.",
            "有 {blocks} 个区块，却只有 {racks} 个机架，而一个机架只属于一个区块。请减少区块或增加机架。",
        ),
        "SPEC407": (
            "{found} owns no hosts, it borrows from {lender}. Write `pool: {lender}`.",
            "{found} 没有自己的主机，它从 {lender} 借用。请写 pool: {lender}。",
        ),
        "SPEC408": (
            "The pool {pool} does not list the model {found}. {choices} Or add it to the pool's models.",
            "资源池 {pool} 没有列出型号 {found}。{choices}或者把它加入资源池的 models。",
        ),
        "SPEC409": (
            "Hosts of the built-in pool cpu have no cards, but `{key}` stands here. Delete it, or name another pool.",
            "内置资源池 cpu 的主机没有卡，这里却写了 {key}。请删除，或改用其他资源池。",
        ),
        "SPEC410": (
            "The key {key} is missing: hosts of the pool {pool} have cards. Add it, or write `pool: cpu` for hosts without cards.",
            "缺少键 {key}：资源池 {pool} 的主机有卡。请补上；没有卡的主机请写 pool: cpu。",
        ),
        "SPEC411": (
            "This pool runs work without cards, but {overlay} has no hosts in the pool cpu. Add some there, or delete `cpu` here.",
            "该资源池运行无卡作业，但 {overlay} 中没有 cpu 池的主机。请在那里添加，或删除此处的 cpu。",
        ),
        "SPEC412": (
            "No pool runs work without cards, so these hosts stay empty. Write `cpu: true` in a pool.",
            "没有资源池运行无卡作业，这些主机会一直空闲。请在某个资源池中写 cpu: true。",
        ),
        "SPEC413": (
            "The host {found} has {other} in line {line} and {model} here; a host has cards of one model, or its quota would be counted twice. Correct one of the ranges.",
            "主机 {found} 在第 {line} 行是 {other}，这里是 {model}；一台主机只有一种卡，否则配额会被计算两次。请修改其中一个范围。",
        ),
        "SPEC414": (
            "The host {found} is in the pool {other_pool} in line {line} and in {pool} here: two flavors would count its cards twice. Correct one of the ranges; `overcommit` does not allow this.",
            "主机 {found} 在第 {line} 行属于资源池 {other_pool}，这里属于 {pool}：两个 flavor 会把它的卡计算两次。请修改其中一个范围；overcommit 也不允许这样。",
        ),
        "SPEC415": (
            "These hosts link their cards by {found}, those of line {line} by {other}, and both are {model} in the pool {pool}: work could not choose. Put them in two pools, or correct one.",
            "这些主机的卡间互联是 {found}，第 {line} 行的是 {other}，而两者都是资源池 {pool} 的 {model}：作业无法选择。请分到两个资源池，或更正其中一个。",
        ),
        "SPEC416": (
            "The rack {found} lies in block {other} in line {line} and in block {block} here; a rack lies in one block. Correct the block, or name the racks apart.",
            "机架 {found} 在第 {line} 行属于区块 {other}，这里属于区块 {block}；一个机架只属于一个区块。请更正区块，或区分机架名。",
        ),
        "SPEC417": (
            "A request for all {cards} {model} of a host gets {wanted} of {key} by defaults.per-card, and a host such as {host} has {found}: it would wait for ever. Lower the default, or correct the host.",
            "按 defaults.per-card，申请一台主机的全部 {cards} 张 {model} 时，{key} 共为 {wanted}，而 {host} 这样的主机只有 {found}：作业会永远等待。请调低默认值，或更正主机。",
        ),
        "SPEC418": (
            "The rate of all {cards} {model} of a host includes {wanted} of {key}, and a host such as {host} has {found}: people pay for what is not there. Lower `includes`, or correct the host.",
            "一台主机的全部 {cards} 张 {model} 的费率包含 {key} {wanted}，而 {host} 这样的主机只有 {found}：用户为不存在的资源付费。请调低 includes，或更正主机。",
        ),
        # 5xx: quotas
        "SPEC501": (
            "{total} {model} are promised in the pool {pool} ({terms}), but {installed} are installed in {overlay} and {limit} may be promised. Lower one of them, add hosts, or write a higher `overcommit: {{cards: ...}}`.",
            "资源池 {pool} 共承诺 {total} 张 {model}（{terms}），但 {overlay} 中安装了 {installed} 张，可承诺 {limit} 张。请调低其中一项、增加主机，或写更高的 overcommit: {{cards: ...}}。",
        ),
        "SPEC502": (
            "{found} owns no cards, it borrows idle ones from {lender}; every project has a queue there. Delete this, or grant the cards in {lender}.",
            "{found} 没有自己的卡，它借用 {lender} 的空闲卡，每个项目都有队列。请删除此项，或在 {lender} 中授予。",
        ),
        "SPEC503": (
            "The pool {pool} does not list the model {found}, so it cannot be granted there. {choices} Or add it to the pool's models.",
            "资源池 {pool} 没有列出型号 {found}，无法在其中授予。{choices}或者把它加入资源池的 models。",
        ),
        "SPEC504": (
            "The tier {tier} has no cards in {found}, so there is no queue that could borrow there. Add {found} to its cards (0 is possible), or delete this.",
            "配额等级 {tier} 在 {found} 中没有卡，也就没有可借用的队列。请把 {found} 加入 cards（可以为 0），或删除此项。",
        ),
        "SPEC505": (
            "No project has the tier {found}. Give it to one, or delete it.",
            "没有项目使用配额等级 {found}。请分给某个项目，或删除。",
        ),
        "SPEC506": (
            "The tier {found} says the same as {other}. Use one of the two, or make them differ.",
            "配额等级 {found} 与 {other} 完全相同。请只用其中一个，或加以区分。",
        ),
        "SPEC507": (
            "The pool {pool} has `burst: {value}`, which is the limit for borrowing there; two limits cannot both count. Delete this, or delete `burst`.",
            "资源池 {pool} 已有 burst: {value}，那就是其借用上限；两个上限不能同时生效。请删除此项，或删除 burst。",
        ),
        "SPEC508": (
            "{found} is more than the {limit} cards of any model that the pool {pool} has beyond the queue's own; the limit has no effect. Lower it.",
            "除队列自有的以外，资源池 {pool} 中任一型号至多还有 {limit} 张卡，{found} 的上限不起作用。请调低。",
        ),
        "SPEC509": (
            "{found} lasts {length} when all of its cards are used ({value} core-hours an hour), less than a day. Grant {least} or more, or fewer cards.",
            "卡全部使用时（每小时 {value} 核时），{found} 只够 {length}，不足一天。请授予至少 {least} 核时，或减少卡数。",
        ),
        "SPEC510": (
            "The tier {tier} permits a job that no queue could freeze: {cards} {model} ({terms}: its own cards and borrowed ones) for {found} take {total} core-hours with the wait ({length}), and one queue may freeze {limit} ({value} of {usual}). At most {right} fits: shorten `max-time` to that, or raise `core-hours` or `freeze.cap`.",
            "配额等级 {tier} 允许无法冻结的作业：{cards} 张 {model}（{terms}：自有加借用）运行 {found}，连同等待（{length}）需 {total} 核时，而一个队列最多冻结 {limit}（{usual} 的 {value}）。最长可写 {right}：请把 max-time 缩短到此，或提高 core-hours 或 freeze.cap。",
        ),
        "SPEC511": (
            "All projects together are granted {total} core-hours a month ({terms}), but the cards in {overlay} give {installed} with an availability of {value}, and {limit} may be granted. Lower one of them, add hosts, or write a higher `overcommit: {{core-hours: ...}}`.",
            "所有项目每月共授予 {total} 核时（{terms}），但 {overlay} 中的卡按可用率 {value} 只能提供 {installed}，可授予 {limit}。请调低其中一项、增加主机，或写更高的 overcommit: {{core-hours: ...}}。",
        ),
        "SPEC512": (
            "Jobs that name no time limit have {limit}, and the tier {tier} permits {found}: they would be refused. Lengthen its `max-time`, or shorten freeze.max-time-default.",
            "未指明时限的作业默认为 {limit}，而配额等级 {tier} 最多允许 {found}：这样的作业会被拒绝。请加长该配额等级的 max-time，或缩短 freeze.max-time-default。",
        ),
        "SPEC513": (
            "The fast lane takes jobs of up to {found}, and a job that names no time limit has {limit}: it would pass the cap, which then holds nobody. Shorten freeze.fast-lane.up-to, or lengthen freeze.max-time-default.",
            "快速通道接受不超过 {found} 的作业，而未指明时限的作业默认为 {limit}：它们都会绕过上限，上限形同虚设。请缩短 freeze.fast-lane.up-to，或加长 freeze.max-time-default。",
        ),
        "SPEC515": (
            "Each pod gets {found}, and no queue counts it: every job would wait for ever. Add {usual} to `uncounted`, or delete it here.",
            "每个 Pod 都会得到 {found}，而没有队列计算它：所有作业会永远等待。请把 {usual} 加入 uncounted，或在此删除。",
        ),
        "SPEC516": (
            "{found} would take {name} out of counting, and quotas are made of it. Name only resources that no quota counts.",
            "{found} 会使 {name} 不被计算，而配额正是以它计算的。请只写不计入配额的资源。",
        ),
        "SPEC517": (
            "{found} is how {other} is asked for: each pod would get a card. Delete it; cards are asked for by the jobs.",
            "{found} 是申请 {other} 的资源名：每个 Pod 都会得到一张卡。请删除；卡由作业自行申请。",
        ),
        "SPEC518": (
            "This override lowers the cards until {until}, and when it has ended, {total} {model} are promised in the pool {pool} ({terms}), but {limit} may be in {overlay}: the spec would be refused from then on. Give the others what is free here in overrides that end no later, lower one of them, or make a tier of this.",
            "此例外把卡数调低到 {until}，结束后资源池 {pool} 共承诺 {total} 张 {model}（{terms}），而按 {overlay} 只可承诺 {limit} 张：届时规格会被拒绝。请用不晚于此结束的例外把空出的卡给他人、调低其中一项，或把此例外改为一个配额等级。",
        ),
        "SPEC519": (
            "This override lowers the core-hours until {until}, and when it has ended, all projects together are granted {total} a month ({terms}), but {limit} may be in {overlay} with an availability of {value}: the spec would be refused from then on. Give the others what is free here in overrides that end no later, lower one of them, or make a tier of this.",
            "此例外把核时调低到 {until}，结束后所有项目每月共授予 {total} 核时（{terms}），而按 {overlay} 和可用率 {value} 只可授予 {limit}：届时规格会被拒绝。请用不晚于此结束的例外把空出的核时给他人、调低其中一项，或把此例外改为一个配额等级。",
        ),
        "SPEC520": (
            "A job may have {cards} {model} for {length} in the tier {tier}, and with the wait it takes {total} core-hours; one user may use {limit} ({value} of {usual}), so nobody can start it. Write {least}% or more, or shorten the tier's `max-time`.",
            "配额等级 {tier} 允许 {cards} 张 {model} 运行 {length} 的作业，连同等待需 {total} 核时；而一个用户最多使用 {limit}（{usual} 的 {value}），没有人能启动它。请写至少 {least}%，或缩短该配额等级的 max-time。",
        ),
        # 6xx: projects and people
        "SPEC601": (
            "The id {found} is reserved for the cluster's own namespaces. Choose another `id`.",
            "id {found} 保留给集群自用的命名空间。请换一个 id。",
        ),
        "SPEC602": (
            "The id {found} is the project {other}'s already; namespace and books would mix. Choose another `id`.",
            "id {found} 已被项目 {other} 使用，命名空间和账目会混在一起。请换一个 id。",
        ),
        "SPEC603": (
            "{found} cannot be a namespace. Keep the name and add an `id` of small letters a-z, digits and dashes, with a letter or digit at both ends.",
            "{found} 不能作为命名空间。名称可以保留，请另加 id：小写字母 a-z、数字和短横，首尾为字母或数字。",
        ),
        "SPEC604": (
            "The login {found} belongs to {other} in the project {project} already; a login is one person. Correct one of the two.",
            "登录名 {found} 已属于项目 {project} 的 {other}；一个登录名只对应一个人。请修改其中一个。",
        ),
        "SPEC605": (
            "{found} begins with system:, a name of Kubernetes itself, not of a person. Write the person's login.",
            "{found} 以 system: 开头，是 Kubernetes 自用的名字，不是人。请写此人的登录名。",
        ),
        "SPEC606": (
            "The queue of this project in the pool {pool} would be called {found}, as that of the project {other} in the pool {other_pool}. Choose another `id`.",
            "该项目在资源池 {pool} 中的队列会叫 {found}，与项目 {other} 在资源池 {other_pool} 中的队列同名。请换一个 id。",
        ),
        "SPEC607": (
            "The queue's name {found} has {length} characters, and a label holds 63. Choose a shorter `id`.",
            "队列名 {found} 有 {length} 个字符，而标签最多 63 个。请使用更短的 id。",
        ),
        "SPEC608": (
            "{found} is none of the project's users. {choices} Or add {found} to them.",
            "{found} 不是该项目的用户。{choices}或者把 {found} 加进去。",
        ),
        "SPEC609": (
            "This override ended on {found}; the tier's limits hold again. Delete it.",
            "此例外已于 {found} 结束，现已恢复该配额等级的限额。请删除。",
        ),
        "SPEC610": (
            "{found} is overridden until {other} already, and which of the two counts cannot be known. Keep one.",
            "{found} 已有一项到 {other} 为止的例外，无法确定以哪一项为准。请只保留一项。",
        ),
        "SPEC611": (
            "This override changes nothing. Add cards, borrow, core-hours or max-time, or delete it.",
            "此例外没有改变任何内容。请加上 cards、borrow、core-hours 或 max-time，或删除。",
        ),
        "SPEC612": (
            "{found} is more than a year away: this is no exception but another tier. Choose an earlier end, or make a tier of it.",
            "{found} 在一年以后：这不是例外，而是另一个配额等级。请提前结束，或改为一个配额等级。",
        ),
        "SPEC613": (
            "The project's tier does not grant {found} here, so there is nothing that this could change. Grant it in the tier (0 is possible), or delete this.",
            "该项目的配额等级在此没有授予 {found}，没有可以改变的内容。请在配额等级中授予（可以为 0），或删除此项。",
        ),
        "SPEC614": (
            "{found} has other logins in the project {project}; one name is one person in labels and books. Write the same logins, or another name.",
            "{found} 在项目 {project} 中有不同的登录名；在标签和账目中一个名字就是一个人。请写相同的登录名，或换一个名字。",
        ),
        "SPEC615": (
            "{found} is what the tier says already, so the override changes nothing here. Delete this, or correct the number.",
            "{found} 与该配额等级相同，此处没有任何改变。请删除，或更正数值。",
        ),
        "SPEC616": (
            "{projects} projects and {pools} pools make {found} queues, and neither Kueue nor etcd is made for more than {limit} in one cluster. Join pools or projects, grant fewer pools in the tiers, or split the platform.",
            "{projects} 个项目和 {pools} 个资源池会产生 {found} 个队列，而 Kueue 和 etcd 都不适合在单个集群中超过 {limit} 个。请合并资源池或项目、在配额等级中少授予资源池，或拆分平台。",
        ),
        # 7xx: waivers of rules
        "SPEC701": (
            "This waiver ended on {found}; the rule {rule} holds again. Delete it.",
            "此豁免已于 {found} 结束，规则 {rule} 已重新生效。请删除。",
        ),
        "SPEC702": (
            "{found} is more than a year away: this is no exception any more. Choose an earlier end, or change what the rule finds.",
            "{found} 在一年以后：这不再是例外。请提前结束，或改正规则所发现的内容。",
        ),
        "SPEC703": (
            "The rule {rule} is waived for this until {other} already, and which of the two ends counts cannot be known. Keep one.",
            "规则 {rule} 对此已有一项到 {other} 为止的豁免，无法确定以哪一个期限为准。请只保留一项。",
        ),
    }
)
