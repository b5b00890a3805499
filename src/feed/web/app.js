// The live page: takes the feed of /events, keeps the boards and draws the chosen one.

import * as chess from "/game.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

/** Boards by identifier, each a board state of the feed plus what the page adds to it. */
const boards = new Map();
const query = new URLSearchParams(location.search);
/** What the visitor looks at. `ply` is null while the page follows the game. */
const view = { id: query.get("board"), ply: null, flipped: query.has("flip") };

const current = () => boards.get(view.id);

/** Makes an element with a class and text. */
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Changes the text of an element only where it differs, so that nothing is announced or drawn twice. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// ---- the feed -------------------------------------------------------------------------------

const feed = { source: null, fresh: true, retry: 0, late: 0, resynced: 0, hiddenAt: 0 };

function connect() {
  clearTimeout(feed.retry);
  feed.source?.close();
  feed.fresh = true;
  const source = new EventSource("/events");
  feed.source = source;
  source.onopen = () => {
    feed.fresh = true;
    showLink("live");
  };
  source.onerror = () => {
    showLink("reconnecting");
    // The browser tries again by itself, but not after an answer that is no event stream.
    if (source.readyState === EventSource.CLOSED) feed.retry = setTimeout(connect, 3000);
  };
  source.addEventListener("snapshot", (message) => takeSnapshot(JSON.parse(message.data)));
  for (const type of ["board", "move", "undo", "correct", "completed", "clock", "result", "status"]) {
    source.addEventListener(type, (message) => takeEvent(JSON.parse(message.data)));
  }
}

/** A new connection for a fresh snapshot, not more often than every two seconds. */
function resync() {
  const wait = feed.resynced + 2000 - performance.now();
  clearTimeout(feed.retry);
  feed.retry = setTimeout(() => {
    feed.resynced = performance.now();
    connect();
  }, Math.max(0, wait));
}

function showLink(state) {
  clearTimeout(feed.late);
  const words = { live: "Live", reconnecting: "Reconnecting…" };
  const show = () => {
    $("link").dataset.link = state;
    setText($("link"), words[state]);
  };
  // A short break is not worth a word.
  if (state === "live") show();
  else feed.late = setTimeout(show, 1500);
}

function takeSnapshot(snapshot) {
  const now = performance.now();
  if (feed.fresh) {
    const kept = new Set(snapshot.boards.map((b) => b.id));
    for (const id of boards.keys()) if (!kept.has(id)) boards.delete(id);
    feed.fresh = false;
  }
  for (const state of snapshot.boards) {
    const old = boards.get(state.id);
    const age = Number.isFinite(snapshot.now_us) && state.clock ? (snapshot.now_us - state.clock.at_us) / 1000 : 0;
    state.clockAt = now - Math.max(0, age);
    boards.set(state.id, state);
    if (old && state.id === view.id && old.start_fen !== state.start_fen) view.ply = null;
  }
  if (!boards.has(view.id)) {
    view.id = boards.keys().next().value ?? null;
    view.ply = null;
  }
  renderAll();
}

function takeEvent({ id, event }) {
  feed.fresh = false;
  const state = boards.get(id);
  if (!state || !chess.applyEvent(state, event)) {
    resync();
    return;
  }
  if (event.type === "clock") state.clockAt = performance.now();
  if (["move", "undo", "correct"].includes(event.type)) state.men = null;
  renderCard(state);
  if (id !== view.id) return;
  if (view.ply !== null && view.ply >= state.plies.length) view.ply = null;
  if (event.type !== "clock") renderGame();
  tick();
  announce(state, event);
}

/** Says what happened on the chosen board to those who do not see it. */
function announce(state, event) {
  const who = (ply) => (colourOfPly(state, ply) === "white" ? "White" : "Black");
  let words = "";
  if (event.type === "move") words = `${who(event.ply)}: ${chess.sayMove(event.san)}.`;
  else if (event.type === "undo") words = event.n === 1 ? "The last move was taken back." : `${event.n} moves were taken back.`;
  else if (event.type === "correct") words = `Correction of ${moveNumber(state, event.ply)}: ${chess.sayMove(event.san)}.`;
  else if (event.type === "result" || event.type === "status") words = `${chess.sayStatus(state).text}.`;
  if (words) $("announce").textContent = words;
}

// ---- plies ----------------------------------------------------------------------------------

