"""Each kind of refusal has the exit code that the design promises."""

import pytest

from memory_palace.core import errors


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.PalaceError, 1),
        (errors.Refused, 1),
        (errors.BadInput, 2),
        (errors.Missing, 3),
        (errors.Changed, 4),
    ],
)
def test_exit_codes(kind: type[errors.PalaceError], code: int) -> None:
    """1 refused, 2 bad input, 3 something is missing, 4 the file changed underneath."""
    assert kind.exit_code == code
    assert issubclass(kind, errors.PalaceError)
    assert str(kind("what to do")) == "what to do"
