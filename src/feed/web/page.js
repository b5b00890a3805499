// Draws boards into the page. What it draws is handed in: board states of the feed, and the view.

import * as chess from "/game.js";
import { boardName, clockAt, drawMan, known, make, playerName, runs, setText } from "/draw.js";

export { setText };

/** The element with an identifier. */
export const $ = (id) => document.getElementById(id);

/** Marks an element as the current one of its kind, or not. */
function setCurrent(element, kind, is) {
  if (is) element.setAttribute("aria-current", kind);
  else element.removeAttribute("aria-current");
}

/** The ply that is shown: the last one while the page follows the game. */
export const shownPly = (state, view) => view.ply ?? state.plies.length;

// ---- board ----------------------------------------------------------------------------------

const squares = new Map(
  chess.SQUARES.map((name, i) => {
    const square = make("div", (i + Math.floor(i / 8)) % 2 === 0 ? "light" : "dark");
    square.dataset.square = name;
    return [name, square];
  }),
);

/** Puts squares, coordinates and players where they belong for the side at the bottom. */
export function turnBoard(view) {
  const ordered = (all) => (view.flipped ? [...all].reverse() : [...all]);
  const labels = (all) => ordered(all).map((label) => make("span", "", label));
  $("board").replaceChildren(...ordered(chess.SQUARES).map((name) => squares.get(name)));
  document.querySelector(".ranks").replaceChildren(...labels("87654321"));
  document.querySelector(".files").replaceChildren(...labels("abcdefgh"));
  for (const seat of document.querySelectorAll(".player")) {
    const colour = (seat.dataset.seat === "top") === view.flipped ? "white" : "black";
    seat.dataset.colour = colour;
    const clock = make("span", "clock");
    const words = colour === "white" ? "White, clock: " : "Black, clock: ";
    clock.append(make("span", "hidden-text", words), make("span", "time", "–:––"));
    seat.replaceChildren(make("span", "stone"), make("span", "name"), clock);
  }
}

/** The men to show: what stands on the board while following, the position of the score otherwise. */
function menShown(state, view) {
  if (view.ply === null) return chess.parsePlacement(state.board || state.fen);
  return chess.positionAfter(state.start_fen, state.plies.slice(0, view.ply));
}

function drawBoard(state, view) {
  const men = menShown(state, view);
  const ply = shownPly(state, view);
  const [from, to] = chess.squaresOf(state.plies[ply - 1]?.uci);
  chess.SQUARES.forEach((name, i) => {
    const square = squares.get(name);
    drawMan(square, men[i]);
    square.classList.toggle("from", name === from);
    square.classList.toggle("to", name === to);
  });
  const board = $("board");
  board.classList.toggle("following", view.ply === null);
  board.setAttribute("aria-label", `Chess board, ${view.flipped ? "Black" : "White"} at the bottom`);
  const last = ply > 0 ? ` Last move: ${chess.moveNumber(state, ply)} ${chess.sayMove(state.plies[ply - 1].san)}.` : "";
  setText($("position"), chess.sayPosition(men) + last);
}

// ---- heading, status, moves -----------------------------------------------------------------

function drawHeading(state) {
  const { tags } = state;
  const event = known(tags.event);
  const round = known(tags.round) && `Round ${tags.round}`;
  const parts = [round, event && boardName(state), known(tags.site), state.chess960 && "Chess960"];
  setText($("title"), event || boardName(state));
  setText($("subtitle"), parts.filter(Boolean).join(" · "));
  const date = known(tags.date).replaceAll(".", "\u2011");
  setText($("details"), [chess.sayTimeControl(tags.time_control), date].filter(Boolean).join(" · "));
  document.title = `${playerName(state, "white")} – ${playerName(state, "black")}, ${boardName(state)}`;
  for (const seat of document.querySelectorAll(".player")) {
    setText(seat.querySelector(".name"), playerName(state, seat.dataset.colour));
  }
  $("pgn").href = `/api/boards/${encodeURIComponent(state.id)}/pgn`;
}

function drawStatus(state, view) {
  const status = chess.sayStatus(state);
  const { ply } = view;
  $("status").dataset.kind = ply === null ? status.kind : "past";
  if (ply === null) setText($("status"), status.text);
  else if (ply === 0) setText($("status"), "Start of the game");
  else setText($("status"), `Position after ${chess.moveNumber(state, ply)} ${state.plies[ply - 1].san}`);
  // Not `disabled`, which would take the keyboard focus away from the button.
  const atStart = String(shownPly(state, view) === 0);
  $("first").setAttribute("aria-disabled", atStart);
  $("back").setAttribute("aria-disabled", atStart);
  $("forward").setAttribute("aria-disabled", String(ply === null));
  $("live").setAttribute("aria-pressed", String(ply === null));
}

/** Puts the button of a ply at the end of the list. */
function appendPly(list, ply) {
  const half = Number(list.dataset.offset) + ply - 1;
  let row = list.children[Math.floor(half / 2)];
  if (!row) {
    row = make("li");
    row.append(make("span", "number"));
    if (half % 2 === 1) row.append(make("span", "gap", "…"));
    list.append(row);
  }
  const button = make("button");
  button.type = "button";
  button.dataset.ply = ply;
  button.append(make("span", "san"), make("span", "left"));
  row.append(button);
  return button;
}

