#!/usr/bin/env bash
# Pushes by touchmoved against those of berserk, the Python client of Lichess: both push the same games to a server on
# this machine, and the two requests have to say the same. Needs Python 3 with venv, and the network or a cache of pip
# for berserk. Exit status 77: it cannot be run here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

not_run() {
    printf 'not run: tests/clients/lichess.sh: %s\n' "$1"
    exit 77
}

command -v python3 >/dev/null || not_run 'there is no python3'
venv=${TOUCHMOVED_VENV:-target/clients/berserk}
if [[ ! -x $venv/bin/python ]]; then
    python3 -m venv "$venv" >/dev/null 2>&1 || not_run 'python3 has no venv (apt-get install python3-venv)'
fi
"$venv/bin/python" -c 'import berserk' 2>/dev/null ||
    "$venv/bin/pip" install --quiet --disable-pip-version-check 'berserk==0.14.0' ||
    not_run 'berserk cannot be installed'
program=${TOUCHMOVED:-target/debug/touchmoved}
[[ -x $program ]] || cargo build --locked
exec "$venv/bin/python" tests/clients/lichess.py "$program"
