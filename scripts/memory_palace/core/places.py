"""Folders of a machine, as they stand in what an agent said: taken out, so that a note fits any
machine."""

import re

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOME = re.compile(r"(/home/[^/]+|/Users/[^/]+|/root|/?[A-Za-z]:/Users/[^/]+)(?:/|\Z)")
# A path begins there: in `src/app/main.py` nothing is below `/app`. What may stand before it: the
# end of `file://`, an escaped line end, a compiler's `-I`.
_BEGIN = r"(?:(?<![A-Za-z0-9_.~-])(?<![^/]/)|(?<=\\[nrt])|(?<=\s-[A-Za-z]))"
_END = r"(?![\w.-])"


def posix(path: str) -> str:
    """A folder of Windows, as it would be spelled elsewhere; any other one as it is."""
    return f"/{path}".replace("\\", "/") if _DRIVE.match(path) else path


def home(path: str) -> str:
    """The home folder that ``path`` lies in; empty where it lies in none."""
    found = _HOME.match(path)
    return found[1] if found else ""


def last(path: str) -> str:
    """The name of the folder ``path``; empty for none and for the top of a disk."""
    return posix(path).rstrip("/").rpartition("/")[2]


def without(text: str, project: str, own_home: str) -> str:
    """``text`` with paths below the folder ``project`` made relative to it, and ``own_home`` as
    ``~``."""
    for place, inner, whole in ((project, "", "."), (own_home, "~/", "~")):
        place = place.rstrip("/")
        if len(place) > 1 and place in text:
            begun = _BEGIN + re.escape(place)
            text = re.sub(f"{begun}/", inner, text)
            text = re.sub(begun + _END, whole, text)
    return text
