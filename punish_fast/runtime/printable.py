"""Conversion of untrusted names and messages to a single line that is safe to print."""

# Maximum numbers of characters of a name and of a message.
MOST_OF_NAME = 200
MOST_OF_LINE = 500
_GAP = " ... "


def printable(text: str, most: int = MOST_OF_NAME) -> str:
    """Escape unprintable characters in ``text``, and shorten it to ``most`` characters by omitting the middle."""
    # Keep both ends, because a message begins with the file name and ends with the fault.
    ends = text if len(text) <= 2 * most else text[:most] + text[-most:]
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in ends)
    if len(line) <= most and ends is text:
        return line
    end = (most - len(_GAP)) // 2
    return line[: most - len(_GAP) - end] + _GAP + line[-end:]
