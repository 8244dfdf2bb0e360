"""Names and messages that may come from anywhere, as one line that is safe to print."""

from __future__ import annotations

# Of a name, and of a whole message.
MOST_OF_NAME = 200
MOST_OF_LINE = 500
_GAP = " ... "


def printable(text: str, most: int = MOST_OF_NAME) -> str:
    """``text`` in one line of at most ``most`` characters: control characters escaped, the middle left out.

    Both ends stay, since a message starts with the name of the file and ends with the fault.
    """
    ends = text if len(text) <= 2 * most else text[:most] + text[-most:]
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in ends)
    if len(line) <= most and ends is text:
        return line
    end = (most - len(_GAP)) // 2
    return line[: most - len(_GAP) - end] + _GAP + line[-end:]
