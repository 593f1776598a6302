"""A session of the real OpenCode, mined from where it keeps it and from its own export."""

from pathlib import Path

from agents import clients, shell_opencode
from agents.endpoint import Call, Endpoint, Say, in_order
from memory_palace.core import note
from memory_palace.memory import mine_sessions
from support.palaces import NOW, Palace

QUIET = {"OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}


def test_a_real_session_is_one_note(tmp_path: Path) -> None:
    """What was said and done is in it, once; the export has nothing new."""
    home, project = tmp_path / "home", tmp_path / "harbour"
    for place in (home, project / ".git"):
        place.mkdir(parents=True)
    root = Palace(tmp_path / "root").root
    opencode = clients.need("opencode")
    first = [Say("I look first."), Call("bash", {"command": "echo lit", "description": "look"})]

    def said(*words: str) -> str:
        ran = clients.run(opencode, *words, cwd=project, home=home, **QUIET)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    with Endpoint(in_order(first, [Say("The lamp is lit.")])) as endpoint:
        shell_opencode.point(home / ".config" / "opencode" / "opencode.json", endpoint)
        said("run", "Light the lamp, please.")
        kept = home / ".local" / "share" / "opencode"
        (mined,) = mine_sessions.run(root, NOW, [kept]).mined
        assert (mined.what, mined.added) == ("filed", 4)
        export = tmp_path / "export.json"
        export.write_text(said("export", mined.session))
    (again,) = mine_sessions.run(root, NOW, [export]).mined
    assert (again.what, again.added, again.paths) == ("unchanged", 0, mined.paths)
    text = (root / mined.paths[0]).read_text(encoding="utf-8")
    told = note.parse("a.md", text)
    assert told.metadata["version"] == clients.CLIENTS["opencode"].version
    assert mined.paths[0].startswith("palace/project_rooms/harbour/sessions/")
    for words in (
        "Light the lamp, please.",
        "I look first.",
        "$ echo lit\nlit",
        "The lamp is lit.",
    ):
        assert told.body.count(words) == 1
