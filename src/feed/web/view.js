// One board with its players, clocks and moves, as often as a page needs it; and what the address of a page says.

import * as chess from "/game.js";
import { boardName, clockAt, drawMan, make, playerName, runs, setText } from "/draw.js";

const SIDES = ["white", "black"];

/** A board to look at. `side` is who sits at the bottom; `moves` how many of the last moves are listed. */
export class BoardView {
  constructor({ side = "white", coords = false, moves = 0, title = false } = {}) {
    this.flipped = side === "black";
    this.moves = moves;
    this.element = make("article", "game");
    this.squares = chess.SQUARES.map((name, i) => {
      const square = make("div", (i + Math.floor(i / 8)) % 2 === 0 ? "light" : "dark");
      square.dataset.square = name;
      return square;
    });
    this.board = make("div", "board");
    this.board.setAttribute("role", "img");
    this.board.append(...(this.flipped ? [...this.squares].reverse() : this.squares));
    if (coords) this.label();
    this.words = make("p", "hidden-text");
    this.title = make("h2", "title");
    this.title.hidden = !title;
    this.lines = Object.fromEntries(SIDES.map((colour) => [colour, makeLine(colour)]));
    const [top, bottom] = this.flipped ? SIDES : [...SIDES].reverse();
    this.note = make("p", "note");
    this.list = make("ol", "moves");
    this.list.hidden = moves === 0;
    this.list.setAttribute("aria-label", "Moves");
    const table = make("div", "table");
    table.append(this.lines[top], this.board, this.lines[bottom], this.note);
    this.element.append(this.title, table, this.words, this.list);
  }

  /** Names of files and ranks, in the squares at the edge. */
  label() {
    for (const square of this.squares) {
      const [file, rank] = square.dataset.square;
      if (file === (this.flipped ? "h" : "a")) square.dataset.rank = rank;
      if (rank === (this.flipped ? "8" : "1")) square.dataset.file = file;
    }
  }

  /** Draws everything but the clocks. */
  draw(state) {
    const men = chess.parsePlacement(state.board || state.fen);
    const last = state.plies.at(-1);
    const [from, to] = chess.squaresOf(last?.uci);
    this.squares.forEach((square, i) => {
      drawMan(square, men[i]);
      square.classList.toggle("from", square.dataset.square === from);
      square.classList.toggle("to", square.dataset.square === to);
    });
    const ply = state.plies.length;
    const says = last ? ` Last move: ${chess.moveNumber(state, ply)} ${chess.sayMove(last.san)}.` : "";
    this.board.setAttribute("aria-label", `${boardName(state)}, ${this.flipped ? "Black" : "White"} at the bottom`);
    setText(this.words, chess.sayPosition(men) + says);
    setText(this.title, boardName(state));
    for (const colour of SIDES) setText(this.lines[colour].querySelector(".name"), playerName(state, colour));
    const { kind, text } = chess.sayStatus(state);
    this.element.dataset.kind = kind;
    setText(this.note, kind === "result" || kind === "away" || kind === "paused" ? text : "");
    this.note.hidden = this.note.textContent === "";
    if (this.moves > 0) this.drawMoves(state);
  }

  drawMoves(state) {
    const first = Math.max(0, state.plies.length - this.moves);
    const items = state.plies.slice(first).map((played, i) => {
      const ply = first + i + 1;
      const item = make("li", ply === state.plies.length ? "last" : "");
      const numbered = chess.colourOfPly(state, ply) === "white" || i === 0;
      if (numbered) item.append(make("span", "number", chess.moveNumber(state, ply)), " ");
      item.append(make("span", "san", played.san));
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** Draws the clocks as they stand at a time of this page. */
  drawClocks(state, now) {
    for (const colour of SIDES) {
      const line = this.lines[colour];
      const left = clockAt(state, colour, now);
      line.classList.toggle("running", runs(state, colour));
      line.classList.toggle("short", left !== null && left < 10_000);
      line.classList.toggle("stale", !state.connected);
      setText(line.querySelector(".time"), chess.formatClock(left, true));
    }
  }
}

function makeLine(colour) {
  const line = make("div", "player");
  line.dataset.colour = colour;
  const clock = make("span", "clock");
  clock.append(make("span", "hidden-text", `${colour === "white" ? "White" : "Black"}, clock: `), make("span", "time", "–:––"));
  line.append(make("span", "stone"), make("span", "name"), clock);
  return line;
}

/** The time for clocks: it stands while the connection is lost, so that nothing is shown that nobody knows. */
export class PageTime {
  constructor() {
    this.lostAt = null;
    // A short break is not worth a word.
    this.grace = 3000;
  }

  link(lives) {
    if (lives) this.lostAt = null;
    else this.lostAt ??= performance.now();
    this.show();
  }

  /** The time to show. */
  now() {
    const now = performance.now();
    this.show(now);
    return this.lostAt === null ? now : Math.min(now, this.lostAt + this.grace);
  }

  show(now = performance.now()) {
    const stale = this.lostAt !== null && now - this.lostAt >= this.grace;
    document.body.dataset.link = stale ? "lost" : "live";
  }
}

/**
 * Reads the query of the address. `known` names the parameters, each with a function that reads its text and gives
 * undefined for what it cannot take. What is wrong goes into `wrong`, for the person who sets the page up.
 */
export function readQuery(known) {
  const values = {};
  const wrong = [];
  for (const [name, text] of new URLSearchParams(location.search)) {
    const read = known[name];
    const value = read?.(text);
    if (!read) wrong.push(`There is no parameter “${name}”. There are: ${Object.keys(known).join(", ")}.`);
    else if (value === undefined) wrong.push(`“${name}” cannot be “${text}”.`);
    else values[name] = value;
  }
  return { values, wrong };
}

/** Readers of parameters. */
export const text = (value) => value || undefined;
export const flag = (value) => ({ "": true, 1: true, 0: false })[value];
export const word = (...words) => (value) => (words.includes(value) ? value : undefined);
export const number = (min, max) => (value) =>
  /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined;
export const list = (words) => (value) => {
  const items = value.split(",").filter(Boolean);
  return !words || items.every((item) => words.includes(item)) ? items : undefined;
};

/** Shows what is wrong with the address. */
export function showWrong(wrong) {
  const notes = document.getElementById("wrong");
  notes.replaceChildren(...wrong.map((words) => make("p", "", words)));
  notes.hidden = wrong.length === 0;
}
