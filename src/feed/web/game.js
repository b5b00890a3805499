// What a board looks like and how it reads in words. No page, no network, no clock in here.

const NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
const ORDER = "KQRBNP";

/** Square names in the order of a FEN: a8, b8, ..., h1. */
export const SQUARES = Array.from({ length: 64 }, (_, i) => "abcdefgh"[i % 8] + (8 - Math.floor(i / 8)));

/** The 64 letters of a piece placement (a FEN or its first field); "" is an empty square. */
export function parsePlacement(text) {
  const men = [];
  for (const sign of (text || "").split(" ")[0]) {
    if (sign >= "1" && sign <= "8") men.push(...Array(Number(sign)).fill(""));
    else if (sign !== "/") men.push(sign);
  }
  while (men.length < 64) men.push("");
  return men.slice(0, 64);
}

/** "white" or "black": the side that has the move in a FEN. */
export const turnOf = (fen) => ((fen || "").split(" ")[1] === "b" ? "black" : "white");

/** Colour of the man that a letter stands for. */
export const colourOf = (man) => (man === man.toUpperCase() ? "white" : "black");

/** Number of the full move and colour of the first ply after `fen`. */
export function firstPly(fen) {
  const number = Number.parseInt((fen || "").split(" ")[5], 10);
  return { number: Number.isFinite(number) && number > 0 ? number : 1, colour: turnOf(fen) };
}

/** Number of half moves before the first ply in its row of the score: 1 where Black begins. */
export const offset = (state) => (firstPly(state.start_fen).colour === "black" ? 1 : 0);

/** Colour of the side that played a ply; plies count from 1. */
export const colourOfPly = (state, ply) => ((ply - 1 + offset(state)) % 2 === 0 ? "white" : "black");

/** Number of the full move that a ply belongs to. */
export const fullMove = (state, ply) => firstPly(state.start_fen).number + Math.floor((ply - 1 + offset(state)) / 2);

/** "12." for a ply of White, "12…" for one of Black. */
export const moveNumber = (state, ply) => `${fullMove(state, ply)}${colourOfPly(state, ply) === "white" ? "." : "…"}`;

/** The men after a move in UCI. The move is carried out as written; whether it is legal is not asked. */
export function play(men, uci) {
  const from = SQUARES.indexOf(uci.slice(0, 2));
  const to = SQUARES.indexOf(uci.slice(2, 4));
  if (from < 0 || to < 0 || from === to) return men;
  const next = men.slice();
  const man = men[from];
  const kind = man.toLowerCase();
  const file = to % 8;
  next[from] = "";

  const rook = castlingRook(men, from, to);
  if (rook !== null) {
    const row = from - (from % 8);
    const short = rook > from;
    const castle = next[rook];
    next[rook] = "";
    next[row + (short ? 6 : 2)] = man;
    next[row + (short ? 5 : 3)] = castle;
    return next;
  }
  if (kind === "p" && from % 8 !== file && men[to] === "") next[from - (from % 8) + file] = "";
  const promoted = uci[4];
  if (promoted) next[to] = colourOf(man) === "white" ? promoted.toUpperCase() : promoted;
  else next[to] = man;
  return next;
}

// Castling is written as the king's two steps, or (Chess960) as the king taking its own rook.
function castlingRook(men, from, to) {
  const man = men[from];
  if (man.toLowerCase() !== "k" || Math.floor(from / 8) !== Math.floor(to / 8)) return null;
  const rook = man === "K" ? "R" : "r";
  if (men[to] === rook) return to;
  const row = from - (from % 8);
  if (from % 8 !== 4 || Math.abs(to - from) !== 2) return null;
  const corner = to > from ? row + 7 : row;
  return men[corner] === rook ? corner : null;
}

/** The men after some plies, from the position that the game began with. */
export const positionAfter = (startFen, plies) =>
  plies.reduce((men, ply) => play(men, ply.uci), parsePlacement(startFen));

/** The squares that a move in UCI leaves and reaches. */
export const squaresOf = (uci) => (uci && uci.length >= 4 ? [uci.slice(0, 2), uci.slice(2, 4)] : []);

