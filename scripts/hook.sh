#!/bin/sh
# What a client runs at an event, from a clone of the repository: hook.sh EVENT [--client NAME].
# One process: the shell becomes the Python that `make setup` installs into, else any other.
here=${0%/*}
# Python would exit with 2, which clients take for a refusal of what the agent does.
[ -r "$here/hook.py" ] || exit 0
for environment in "$here/../.venv" "${VENV:-/nonexistent}"; do
  for python in "$environment/bin/python" "$environment/Scripts/python.exe"; do
    [ -x "$python" ] && exec "$python" -I "$here/hook.py" "$@"
  done
done
command -v python3 >/dev/null 2>&1 && exec python3 -I "$here/hook.py" "$@"
exit 0
