"""The clients of agents: hooks, MCP, installers. Dialects only; the work is done below."""