function drawMoves(state, view) {
  const list = $("moves");
  const game = `${state.id} ${state.start_fen}`;
  if (list.dataset.game !== game) {
    list.replaceChildren();
    list.dataset.game = game;
    list.dataset.offset = chess.offset(state);
    delete list.dataset.place;
  }
  const buttons = [...list.querySelectorAll("button")];
  for (const button of buttons.splice(state.plies.length)) button.remove();
  while (list.lastElementChild && !list.lastElementChild.querySelector("button")) list.lastElementChild.remove();

  const shown = shownPly(state, view);
  state.plies.forEach((played, i) => {
    const ply = i + 1;
    const button = buttons[i] ?? appendPly(list, ply);
    const number = chess.moveNumber(state, ply);
    const left = played.clock_ms === null ? "" : chess.formatClock(played.clock_ms);
    setText(button.children[0], played.san);
    setText(button.children[1], left);
    setText(button.parentElement.firstElementChild, `${chess.fullMove(state, ply)}.`);
    const words = `${number} ${played.san}: ${chess.sayMove(played.san)}${left && `, ${left} left`}`;
    button.setAttribute("aria-label", words);
    setCurrent(button, "true", ply === shown);
    button.tabIndex = ply === Math.max(1, shown) ? 0 : -1; // one tab stop, arrow keys inside
  });
  $("no-moves").hidden = state.plies.length > 0;
  const place = `${shown} of ${state.plies.length}`;
  // A list that the visitor scrolled himself stays where it is until something happens.
  if (list.dataset.place !== place) keepInView(list.querySelector("[aria-current]"));
  list.dataset.place = place;
}

/** Scrolls the move list, and nothing else of the page, so that a move can be seen. */
function keepInView(button) {
  const box = $("scroll");
  if (!button) {
    box.scrollTop = 0;
    return;
  }
  const margin = 8;
  const row = button.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  if (row.bottom > frame.bottom - margin) box.scrollTop += row.bottom - frame.bottom + margin;
  else if (row.top < frame.top + margin) box.scrollTop -= frame.top - row.top + margin;
}

/** Draws everything of the chosen board but its clocks. */
export function drawGame(state, view) {
  $("game").hidden = !state;
  $("empty").hidden = Boolean(state);
  if (!state) return;
  drawHeading(state);
  drawStatus(state, view);
  drawBoard(state, view);
  drawMoves(state, view);
}

// ---- several boards -------------------------------------------------------------------------

/** One card for each board, where there is more than one. */
export function drawCards(boards, view) {
  const list = document.querySelector("#boards ul");
  $("boards").hidden = boards.size < 2;
  const ids = JSON.stringify([...boards.keys()]);
  if (list.dataset.ids !== ids) {
    list.dataset.ids = ids;
    list.replaceChildren(...[...boards.keys()].map(makeCard));
  }
  for (const state of boards.values()) drawCard(state, view);
}

function makeCard(id) {
  const link = make("a");
  link.href = `?board=${encodeURIComponent(id)}`;
  link.dataset.board = id;
  const head = make("span", "card-head");
  head.append(make("strong"), make("span", "card-move"));
  link.append(head);
  for (const colour of ["white", "black"]) {
    const line = make("span", "card-player");
    line.dataset.colour = colour;
    line.append(make("span", "stone"), make("span", "name"), make("span", "time"));
    link.append(line);
  }
  const item = make("li");
  item.append(link);
  return item;
}

function cardWord(state, kind) {
  if (kind === "result") return state.result === "*" ? "ended" : chess.sayStatus(state).text.split(",")[0];
  if (kind !== "playing") return { away: "not connected", paused: "paused", waiting: "waiting" }[kind];
  const last = state.plies.length;
  return last ? `${chess.moveNumber(state, last)} ${state.plies[last - 1].san}` : "in play";
}

/** Brings the card of a board up to date. */
export function drawCard(state, view) {
  const card = document.querySelector(`#boards a[data-board="${CSS.escape(state.id)}"]`);
  if (!card) return;
  setCurrent(card, "page", state.id === view.id);
  setText(card.querySelector("strong"), boardName(state));
  const { kind } = chess.sayStatus(state);
  const move = card.querySelector(".card-move");
  move.dataset.kind = kind;
  setText(move, cardWord(state, kind));
  for (const line of card.querySelectorAll(".card-player")) {
    setText(line.querySelector(".name"), playerName(state, line.dataset.colour));
  }
}

// ---- clocks ---------------------------------------------------------------------------------

/** Draws the clocks of the chosen board and of the cards as they stand at this moment. */
export function drawClocks(boards, view) {
  const state = boards.get(view.id);
  for (const seat of state ? document.querySelectorAll(".player") : []) {
    const { colour } = seat.dataset;
    const left = clockAt(state, colour);
    seat.classList.toggle("running", runs(state, colour));
    seat.classList.toggle("short", left !== null && left < 10_000);
    seat.classList.toggle("stale", !state.connected);
    setText(seat.querySelector(".time"), chess.formatClock(left, true));
  }
  if (boards.size < 2) return;
  for (const card of document.querySelectorAll("#boards a")) {
    const board = boards.get(card.dataset.board);
    for (const line of board ? card.querySelectorAll(".card-player") : []) {
      line.classList.toggle("running", runs(board, line.dataset.colour));
      setText(line.querySelector(".time"), chess.formatClock(clockAt(board, line.dataset.colour)));
    }
  }
}