/** Number of half moves before the first ply: 1 where Black begins. */
const offset = (state) => (chess.firstPly(state.start_fen).colour === "black" ? 1 : 0);
const colourOfPly = (state, ply) => ((ply - 1 + offset(state)) % 2 === 0 ? "white" : "black");
const fullMove = (state, ply) => chess.firstPly(state.start_fen).number + Math.floor((ply - 1 + offset(state)) / 2);
const moveNumber = (state, ply) => `${fullMove(state, ply)}${colourOfPly(state, ply) === "white" ? "." : "…"}`;

/** The men to show: what stands on the board while following, the reconstructed position otherwise. */
function menShown(state) {
  if (view.ply === null) return chess.parsePlacement(state.board || state.fen);
  state.men ??= chess.positions(state.start_fen, state.plies);
  return state.men[view.ply];
}

/** Goes to the position after `ply` (0 is the start); the last one is the live board. */
function show(ply) {
  const last = current()?.plies.length ?? 0;
  view.ply = ply >= last ? null : Math.max(0, ply);
  renderGame();
}

const shownPly = () => view.ply ?? current()?.plies.length ?? 0;

// ---- drawing --------------------------------------------------------------------------------

const squares = new Map();

function buildBoard() {
  chess.SQUARES.forEach((name, i) => {
    const square = make("div", (i + Math.floor(i / 8)) % 2 === 0 ? "light" : "dark");
    square.dataset.square = name;
    squares.set(name, square);
  });
}

function orient() {
  const order = view.flipped ? chess.SQUARES.slice().reverse() : chess.SQUARES;
  $("board").replaceChildren(...order.map((name) => squares.get(name)));
  const ranks = [8, 7, 6, 5, 4, 3, 2, 1];
  const files = [..."abcdefgh"];
  if (view.flipped) {
    ranks.reverse();
    files.reverse();
  }
  document.querySelector(".ranks").replaceChildren(...ranks.map((r) => make("span", "", r)));
  document.querySelector(".files").replaceChildren(...files.map((f) => make("span", "", f)));
  document.querySelectorAll(".player").forEach((seat) => {
    const top = seat.dataset.seat === "top";
    buildPlayer(seat, top === view.flipped ? "white" : "black");
  });
}

function buildPlayer(seat, colour) {
  seat.dataset.colour = colour;
  const clock = make("span", "clock");
  clock.append(make("span", "hidden-text"), make("span", "time", "–:––"));
  seat.replaceChildren(make("span", "stone"), make("span", "name"), clock);
}

function drawMan(square, man) {
  if ((square.dataset.man ?? "") === man) return;
  if (!man) {
    delete square.dataset.man;
    square.replaceChildren();
    return;
  }
  square.dataset.man = man;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `man ${chess.colourOf(man)}`);
  svg.setAttribute("viewBox", "0 0 100 100");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `/pieces.svg#${man.toLowerCase()}`);
  svg.append(use);
  square.replaceChildren(svg);
}

function renderBoard(state) {
  const men = menShown(state);
  chess.SQUARES.forEach((name, i) => drawMan(squares.get(name), men[i]));
  const ply = shownPly();
  const [from, to] = chess.squaresOf(state.plies[ply - 1]?.uci);
  for (const [name, square] of squares) {
    square.classList.toggle("from", name === from);
    square.classList.toggle("to", name === to);
  }
  $("board").setAttribute("aria-label", `Chess board, ${view.flipped ? "Black" : "White"} at the bottom`);
  const last = ply > 0 ? ` Last move: ${moveNumber(state, ply)} ${chess.sayMove(state.plies[ply - 1].san)}.` : "";
  setText($("position"), chess.sayPosition(men) + last);
}

function playerName(state, colour) {
  return state.tags[colour] || (colour === "white" ? "White" : "Black");
}

function boardName(state) {
  return `Board ${state.tags.board || state.id}`;
}

function renderHeading(state) {
  const { tags } = state;
  setText($("title"), tags.event || boardName(state));
  const round = tags.round && !/^[?-]$/.test(tags.round) ? `Round ${tags.round}` : "";
  const parts = [round, tags.event ? boardName(state) : "", tags.site, state.chess960 ? "Chess960" : ""];
  setText($("subtitle"), parts.filter(Boolean).join(" · "));
  setText($("details"), [chess.sayTimeControl(tags.time_control), tags.date].filter(Boolean).join(" · "));
  document.title = `${playerName(state, "white")} – ${playerName(state, "black")}, ${boardName(state).toLowerCase()}`;
  for (const seat of document.querySelectorAll(".player")) {
    const name = seat.querySelector(".name");
    setText(name, playerName(state, seat.dataset.colour));
    setText(seat.querySelector(".clock .hidden-text"), `Clock of ${seat.dataset.colour === "white" ? "White" : "Black"}: `);
  }
  $("pgn").href = `/api/boards/${encodeURIComponent(state.id)}/pgn`;
}

