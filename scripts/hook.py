"""What a client runs at an event: `hook.py EVENT [--client NAME]`, JSON in, JSON out.

Only the standard library, and syntax that an old Python can read. It always exits with 0: a memory
that is not set up must not stop a session.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 11)
MARK = "PALACE_HOOK_STARTED_IN"


def run(arguments):
    """Answer the event on stdin, in the environment that install.py makes, if that is there."""
    came_from = os.environ.pop(MARK, "")
    environment = os.path.join(os.path.dirname(HERE), ".venv")
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    python = os.path.join(environment, folder, name)
    here = os.path.normcase(os.path.abspath(sys.prefix))
    ours = os.path.normcase(environment)
    if os.name != "nt" and ours not in (here, came_from) and os.path.exists(python):
        os.environ[MARK] = ours
        os.execv(python, [python, "-I", os.path.abspath(__file__), *arguments])
    if sys.version_info < OLDEST:
        _too_old(arguments)
        return
    sys.path.insert(0, HERE)
    try:
        from memory_palace.agents import hook
    except Exception as error:  # the clone is being brought up to date
        sys.stderr.write("palace hook: %s\n" % error)
        return
    hook.run(arguments)


def _too_old(arguments):
    """Said where a person, or the agent, sees it: at the start of a session."""
    why = "Python %d.%d or newer is needed: install it and run `make setup` in %s" % (
        *OLDEST,
        os.path.dirname(HERE),
    )
    sys.stderr.write("%s\n" % why)
    if arguments[:1] == ["SessionStart"] and not os.environ.get("PALACE_HOOK"):
        import json

        said = "The memory palace says nothing in this session: %s." % why
        output = {"hookEventName": "SessionStart", "additionalContext": said}
        sys.stdout.write(json.dumps({"hookSpecificOutput": output}) + "\n")


if __name__ == "__main__":
    run(sys.argv[1:])
