"""What an install writes, read by the clients themselves. Where they are; none is fetched here."""

import shutil
from pathlib import Path

import pytest

from agents import clients
from memory_palace.agents.install import codex, plan
from memory_palace.agents.install.clients import CLIENTS, installing
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit

PI = """
import { discoverAndLoadExtensions } from %r;
const found = await discoverAndLoadExtensions([], process.cwd(), process.argv[2]);
console.log(JSON.stringify([found.extensions.length, found.errors]));
"""


def there(name: str) -> Path:
    """The command of client ``name``; skips the test where it is not installed."""
    client = clients.CLIENTS[name]
    given = Path(clients.GIVEN) if clients.GIVEN else None
    for folder in (given, clients.PLACE / client.folder / "node_modules"):
        if folder and (folder / ".bin" / client.command).exists():
            return folder / ".bin" / client.command
    found = shutil.which(client.command)
    if found is None:
        pytest.skip(f"{client.command} is neither on the path nor in $PALACE_TEST_CLIENTS")
    return Path(found)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A home and a project, in folders with a space."""
    (tmp_path / "a home").mkdir()
    (tmp_path / "a project").mkdir()
    return Site(tmp_path / "a home", tmp_path / "a project", {})


@pytest.fixture
def kit(tmp_path: Path) -> Toolkit:
    """A checkout whose folder has a difficult name, with plugins that tell that they run."""
    folder = tmp_path / "tool kit's #1 %41"
    said = f'require("fs").appendFileSync("{tmp_path}/said", "%s " + process.env.PALACE_ROOT)'
    for name, text in {
        "scripts/hook.sh": f'#!/bin/sh\necho "$1 $5" >> {tmp_path}/said\n',
        "agents/pi/index.ts": f"export default function (pi: object) {{ {said % 'pi'}; }}\n",
        "agents/opencode/memory-palace.ts": "export const MemoryPalace = async (at: object) => "
        f"{{ {said % 'opencode'}; return {{}}; }};\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return Toolkit(folder, "/bin/echo", pinned=Path("/pinned"))


def brought_in(site: Site, name: str, kit: Toolkit) -> None:
    """Install client ``name``."""
    plan.apply(site, installing(site, CLIENTS[name], kit))


def test_codex_lists_the_server_and_the_hooks(site: Site, kit: Toolkit) -> None:
    """Each hook is there, with its command and its seconds, and not trusted yet."""
    program = there("codex")
    brought_in(site, "codex", kit)
    listed = clients.run(program, "mcp", "list", cwd=site.here, home=site.home)
    assert "tool kit's #1 %41/scripts/palace.py mcp --root /pinned" in listed.stdout
    with clients.started(program, "app-server", cwd=site.here, home=site.home) as talk:
        hello = {"clientInfo": {"name": "t", "version": "1"}}
        clients.tell(talk, {"id": 1, "method": "initialize", "params": hello})
        clients.told(talk, "id", 1)
        clients.tell(talk, {"method": "initialized"})
        asked = {"cwds": [str(site.here)]}
        clients.tell(talk, {"id": 2, "method": "hooks/list", "params": asked})
        (found,) = clients.told(talk, "id", 2)["result"]["data"]
        hooks = {h["command"]: (h["timeoutSec"], h["trustStatus"]) for h in found["hooks"]}
        state = {h["key"]: {"trusted_hash": h["currentHash"]} for h in found["hooks"]}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        clients.tell(talk, {"id": 3, "method": "config/batchWrite", "params": {"edits": [edit]}})
        assert clients.told(talk, "id", 3)["result"]["status"] == "ok"
    assert hooks == {
        kit.hook("codex", event): (seconds, "untrusted") for event, seconds in codex.EVENTS.items()
    }
    assert (found["warnings"], found["errors"]) == ([], [])
    assert codex.untrusted(site) == []
    assert installing(site, CLIENTS["codex"], kit) == []


def test_claude_code_lists_the_server_and_runs_the_hooks(site: Site, kit: Toolkit) -> None:
    """The server is known by name, and the start of a session reaches the script."""
    program = there("claude")
    brought_in(site, "claude-code", kit)
    listed = clients.run(program, "mcp", "list", cwd=site.here, home=site.home)
    assert "palace: /bin/echo" in listed.stdout
    assert installing(site, CLIENTS["claude-code"], kit) == []
    nowhere = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "none"}
    nowhere["CLAUDE_CODE_MAX_RETRIES"] = "0"
    clients.run(program, "-p", "hello", cwd=site.here, home=site.home, **nowhere)
    assert "SessionStart /pinned" in (site.home.parent / "said").read_text().splitlines()


def test_opencode_loads_the_server_and_the_plugin(site: Site, kit: Toolkit) -> None:
    """Both are in what it resolves, and the plugin runs, pinned."""
    program = there("opencode")
    brought_in(site, "opencode", kit)
    shown = clients.run(program, "debug", "config", cwd=site.here, home=site.home)
    assert '"/bin/echo"' in shown.stdout
    assert "plugins/memory-palace.js" in shown.stdout
    assert (site.home.parent / "said").read_text() == "opencode /pinned"


def test_pi_loads_the_extension(site: Site, kit: Toolkit) -> None:
    """By its own loader, without a fault, pinned."""
    program = there("pi")
    node = shutil.which("node")
    loader = program.resolve().parents[1] / "dist/core/extensions/loader.js"
    if node is None or not loader.exists():
        pytest.skip("no node, or another pi")
    brought_in(site, "pi", kit)
    script = site.here / "load.mjs"
    script.write_text(PI % str(loader))
    folder = str(CLIENTS["pi"].folder(site))
    ran = clients.run(Path(node), str(script), folder, cwd=site.here, home=site.home)
    assert ran.stdout.splitlines()[-1] == "[1,[]]", ran.stderr
    assert (site.home.parent / "said").read_text() == "pi /pinned"