function renderStatus(state) {
  const status = chess.sayStatus(state);
  $("status").dataset.kind = view.ply === null ? status.kind : "past";
  if (view.ply === null) setText($("status"), status.text);
  else if (view.ply === 0) setText($("status"), "Start of the game");
  else setText($("status"), `Position after ${moveNumber(state, view.ply)} ${state.plies[view.ply - 1].san}`);
  const ply = shownPly();
  // Not `disabled`, which would take the keyboard focus away from the button.
  $("first").setAttribute("aria-disabled", String(ply === 0));
  $("back").setAttribute("aria-disabled", String(ply === 0));
  $("forward").setAttribute("aria-disabled", String(view.ply === null));
  $("live").setAttribute("aria-pressed", String(view.ply === null));
}

function plyButton(list, ply) {
  let button = list.querySelector(`button[data-ply="${ply}"]`);
  if (!button) {
    button = make("button");
    button.type = "button";
    button.dataset.ply = ply;
    button.append(make("span", "san"), make("span", "left"));
    const row = Number(list.dataset.offset) + ply - 1;
    let item = list.children[Math.floor(row / 2)];
    if (!item) {
      item = make("li");
      item.append(make("span", "number"));
      list.append(item);
    }
    if (ply === 1 && row === 1) item.append(make("span", "gap", "…"));
    item.append(button);
  }
  return button;
}

function renderMoves(state) {
  const list = $("moves");
  const key = `${state.id} ${state.start_fen}`;
  if (list.dataset.game !== key) {
    list.replaceChildren();
    list.dataset.game = key;
    list.dataset.offset = offset(state);
  }
  for (const button of list.querySelectorAll("button")) {
    if (Number(button.dataset.ply) > state.plies.length) button.remove();
  }
  while (list.lastElementChild && !list.lastElementChild.querySelector("button")) list.lastElementChild.remove();

  const shown = shownPly();
  state.plies.forEach((played, i) => {
    const ply = i + 1;
    const button = plyButton(list, ply);
    const left = played.clock_ms === null ? "" : chess.formatClock(played.clock_ms);
    setText(button.children[0], played.san);
    setText(button.children[1], left);
    button.setAttribute("aria-label", `${moveNumber(state, ply)} ${played.san}: ${chess.sayMove(played.san)}${left && `, ${left} left`}`);
    setText(button.parentElement.querySelector(".number"), `${fullMove(state, ply)}.`);
    if (ply === shown) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    button.tabIndex = ply === Math.max(1, shown) ? 0 : -1;
  });
  $("no-moves").hidden = state.plies.length > 0;
  keepInView(list.querySelector("[aria-current]"));
}

/** Scrolls the move list, and nothing else of the page, so that a move can be seen. */
function keepInView(button) {
  const box = $("scroll");
  if (!button) {
    box.scrollTop = 0;
    return;
  }
  const row = button.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  const margin = 8;
  if (row.bottom > frame.bottom - margin) box.scrollTop += row.bottom - frame.bottom + margin;
  else if (row.top < frame.top + margin) box.scrollTop -= frame.top - row.top + margin;
}

function renderGame() {
  const state = current();
  $("game").hidden = !state;
  $("empty").hidden = Boolean(state);
  if (!state) return;
  renderHeading(state);
  renderStatus(state);
  renderBoard(state);
  renderMoves(state);
}

// ---- several boards -------------------------------------------------------------------------

function renderCards() {
  const list = document.querySelector("#boards ul");
  $("boards").hidden = boards.size < 2;
  list.replaceChildren();
  for (const state of boards.values()) {
    const item = make("li");
    const link = make("a", "");
    link.href = `?board=${encodeURIComponent(state.id)}`;
    link.dataset.board = state.id;
    const head = make("span", "card-head");
    head.append(make("strong"), make("span", "card-move"));
    link.append(head);
    for (const colour of ["white", "black"]) {
      const line = make("span", "card-player");
      line.dataset.colour = colour;
      line.append(make("span", "stone"), make("span", "name"), make("span", "time"));
      link.append(line);
    }
    item.append(link);
    list.append(item);
    renderCard(state);
  }
}

