"""Reads a running daemon with programs that others wrote: PyPI's livechess and chess.

check.py LIVECHESS_PORT HTTP_PORT DIR [--whole-game]; writes the PGN that it read into DIR for the next reader."""

import io
import json
import pathlib
import sys
import time
import urllib.request

import chess.pgn
import livechess.local
from livechess.main import app
from typer.testing import CliRunner

LIVECHESS, HTTP = int(sys.argv[1]), int(sys.argv[2])
# The commands have no option for the port.
livechess.local.LiveChessLocal.__init__.__defaults__ = ("127.0.0.1", LIVECHESS)


def command(*words):
    """What a command of the operators' tool prints."""
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    if result.exit_code != 0:
        raise SystemExit(f"livechess {' '.join(words)} ends with {result.exit_code}: {result.exception!r}")
    return result.output


def holds(what, condition, seen):
    if not condition:
        raise SystemExit(f"{what}: not so:\n{seen}")
    print(f"  {what}")


def get(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{HTTP}{path}") as answer:
        return answer.read().decode(answer.headers.get_content_charset() or "utf-8")


def games(text):
    """The games of a PGN, none of which may have an error."""
    stream, found = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        if game.errors:
            raise SystemExit(f"chess: {game.errors}\n{text}")
        found.append(game)
    return found


def operators_tool():
    print("PyPI livechess")
    eboards = command("eboards")
    holds("eboards lists the boards", all(s in eboards for s in ("90001", "90002", "ACTIVE")), eboards)
    tournaments = livechess.local.LiveChessLocal().tournaments()
    (open_,) = [known for known in tournaments if known.description == "Client Test"]
    holds("tournaments lists the event", open_.uuid[:8] in command("tournaments"), command("tournaments"))
    table = command("tournament", open_.uuid)
    holds("tournament shows the last move, the players and a result",
          all(s in table for s in ("2. exd5", "White One", "0-1", "●" if "●" in table else "○")), table)
    events = command("events", open_.uuid)
    holds("events has nothing to say", events.strip() == "No events", events)
    return open_.uuid


def cloud(uuid):
    print("Cloud, with PyPI chess")
    meta = json.loads(get(f"/meta/{uuid}"))
    holds("meta is read", meta["format"] == "1" and meta["host"].endswith(str(HTTP)), meta)
    tournament = json.loads(get(f"/get/{uuid}/tournament.json"))
    count = tournament["rounds"][0]["count"]
    index = json.loads(get(f"/get/{uuid}/round-1/index.json"))
    holds("every board of the round has a pairing", len(index["pairings"]) == count == 2, index)
    for number in range(1, count + 1):
        game = json.loads(get(f"/get/{uuid}/round-1/game-{number}.json?poll"))
        board = chess.Board()
        for move in game["moves"]:
            san, times = move.split(" ")
            board.push_san(san)
            # clk+emt; how long the first move took is not always known.
            [int(seconds) for seconds in times.split("+")]
        holds(f"game {number} is legal, with the times of {len(game['moves'])} moves", game["moves"], game)


def pgn(folder):
    print("PyPI chess")
    text = get("/pgn/games.pgn")
    found = games(text)
    first, second = found[:2]
    holds("the games have their tags", first.headers["White"] == "One, White"
          and first.headers["WhiteFideId"] == "1000001" and second.headers["Result"] == "0-1", text)
    clocks = [node.clock() for node in first.mainline()]
    holds("the moves have their clocks", clocks == [5425.0, 5425.0, 5449.0], clocks)
    by_round = get("/pgn/round-1.pgn")
    holds("the file of the round has the same two games", len(games(by_round)) == 2, by_round)
    on_disk = (folder / "data/pgn/round-1/games.pgn").read_text(encoding="utf-8")
    holds("the folder of the round, too", on_disk == by_round, on_disk)
    (folder / "games.pgn").write_text(text, encoding="utf-8")


def whole_game():
    """A simulated game from the first move to the result, read again and again."""
    print("a whole game, read while it is played")
    read, deadline = 0, time.monotonic() + 300
    while time.monotonic() < deadline:
        game = games(get("/pgn/3.pgn"))[0]
        local = livechess.local.LiveChessLocal()
        for known in local.tournaments():
            for round_ in local.rounds(known.uuid, range(known.rounds)):
                for pairing in round_.pairings:
                    local.game(pairing.uuid)
        read += 1
        if game.headers["Result"] != "*":
            plies = game.end().ply()
            holds(f"{plies} half-moves and a result, in {read} readings", plies > 20 and read > 3, game)
            return
        time.sleep(0.2)
    raise SystemExit("the simulated game does not end")


uuid = operators_tool()
cloud(uuid)
folder = pathlib.Path(sys.argv[3])
pgn(folder)
if "--whole-game" in sys.argv:
    whole_game()
