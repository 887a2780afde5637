"""Who the ledger has refused: when they are asked for again, and what stands on their check. No I/O."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

# One is asked for again this soon after a balance has changed, and this seldom while none has.
_AGAIN_SECONDS, _SAME_SECONDS = 1, 20
# The numbers in a sentence are written anew at most this often.
_SENTENCE_SECONDS = 30


@dataclass
class _Refused:
    """At which state of the books it was refused, and when; what was said when."""

    seq: int
    at: int
    said: str = ""
    said_at: int = 0


class Waiting(Container[str]):
    """One thread's: work by uid."""

    def __init__(self) -> None:
        self._refused: dict[str, _Refused] = {}

    def __contains__(self, uid: object) -> bool:
        """Say whether some work has been refused, and nothing has changed since that is its own."""
        return uid in self._refused

    def refuse(self, uid: str, seq: int, at: int) -> None:
        """Take down that the ledger has refused some work, at a state of its books."""
        known = self._refused.setdefault(uid, _Refused(seq, at))
        known.seq, known.at = seq, at

    def drop(self, uid: str) -> None:
        """Forget it: it waits no more, or is to be decided anew."""
        self._refused.pop(uid, None)

    def due(self, seq: int, at: int) -> set[str]:
        """Return whose turn it is to be asked for again, at a state of the books."""
        return {
            uid
            for uid, each in self._refused.items()
            if not 0 <= at - each.at < (_SAME_SECONDS if each.seq == seq else _AGAIN_SECONDS)
        }

    def is_news(self, uid: str, text: str, at: int) -> bool:
        """Say whether a refusal is to be written: another one than before, and not each second."""
        known = self._refused[uid]
        is_soon = bool(known.said) and 0 <= at - known.said_at < _SENTENCE_SECONDS
        return text != known.said and not is_soon

    def say(self, uid: str, text: str, at: int) -> None:
        """Take down what stands on its check."""
        known = self._refused[uid]
        known.said, known.said_at = text, at
