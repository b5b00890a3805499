// Reads a PGN with npm's chessops, the library of lichess.org: read_pgn.mjs FILE
import { readFileSync } from 'node:fs';
import { parseComment, parsePgn, startingPosition } from 'chessops/pgn';
import { parseSan } from 'chessops/san';

const fail = reason => {
  console.error(reason);
  process.exit(1);
};
const games = parsePgn(readFileSync(process.argv[2], 'utf8'));
let plies = 0;
let clocks = 0;
for (const game of games) {
  const position = startingPosition(game.headers).unwrap();
  for (const node of game.moves.mainline()) {
    const move = parseSan(position, node.san);
    if (!move) fail(`${game.headers.get('White')}: ${node.san} is no legal move`);
    position.play(move);
    plies += 1;
    for (const comment of node.comments ?? []) {
      if (parseComment(comment).clock !== undefined) clocks += 1;
    }
  }
}
if (games.length < 2 || plies < 7 || clocks < 6) fail(`${games.length} games, ${plies} plies, ${clocks} clocks`);
console.log(`npm chessops\n  ${games.length} games are legal, with clocks of ${clocks} of ${plies} half-moves`);
