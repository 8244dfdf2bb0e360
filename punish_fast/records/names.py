"""Player names: normalization, and detection of names that resemble the name of a built-in player.

A name is stored in Unicode normal form C, trimmed, with single spaces and without invisible characters. Joiners are
kept if they shape letters or join emoji. Persian, Indic scripts and many emoji require joiners.

Similar names are detected according to Unicode Technical Standard 39: compatibility forms, case and accents are folded,
and letters of other scripts are replaced by the Latin letters that they resemble. ``_LOOKALIKES`` contains the entries
of the standard's file ``confusables.txt`` (Unicode 15.1) for single Latin letters. Packages with the complete file are
a megabyte in size or out of date. The standard does not list all similar letters. Therefore, two names also count as
similar if most of their letters match and the others are narrow letters of non-Latin scripts.
"""

# ruff: noqa: RUF001 - this module is about characters that resemble others

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count

from punish_fast.runtime.errors import JOINERS, PunishFastError, brief, joins, printable

MAX_NAME = 60
# Maximum number of characters in a stored name. Old versions and the original program did not apply `MAX_NAME`.
LONGEST_NAME = 10 * MAX_NAME
NAMES = f"names of 1 to {MAX_NAME} printable characters"

# Blanks: spaces of all widths, tabs, and characters without visible glyphs.
_BLANKS = re.compile("[\t \u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]+")
# Soft hyphens, zero-width breaks, and direction marks.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

_LOOKALIKES = {
    "a": "αаᎪᗅ⍺ꓮɑ𖽀𐊠",
    "b": "ƅβвьᏏᏴᑲᖯᗷꓐꞵ𐊂𐊡𐌁",
    "c": "сϲσᏟⲥꓚ𐐽🝌𑣲𑣩𐊢𐌂𐔜",
    "d": "ԁᎠᏧᑯᗞᗪꓒꓓ",
    "e": "еεҽєᎬ℮ⴹꓰ⋿𑣆𑣎𐊆",
    "f": "ϝքᖴꓝ𝈓𑣂𐊇𐊥𐔥",
    "g": "ƍԍցᏀᏳꓖ",
    "h": "ηнһհᎻᏂᕼⲏꓧ𐋏",
    "i": "1lιіӏ|ᎥӀ⍳ꙇɩ𑣃⏽𐌠ǀ𖼨𐊊𐌉",
    "j": "ϳјᎫᒍꓙ",
    "k": "κкᏦᛕⲕꓗ𐔘",
    "l": "1iιіӏ|۱١Ꮮᒪᛁ∣│ⲓⵏꓡꓲ⏽𐌠ɩǀ𖼨𐊊𐌉𝈪ⳑ𖼖𑣃𑣒𐑃𐔦",
    "m": "μϻмᎷᗰᛖⲙꓟ𐊰𐌑",
    "n": "νηпոռⲛꓠ𐔓",
    "o": "0οσоօ۵०০੦૦୦௦౦೦൦๐໐၀ჿⲟⵔ〇ꓳంಂംංഠဝ𐓪𑣈𑣗𐐬𑓐𑣠ዐଠ𑣕𐊒𐊫𐔖",
    "p": "ρрᏢᑭ⍴ⲣꓑ𐊕",
    "q": "ԛգզⵕ",
    "r": "гᎡᎱᏒᖇᴦⲅꓣꭇ𝈖𐓜𖼵",
    "s": "ѕտᏕᏚꓢƽ𑣁𐑈𖼺𐊖",
    "t": "τтᎢ⊤⟙ⲧꓔ🝨𖼊𑣜𐊗𐊱𐌕",
    "u": "υսሀᑌ∪⋃ꓴꞟ𐓶𑣘𖽂",
    "v": "νѵ۷٧Ꮩᐯ∨⋁ⴸꓦꛟ𑜆𑣀𝈍𖼈𐔝",
    "w": "ѡԝաᎳᏔꓪ𑜊𑜎𑜏𑣯𑣦",
    "x": "×χхᕁᕽ᙭ᚷ╳ⲭⵝꓫ᙮⤫⤬⨯𐌢𑣬ꭓ𐊐𐊴𐌗𐔧",
    "y": "γυуүყᎩᎽⲩꓬɣ𑣜𖽃𑣄𐊲",
    "z": "ζᏃꓜ𑣄𐋵𑣥𑣉",
}
# Characters that resemble each other.
_ALIKE = [frozenset(letter + shapes) for letter, shapes in _LOOKALIKES.items()]
_WITH_SHAPE = frozenset("".join(_LOOKALIKES.values()))
# Unicode names of variants of Latin letters, such as "LATIN SMALL LETTER DOTLESS I".
# Other examples: "NEGATIVE SQUARED LATIN CAPITAL LETTER V" and "REGIONAL INDICATOR SYMBOL LETTER V".
_LATIN = re.compile(r"(?:LATIN|SYMBOL) .*?LETTER (?:[A-Z-]+ )*?([A-Z])(?: WITH .+)?$")
_TEMPERATURE = re.compile(r"@[0-9.eE+-]*$")


