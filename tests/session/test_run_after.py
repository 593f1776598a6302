"""Commands that follow a tool call: bounded in time and output."""

import subprocess
from pathlib import Path

from memory_palace.session import run_after


def test_a_command_that_is_late_is_killed_with_what_it_started(tmp_path: Path) -> None:
    """Its output up to then is kept."""
    command = f"echo begun; (sleep 30; touch {tmp_path}/made) & sleep 30"
    done = run_after.run(command, str(tmp_path), 0.5)
    assert done == run_after.Done(None, "begun")
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"touch {tmp_path}/made" not in listed.stdout


def test_an_output_of_any_length_is_cut(tmp_path: Path) -> None:
    """Its beginning and its end are kept; what runs on in the background is not waited for."""
    done = run_after.run("echo first; seq 200000; echo last", str(tmp_path), 30)
    assert done.code == 0
    assert len(done.output) < run_after.MOST_OUTPUT + 100
    assert done.output.startswith("first") and done.output.endswith("last")
    assert "bytes …]" in done.output
    assert run_after.run("sleep 20 & echo done", str(tmp_path), 30).output == "done"
    assert run_after.run("cat; echo $PALACE_HOOK", str(tmp_path), 30).output == "run_after"
    assert run_after.run("ls", str(tmp_path / "gone"), 30).code is None
