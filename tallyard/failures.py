"""What failures of other programs look like in a message of ours. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def one_line(text: object, length_max: int | None = None) -> str:
    """Return text from outside as one line that cannot steer a terminal.

    Args:
        text: What another program said, or an exception.
        length_max: How many characters are kept; None keeps all.
    """
    printable = "".join(c if c.isprintable() else " " for c in str(text))
    return " ".join(printable.split())[:length_max]


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and what led to it, the innermost last."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
