"""What the journal is made of: a command that was done, when, and the entries it came to.

A transaction's text is canonical: the same transaction is the same bytes on any machine, and
its digest covers the one before it, so that a journal cannot be changed in the middle.
"""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.entries import Entry

# The digest before the first transaction.
GENESIS = "0" * 64
# The rules by which commands are decided now. Where a change of `decide` would let a command of
# before come to other entries, this goes up, and `decide` keeps the old rules for the old ones.
RULES = 1

_encoder = msgspec.json.Encoder(order="deterministic")
_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)


class Transaction(Struct, frozen=True, omit_defaults=True):
    """One command that was done. `seq` counts from 1 without a gap; `at` never goes back.

    `rules` says which version of the rules decided it.
    """

    seq: int
    at: int
    command: AnyCommand
    entries: tuple[Entry, ...]
    rules: int = 1

    def digest(self, before: str) -> str:
        """Return the digest of this transaction after one with the digest `before`."""
        return hashlib.sha256(before.encode() + _encoder.encode(self)).hexdigest()


def command_text(command: AnyCommand) -> str:
    """Return a command as the text that stands in the journal."""
    return _encoder.encode(command).decode()


def command_of(text: str) -> AnyCommand:
    """Return the command of a text from the journal.

    Raises:
        msgspec.MsgspecError: It is not such a text.
    """
    return _commands.decode(text)
