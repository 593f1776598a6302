"""A session of pi in its RPC mode, with the extension that `palace install pi` sets up."""

import json
from collections.abc import Sequence

from agents import clients, homes
from agents.endpoint import Call, Endpoint, Request


def bash(command: str) -> list[Call]:
    """The model runs ``command``."""
    return [Call("bash", {"command": command})]


def talk(
    home: homes.Home, endpoint: Endpoint, prompts: Sequence[str], last: str
) -> list[list[Request]]:
    """Give pi the prompts in one session, have it compact, and give it ``last``; the requests at
    each."""
    asked = []
    point(home, endpoint)
    with clients.started(
        clients.need("pi"),
        *("--mode", "rpc", "--provider", "scripted", "--model", "m"),
        cwd=home.project,
        home=home.place,
        PI_OFFLINE="1",
    ) as pi:
        for number, prompt in enumerate((*prompts, last)):
            if number == len(prompts):
                clients.tell(pi, {"type": "compact"})
                done = clients.told(pi, "command", "compact")
                assert done["success"], done
                endpoint.clear()
            clients.tell(pi, {"type": "prompt", "message": prompt})
            clients.told(pi, "type", "agent_settled")
            asked.append(list(endpoint.requests))
            endpoint.clear()
    return asked


def point(home: homes.Home, endpoint: Endpoint) -> None:
    """Have pi know the scripted model, and keep little of a conversation that it compacts."""
    agent = home.place / ".pi" / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    model = {"id": "m", "contextWindow": 100_000, "maxTokens": 4_000}
    scripted = {
        "baseUrl": endpoint.url,
        "api": "anthropic-messages",
        "apiKey": "dummy",
        "models": [model],
    }
    (agent / "models.json").write_text(json.dumps({"providers": {"scripted": scripted}}))
    (agent / "settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": 10}}))