class PlayerNameError(PunishFastError, ValueError):
    """Raised for a player name that is invalid or resembles the name of a bot."""


def clean_name(text: str) -> str:
    """Normalize a name for storage and comparison. `checked_name` also validates the name."""
    if len(text) > LONGEST_NAME:  # too long for a name, and normalization can take quadratic time
        return text
    text = _BLANKS.sub(" ", _INVISIBLE.sub("", text)).strip(" ")
    kept: list[str] = []
    for k, character in enumerate(text):
        if character not in JOINERS or joins("".join(kept[-1:]), text[k + 1 : k + 2]):
            kept.append(character)
    cleaned = unicodedata.normalize("NFC", "".join(kept))
    # Removed characters can leave adjacent blanks, joiners or accents, so repeat until nothing changes.
    return cleaned if cleaned == text else clean_name(cleaned)


def numbered_names(name: str) -> Iterator[str]:
    """Yield a name, then the name with the suffixes (2), (3) and so on."""
    yield name
    for suffix in (f" ({k})" for k in count(2)):
        yield clean_name(name[: MAX_NAME - len(suffix)] + suffix)


def is_name(text: str) -> bool:
    """Return True if a name normalized by `clean_name` is valid."""
    has_ink = any(unicodedata.category(character)[0] in "LNPS" for character in text)
    return has_ink and len(text) <= MAX_NAME and printable(text) == text


def checked_name(text: str, taken: Iterable[str] = ()) -> str:
    """Normalize a name. Raise `PlayerNameError` if the name is invalid or resembles a name in ``taken``."""
    name = clean_name(text)
    if not is_name(name):
        raise PlayerNameError(f"{brief(text)} is not a valid name; use {NAMES}")
    other = next((other for other in taken if looks_like(name, other)), None)
    if other is not None:
        raise PlayerNameError(f"{brief(name)} looks like {other}, the name of a bot; choose another name")
    return name


def looks_like(name: str, other: str) -> bool:
    """Return True if two names, or their parts before ``@``, resemble each other. Temperatures are ignored."""
    names = (_TEMPERATURE.sub("", unicodedata.normalize("NFKC", each)) for each in (name, other))
    ours, theirs = ({_folded(each), _folded(each.partition("@")[0])} for each in names)
    return any(_match(one, another) for one in ours for another in theirs)


def _match(name: str, target: str) -> bool:
    """Return True if folded names have equal length, most letters match, and all others might be similar.

    Two different letters might be similar if one of them is a narrow letter of a non-Latin script.
    """
    if not len(name) == len(target) > 0:
        return False
    pairs = [{c, t} for c, t in zip(name, target, strict=True) if c != t]
    others = [pair for pair in pairs if not any(pair <= alike for alike in _ALIKE)]
    return 2 * len(others) < len(name) and all(
        any(not c.isascii() and unicodedata.east_asian_width(c) != "W" for c in pair) for pair in others
    )


def _folded(text: str) -> str:
    """Return the letters and digits of a text, after folding of case, accents and variants of Latin letters."""
    characters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    letters = "".join(map(_letter, characters))
    return "".join(c for c in letters if c.isalnum() or c in _WITH_SHAPE).replace("rn", "m").replace("vv", "w")


def _letter(character: str) -> str:
    """Return the Latin letter if a character is a variant of one. Return other characters unchanged."""
    found = None if character.isascii() else _LATIN.search(unicodedata.name(character, ""))
    return found[1].lower() if found else character
