"""What the store raises: what failed, why, what to do.

StoreError
├── AddressError       what names it names no store
├── UnavailableError   it cannot be reached, or somebody else holds it
│   └── NoFileError    there is no such file
├── FullError          its disk is full
├── ReadOnlyError      it may not be written
├── CorruptError       it is not what was written
├── SchemaError        its tables are of another version
│   └── NewerError     a newer program made them
├── StrangerError      the database is another program's
└── UnsoundError       what was to be written does not add up
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

import msgspec
from sqlalchemy.exc import DBAPIError, NoSuchTableError, SQLAlchemyError

from tallyard.failures import one_line
from tallyard.languages import Language
from tallyard.ledger.store import whys
from tallyard.ledger.store.whys import Why

_WORDS_MAX = 300

# What failed and what to do, by language.
type Texts = Mapping[Language, tuple[str, str]]


class StoreError(Exception):
    """Something of the store failed; nothing of the group was written, or all of it.

    Where a connection broke in the middle of a commit, which of the two is known only by
    asking again with the same keys, which is always safe.
    """

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's store failed",
            "See what it said; the same command again does no harm",
        ),
        "zh": ("账本存储出错", "请按原因处理；重复同一命令是安全的"),
    }

    def __init__(self, why: str | Why = "") -> None:
        told = why if isinstance(why, Why) else Why(why, why)
        self._why = Why(*(one_line(each, _WORDS_MAX) for each in told))
        super().__init__(self.why)

    @property
    def why(self) -> str:
        """Return the reason in English."""
        return self._why.en

    def reason(self, lang: Language) -> str:
        """Return the reason in a language, as far as it is our own."""
        return self._why.told(lang)

    def __str__(self) -> str:
        """Return all parts as one sentence."""
        what, advice = self.texts["en"]
        return f"{what}{': ' if self.why else ''}{self.why}. {advice}"


class AddressError(StoreError):
    """What names the store names none."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's address is wrong",
            "Write a file, ledger.db, or an address, postgresql://user@host/name",
        ),
        "zh": ("账本地址有误", "请写文件名（ledger.db），或地址 postgresql://user@host/name"),
    }


class UnavailableError(StoreError):
    """No answer, or another writer held it for too long."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's store is not there",
            "Nothing new is admitted until it is; see that the database runs and can be reached",
        ),
        "zh": ("无法连接账本存储", "请确认数据库正在运行且可以访问；在此之前不会准入新作业"),
    }


class NoFileError(UnavailableError):
    """There is no such file."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger is not there",
            "See whether the path is right; `tally ledger migrate` makes a new one there",
        ),
        "zh": ("账本不存在", "请检查路径；`tally ledger migrate` 会在那里新建一个"),
    }


class FullError(StoreError):
    """The disk is full."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's store cannot grow",
            "Free some space on its disk; nothing of what was written is lost",
        ),
        "zh": ("账本存储已无空间", "请清理磁盘；已写入的内容不会丢失"),
    }


class ReadOnlyError(StoreError):
    """It may not be written."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's store may not be written",
            "See that this user may write it, and that the database is not a standby",
        ),
        "zh": ("账本存储不可写", "请确认当前用户有写权限，且数据库不是备库"),
    }


class CorruptError(StoreError):
    """What is read is not what was written."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's store is damaged",
            "Write nothing more; run `tally ledger verify`, and restore from a backup",
        ),
        "zh": ("账本存储已损坏", "请不要再写入；运行 `tally ledger verify`，并从备份恢复"),
    }


class SchemaError(StoreError):
    """The tables are of another version."""

    texts: ClassVar[Texts] = {
        "en": ("the ledger's tables are of another version", "Run `tally ledger migrate`"),
        "zh": ("账本的表结构版本不符", "请运行 `tally ledger migrate`"),
    }


class NewerError(SchemaError):
    """The tables are of a version that this program does not know yet."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger's tables were made by a newer tally",
            "Update tally; nothing was read or written",
        ),
        "zh": ("账本的表结构由更新版本的 tally 创建", "请升级 tally；没有读写任何内容"),
    }


class StrangerError(StoreError):
    """The database holds something, and no ledger."""

    texts: ClassVar[Texts] = {
        "en": (
            "the database is another program's",
            "Name the ledger's own; `tally ledger migrate` makes one where there is nothing yet",
        ),
        "zh": (
            "该数据库属于其他程序",
            "请指定账本自己的数据库；`tally ledger migrate` 只在空库中创建账本",
        ),
    }


class UnsoundError(StoreError):
    """A command came to what must never be; that is a fault of the rules, found before it is written."""

    texts: ClassVar[Texts] = {
        "en": (
            "the ledger does not write what does not add up",
            "Nothing was written; this is a fault of Tallyard, please report the sentence",
        ),
        "zh": ("账目不平衡，账本拒绝写入", "没有写入任何内容；这是 Tallyard 的缺陷，请报告此信息"),
    }


# By the beginning of PostgreSQL's code (SQLSTATE), the longest first.
_CODES: tuple[tuple[str, type[StoreError]], ...] = (
    ("53100", FullError),
    ("25006", ReadOnlyError),
    ("42501", ReadOnlyError),
    ("42P01", SchemaError),
    ("42703", SchemaError),
    ("XX001", CorruptError),
    ("XX002", CorruptError),
    ("23", CorruptError),
    ("08", UnavailableError),
    ("53", UnavailableError),
    ("25P03", UnavailableError),
    ("40", UnavailableError),
    ("55P03", UnavailableError),
    ("57", UnavailableError),
)
# By what SQLite says.
_WORDS: tuple[tuple[str, type[StoreError]], ...] = (
    ("disk is full", FullError),
    ("readonly database", ReadOnlyError),
    ("unable to open", UnavailableError),
    ("locked", UnavailableError),
    ("malformed", CorruptError),
    ("could not decode", CorruptError),
    ("not a database", CorruptError),
    ("constraint failed", CorruptError),
    ("no such table", SchemaError),
    ("no such column", SchemaError),
    ("disk i/o error", UnavailableError),
    ("failed to resolve", UnavailableError),
    ("invalid connection option", AddressError),
)


@contextmanager
def told() -> Iterator[None]:
    """Turn what SQLAlchemy, the databases and decoding raise into errors of the store.

    Raises:
        StoreError: What happened, by its kind.
    """
    try:
        yield
    except SQLAlchemyError as error:
        raise _kind_of(error)(str(getattr(error, "orig", None) or error)) from error
    except (UnicodeDecodeError, msgspec.MsgspecError, OverflowError) as error:
        raise CorruptError(whys.CONTENT(error)) from error


def _kind_of(error: SQLAlchemyError) -> type[StoreError]:
    if isinstance(error, NoSuchTableError):
        return SchemaError
    original = getattr(error, "orig", None)
    code = getattr(original, "sqlstate", None) or ""
    found = next((kind for prefix, kind in _CODES if code.startswith(prefix)), None)
    said = str(original or error).lower()
    found = found or next((kind for words, kind in _WORDS if words in said), None)
    if found is None and isinstance(error, DBAPIError) and error.connection_invalidated:
        return UnavailableError
    return found or (UnavailableError if code == "" and _is_connecting(said) else StoreError)


def _is_connecting(said: str) -> bool:
    return any(word in said for word in ("connection", "connect", "server closed", "timeout"))
