"""The console script. A hook goes past the command line: clients start one at every tool call."""

import sys


def entry() -> None:
    """Run `palace …` and exit with its code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        from memory_palace.agents import hook

        hook.run(words[1:])
    from memory_palace.cli.main import main

    sys.exit(main())
