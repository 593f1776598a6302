"""A session of OpenCode through its own server, with the plugin that `palace install` sets up."""

import json
import re
import subprocess
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import clients, homes
from agents.endpoint import Call, Endpoint, Request

QUIET = 8
"""Tenths of a second without a request after which a session rests: a hook takes less."""


def bash(command: str) -> list[Call]:
    """The model runs ``command``."""
    return [Call("bash", {"command": command, "description": "try it"})]


def talk(
    home: homes.Home, endpoint: Endpoint, prompts: Sequence[str], last: str
) -> list[list[Request]]:
    """Give OpenCode the prompts in one session, have it compact, and give it ``last``; the
    agent's own requests at each."""
    asked = []
    point(home.place / ".config" / "opencode" / "opencode.json", endpoint)
    with clients.started(
        clients.need("opencode"),
        *("serve", "--hostname", "127.0.0.1", "--port", "0"),
        cwd=home.project,
        home=home.place,
        OPENCODE_DISABLE_LSP_DOWNLOAD="1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS="1",
    ) as server:
        url = listening(server)
        made = post(f"{url}/session", {})["id"]
        for number, prompt in enumerate((*prompts, last)):
            if number == len(prompts):
                model = {"providerID": "scripted", "modelID": "m"}
                post(f"{url}/session/{made}/summarize", model)
                settle(url, made, endpoint)
                endpoint.clear()
            parts = [{"type": "text", "text": prompt}]
            post(f"{url}/session/{made}/message", {"parts": parts})
            settle(url, made, endpoint)
            asked.append(endpoint.main())
            endpoint.clear()
    return asked


def listening(server: subprocess.Popen[str]) -> str:
    """The address that the server says it listens on."""
    assert server.stdout
    for line in server.stdout:
        if found := re.search(r"http://\S+", line):
            return found.group().rstrip("/")
    raise AssertionError("the server ended before it listened")


def post(url: str, body: object) -> dict[str, Any]:
    """Send an object, and give the one that comes back."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=clients.RUN_SECONDS) as answer:
        found = json.loads(answer.read() or b"{}")
        return found if isinstance(found, dict) else {"answer": found}


def settle(url: str, session: str, endpoint: Endpoint) -> None:
    """Wait until nothing was asked for a while and no session works."""
    quiet = 0
    for _ in range(200):
        before = len(endpoint.requests)
        time.sleep(0.1)
        with urllib.request.urlopen(f"{url}/session/status", timeout=20) as answer:
            busy = session in json.loads(answer.read())
        quiet = 0 if busy or len(endpoint.requests) != before else quiet + 1
        if quiet == QUIET:
            return
    raise AssertionError("the session did not come to rest")


def point(settings: Path, endpoint: Endpoint) -> None:
    """Have OpenCode know the scripted model only."""
    model = {"name": "Scripted", "limit": {"context": 100_000, "output": 4_000}}
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{endpoint.url}/v1", "apiKey": "dummy"},
        "models": {"m": model},
    }
    settings.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(settings.read_text()) if settings.exists() else {}
    settings.write_text(
        json.dumps(
            known
            | {
                "autoupdate": False,
                "share": "disabled",
                "permission": {"bash": "allow"},
                "model": "scripted/m",
                "small_model": "scripted/m",
                "enabled_providers": ["scripted"],
                "provider": {"scripted": scripted},
            }
        )
    )
