"""Refusals and faults of the environment. Each message ends with what to do."""


class PalaceError(Exception):
    """Something a command reports in one line; ``exit_code`` is the command's."""

    exit_code = 1


class Refused(PalaceError):
    """The palace says no; nothing was written."""

    exit_code = 1


class Busy(Refused):
    """Another writer is at it."""


class BadInput(PalaceError):
    """A flag, a configuration key or an input file is not usable."""

    exit_code = 2


class Missing(PalaceError):
    """A model, an index, git or the disk is not there; the message has the mending command."""

    exit_code = 3


class Changed(PalaceError):
    """The file changed underneath; nothing was written."""

    exit_code = 4