/** A move in words: "knight takes f3, check". */
export function sayMove(san) {
  const end = san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "";
  const move = san.replace(/[+#!?]+$/, "");
  if (move === "O-O") return `castles king side${end}`;
  if (move === "O-O-O") return `castles queen side${end}`;
  const parts = /^([KQRBN]?)([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=([QRBN]))?$/.exec(move);
  if (!parts) return san;
  const [, letter, origin, takes, square, promoted] = parts;
  const words = [];
  if (letter || !takes) words.push(letter ? NAMES[letter.toLowerCase()] : "pawn");
  if (origin) words.push(letter ? `from ${origin}` : origin);
  words.push(takes ? "takes" : "to", square);
  if (promoted) words.push(`promotes to ${NAMES[promoted.toLowerCase()]}`);
  return words.join(" ") + end;
}

/** A position in words, for those who do not see it: "White: king e1, pawns a2, b2. Black: ...". */
export function sayPosition(men) {
  const side = (name, own) => {
    const groups = [];
    for (const letter of ORDER) {
      const squares = SQUARES.filter((_, i) => men[i] === own(letter)).sort();
      if (squares.length === 0) continue;
      const word = NAMES[letter.toLowerCase()];
      groups.push(`${squares.length > 1 ? `${word}s` : word} ${squares.join(", ")}`);
    }
    return `${name}: ${groups.length ? groups.join("; ") : "no men"}.`;
  };
  return `${side("White", (l) => l)} ${side("Black", (l) => l.toLowerCase())}`;
}

/** A clock: "1:29:05", "4:07", "0:09.4" under ten seconds (only where `tenths`), "–:––" when unknown. */
export function formatClock(ms, tenths = false) {
  if (ms === null || ms === undefined) return "–:––";
  const left = Math.max(0, ms);
  if (tenths && left < 10_000) {
    const t = Math.floor(left / 100);
    return `0:0${Math.floor(t / 10)}.${t % 10}`;
  }
  const seconds = Math.floor(left / 1000);
  const two = (n) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A time control of a PGN in words: "40/5400+30:1800+30"
 *  is "90 min for 40 moves, then 30 min + 30 s a move". */
export function sayTimeControl(text) {
  const periods = (text || "").split(":").map((p) => /^(?:(\d+)\/)?(\d+)(?:\+(\d+))?$/.exec(p));
  if (periods.length === 0 || periods.some((p) => !p)) return text && !/^[?-]$/.test(text) ? text : "";
  const span = (s) => (s % 60 === 0 ? `${s / 60} min` : `${s} s`);
  const bonus = periods[0][3] || "0";
  const same = periods.every((p) => (p[3] || "0") === bonus);
  const words = periods.map(([, moves, base, plus]) => {
    const own = !same && Number(plus) ? ` + ${plus} s a move` : "";
    return span(Number(base)) + (moves ? ` for ${moves} moves` : "") + own;
  });
  return words.join(", then ") + (same && Number(bonus) ? ` + ${bonus} s a move` : "");
}

const WON = {
  "1-0": "1–0, White won",
  "0-1": "0–1, Black won",
  "1/2-1/2": "½–½, draw",
  "0-0": "0–0, both players lost",
};
const ENDED = { "time forfeit": "on time", "rules infraction": "by the rules", adjudication: "decided by the arbiter" };

/** A result in words; "" while there is none. */
function sayResult(state) {
  const won = WON[state.result];
  if (!won) return "";
  if (state.termination === "abandoned") return `${won} without a move`;
  return ENDED[state.termination] ? `${won}, ${ENDED[state.termination]}` : won;
}

/** What the status line says, and which kind of state it is. */
export function sayStatus(state) {
  if (WON[state.result]) return { kind: "result", text: sayResult(state) };
  if (state.status === "ended") return { kind: "result", text: "The game has ended" };
  if (!state.connected) return { kind: "away", text: "Board not connected" };
  if (state.status === "paused") return { kind: "paused", text: "Paused" };
  if (state.status === "irregular") return { kind: "paused", text: "The arbiter decides" };
  if (state.status === "playing") {
    return { kind: "playing", text: `In play, ${state.turn === "black" ? "Black" : "White"} to move` };
  }
  return { kind: "waiting", text: "Waiting for the game to start" };
}

/** Applies one event of the feed to a board. False when it does not fit and a snapshot is needed. */
export function applyEvent(state, event) {
  const ply = ({ uci, san, completed, clock_ms }) => ({ uci, san, completed, clock_ms });
  switch (event.type) {
    case "board":
      state.board = event.placement;
      return true;
    case "move":
      if (event.ply !== state.plies.length + 1) return false;
      state.plies.push(ply(event));
      break;
    case "undo":
      if (event.n > state.plies.length) return false;
      state.plies.length -= event.n;
      break;
    case "correct":
      if (event.ply < 1 || event.ply > state.plies.length) return false;
      state.plies[event.ply - 1] = ply(event);
      break;
    case "completed":
      if (event.ply < 1 || event.ply > state.plies.length) return false;
      state.plies[event.ply - 1].completed = true;
      state.plies[event.ply - 1].clock_ms = event.clock_ms ?? state.plies[event.ply - 1].clock_ms;
      return true;
    case "clock":
      state.clock = event;
      return true;
    case "setup":
      state.start_fen = event.fen;
      state.plies = [];
      state.earlier = event.earlier;
      break;
    case "result":
      state.result = event.result;
      state.termination = event.termination;
      return true;
    case "status":
      state.status = event.status;
      state.connected = event.connected;
      return true;
    default:
      return true; // a newer server may tell more
  }
  state.fen = event.fen;
  state.turn = turnOf(event.fen);
  return true;
}

/** What happened, in words, for those who do not see it; "" for what needs no words. */
export function sayEvent(state, event) {
  switch (event.type) {
    case "move":
      return `${colourOfPly(state, event.ply) === "white" ? "White" : "Black"}: ${sayMove(event.san)}.`;
    case "undo":
      return event.n === 1 ? "The last move was taken back." : `${event.n} moves were taken back.`;
    case "correct":
      return `Correction of ${moveNumber(state, event.ply)}: ${sayMove(event.san)}.`;
    case "setup":
      return "The game goes on from another position.";
    case "result":
    case "status":
      return `${sayStatus(state).text}.`;
    default:
      return "";
  }
}