function renderCard(state) {
  const card = document.querySelector(`#boards a[data-board="${CSS.escape(state.id)}"]`);
  if (!card) return;
  if (state.id === view.id) card.setAttribute("aria-current", "page");
  else card.removeAttribute("aria-current");
  setText(card.querySelector("strong"), boardName(state));
  const status = chess.sayStatus(state);
  const last = state.plies.length;
  const short = { away: "not connected", paused: "paused", waiting: "waiting" };
  let word = short[status.kind] ?? (last ? `${moveNumber(state, last)} ${state.plies[last - 1].san}` : "in play");
  if (status.kind === "result") word = state.result === "*" ? "ended" : status.text.split(",")[0];
  const move = card.querySelector(".card-move");
  setText(move, word);
  move.dataset.kind = status.kind;
  for (const line of card.querySelectorAll(".card-player")) {
    setText(line.querySelector(".name"), playerName(state, line.dataset.colour));
  }
}

function choose(id) {
  view.id = id;
  view.ply = null;
  for (const state of boards.values()) renderCard(state);
  renderGame();
  tick();
  $("scroll").scrollTop = $("scroll").scrollHeight;
  document.querySelector("#boards [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function rememberView(push) {
  const search = new URLSearchParams();
  if (view.id !== null && boards.size > 1) search.set("board", view.id);
  if (view.flipped) search.set("flip", "");
  const address = search.size ? `?${search}` : location.pathname;
  history[push ? "pushState" : "replaceState"](null, "", address);
}

// ---- the clocks -----------------------------------------------------------------------------

/** What a clock shows now: the last reading, counted down here while that side runs. */
function clockNow(state, colour) {
  const reading = state.clock?.[`${colour}_ms`];
  if (reading === null || reading === undefined) return null;
  return runs(state, colour) ? Math.max(0, reading - (performance.now() - state.clockAt)) : reading;
}

const runs = (state, colour) => state.clock?.running === colour && state.status !== "ended";

function tick() {
  const state = current();
  if (state) {
    for (const seat of document.querySelectorAll(".player")) {
      const { colour } = seat.dataset;
      const left = clockNow(state, colour);
      seat.classList.toggle("running", runs(state, colour));
      seat.classList.toggle("short", left !== null && left < 10_000);
      seat.classList.toggle("stale", !state.connected);
      setText(seat.querySelector(".time"), chess.formatClock(left, true));
    }
  }
  if (boards.size < 2) return;
  for (const card of document.querySelectorAll("#boards a")) {
    const board = boards.get(card.dataset.board);
    for (const line of card.querySelectorAll(".card-player")) {
      line.classList.toggle("running", runs(board, line.dataset.colour));
      setText(line.querySelector(".time"), chess.formatClock(clockNow(board, line.dataset.colour)));
    }
  }
}

function renderAll() {
  renderCards();
  renderGame();
  tick();
}

// ---- the visitor ----------------------------------------------------------------------------

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("#boards")) return;
  const inList = event.target.closest("#moves") !== null;
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  if (inList) Object.assign(steps, { ArrowUp: -2, ArrowDown: 2, Home: -Infinity, End: Infinity });
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  show(Math.max(inList ? 1 : 0, shownPly() + step));
  if (inList) document.querySelector("#moves [aria-current]")?.focus({ preventScroll: true });
}

function listen() {
  $("first").onclick = () => show(0);
  $("back").onclick = () => show(shownPly() - 1);
  $("forward").onclick = () => show(shownPly() + 1);
  $("live").onclick = () => show(Infinity);
  $("flip").onclick = () => {
    view.flipped = !view.flipped;
    orient();
    rememberView(false);
    renderGame();
    tick();
  };
  $("moves").onclick = (event) => {
    const button = event.target.closest("button");
    if (button) show(Number(button.dataset.ply));
  };
  $("boards").onclick = (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(link.dataset.board);
    rememberView(true);
  };
  addEventListener("popstate", () => {
    const id = new URLSearchParams(location.search).get("board");
    if (boards.size > 0) choose(boards.has(id) ? id : boards.keys().next().value);
  });
  addEventListener("keydown", onKey);
  // A phone that slept has missed what happened, and may not have noticed that the connection is gone.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) feed.hiddenAt = performance.now();
    else if (performance.now() - feed.hiddenAt > 20_000) connect();
  });
}

buildBoard();
orient();
listen();
connect();
setInterval(() => document.hidden || tick(), 100);
