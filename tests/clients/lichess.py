"""One push by touchmoved and one by berserk, of the same games; called by lichess.sh."""

import http.server
import json
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading

import berserk

ROUND = "AbCdEfGh"
TOKEN = "lip_TokenForTheTest"
PATIENCE = 60

requests = queue.Queue()


class Lichess(http.server.BaseHTTPRequestHandler):
    """Takes every push and remembers it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        requests.put((self.command, self.path, dict(self.headers), body))
        games = [{"tags": {"White": "x"}, "moves": 0} for _ in split(body)]
        answer = json.dumps({"games": games}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def split(body):
    """The games of a body, as Lichess parts them."""
    return [game for game in re.split(r"\n\n(?=\[)", body) if game.strip()]


def configuration(directory, url):
    (directory / "token").write_text(TOKEN)
    (directory / "token").chmod(0o600)
    text = f"""
[data]
dir = "data"
[http]
listen = "127.0.0.1:0"
[livechess]
enabled = false
[dgt-emulation]
enabled = false
[lichess]
round = "{ROUND}"
url = "{url}"
token-file = "token"
"""
    for board in (1, 2):
        text += f"""
[[board]]
id = "{board}"
tags = {{ white = "Weiß, {board}", black = "Black, {board}" }}
[board.sensor.simulated]
speed = 200
level = "clean"
"""
    path = directory / "touchmoved.toml"
    path.write_text(text)
    return path


def main(program):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lichess)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as directory:
        path = configuration(pathlib.Path(directory), url)
        with subprocess.Popen([program, "run", "--config", path], stderr=subprocess.PIPE) as daemon:
            try:
                ours = requests.get(timeout=PATIENCE)
                while "1. " not in ours[3]:
                    ours = requests.get(timeout=PATIENCE)
            finally:
                daemon.terminate()
                said = daemon.communicate()[1].decode()
    assert TOKEN not in said, said
    while not requests.empty():
        requests.get()
    session = berserk.TokenSession(TOKEN)
    client = berserk.Client(session, base_url=url)
    games = split(ours[3])
    assert len(games) == 2, games
    client.broadcasts.push_pgn_update(ROUND, games)
    theirs = requests.get(timeout=PATIENCE)
    for what, index in [("method", 0), ("path", 1)]:
        assert ours[index] == theirs[index], (what, ours[index], theirs[index])
    for name in ["Authorization", "Host"]:
        assert ours[2][name.lower()] == theirs[2][name], name
    assert [game.strip() for game in split(ours[3])] == split(theirs[3])
    print(f"lichess: everything holds ({ours[0]} {ours[1]}, {len(ours[3])} bytes, as berserk {berserk.__version__})")


main(sys.argv[1])
