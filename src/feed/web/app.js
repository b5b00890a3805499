// The live page: takes the feed of /events, keeps the boards, and shows the one that was chosen.

import { applyEvent, sayEvent } from "/game.js";
import { $, drawCard, drawCards, drawClocks, drawGame, setText, shownPly, turnBoard } from "/page.js";

/** Boards by identifier: the board states of the feed. `clockAt` is added: when its clock read so. */
const boards = new Map();
const query = new URLSearchParams(location.search);
/** What the visitor looks at. `ply` is null while the page follows the game, 0 is the start. */
const view = { id: query.get("board"), ply: null, flipped: query.has("flip") };

const current = () => boards.get(view.id);

function drawAll() {
  drawCards(boards, view);
  drawGame(current(), view);
  drawClocks(boards, view);
}

// ---- the feed -------------------------------------------------------------------------------

const feed = { source: null, retry: 0, late: 0, resynced: -Infinity, hiddenAt: 0 };
const EVENTS = ["board", "move", "undo", "correct", "completed", "clock", "setup", "result", "status"];

function connect() {
  clearTimeout(feed.retry);
  feed.source?.close();
  const source = new EventSource("/events");
  feed.source = source;
  source.onopen = () => showLink("live", "Live");
  source.onerror = () => {
    showLink("reconnecting", "Reconnecting…");
    // The browser tries again by itself, but not after an answer that is no event stream.
    if (source.readyState === EventSource.CLOSED) feed.retry = setTimeout(connect, 3000);
  };
  source.addEventListener("snapshot", (message) => takeSnapshot(JSON.parse(message.data)));
  for (const type of EVENTS) source.addEventListener(type, (message) => takeEvent(JSON.parse(message.data)));
}

/** Asks for a snapshot with a new connection, not more often than every two seconds. */
function resync() {
  clearTimeout(feed.retry);
  const wait = feed.resynced + 2000 - performance.now();
  feed.retry = setTimeout(() => {
    feed.resynced = performance.now();
    connect();
  }, Math.max(0, wait));
}

function showLink(state, words) {
  clearTimeout(feed.late);
  const change = () => {
    $("link").dataset.link = state;
    setText($("link"), words);
  };
  // A short break is not worth a word.
  if (state === "live") change();
  else feed.late = setTimeout(change, 1500);
}

/** The state of every board; what was known before does not count any more. */
function takeSnapshot(states) {
  const before = current();
  boards.clear();
  for (const state of states) {
    if (state.clock) state.clockAt = timeOfReading(state.now_us, state.clock);
    boards.set(state.id, state);
  }
  if (!boards.has(view.id)) view.id = boards.keys().next().value ?? null;
  if (!sameSoFar(before, current(), view.ply)) view.ply = null;
  drawAll();
}

/** Since when a clock that read so runs down, in the time of this page: the daemon says what time it is there. */
function timeOfReading(nowUs, clock) {
  const age = (nowUs - clock.at_us) / 1000;
  return performance.now() - (age > 0 ? age : 0) + (clock.delay_ms ?? 0);
}

/** True when two states of a board agree up to a ply, so that a visitor may stay where he is. */
function sameSoFar(before, now, ply) {
  if (!before || !now || before.id !== now.id || before.start_fen !== now.start_fen) return false;
  if (ply >= now.plies.length) return false;
  return now.plies.slice(0, ply).every((played, i) => played.uci === before.plies[i]?.uci);
}

function takeEvent(event) {
  const id = event.board;
  const state = boards.get(id);
  if (!state || !applyEvent(state, event)) {
    resync();
    return;
  }
  if (event.type === "clock") state.clockAt = timeOfReading(event.now_us, event);
  drawCard(state, view);
  if (id === view.id) {
    if (view.ply >= state.plies.length) view.ply = null;
    if (event.type !== "clock") drawGame(state, view);
    const words = sayEvent(state, event);
    if (words) $("announce").textContent = words;
  }
  drawClocks(boards, view);
}

// ---- the visitor ----------------------------------------------------------------------------

/** Goes to the position after `ply`; the last one is the live board. */
function show(ply) {
  const state = current();
  if (!state) return;
  view.ply = ply >= state.plies.length ? null : Math.max(0, ply);
  drawGame(state, view);
}

function step(by) {
  const state = current();
  if (state) show(shownPly(state, view) + by);
}

function choose(id) {
  view.id = id;
  view.ply = null;
  drawAll();
  document.querySelector("#boards [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function rememberView(remember) {
  const search = new URLSearchParams();
  if (boards.size > 1) search.set("board", view.id);
  if (view.flipped) search.set("flip", "1");
  history[remember](null, "", search.toString() ? `?${search}` : location.pathname);
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("#boards")) return;
  const inList = target.closest("#moves") !== null;
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  if (inList) Object.assign(steps, { ArrowUp: -2, ArrowDown: 2, Home: -Infinity, End: Infinity });
  const by = steps[event.key];
  const state = current();
  if (by === undefined || !state) return;
  event.preventDefault();
  show(Math.max(inList ? 1 : 0, shownPly(state, view) + by));
  if (inList) document.querySelector("#moves [aria-current]")?.focus({ preventScroll: true });
}

function flip() {
  view.flipped = !view.flipped;
  turnBoard(view);
  rememberView("replaceState");
  drawGame(current(), view);
  drawClocks(boards, view);
}

function onBoardLink(event) {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link.dataset.board);
  rememberView("pushState");
  document.querySelector("#boards [aria-current]")?.focus({ preventScroll: true });
}

function listen() {
  $("first").onclick = () => show(0);
  $("back").onclick = () => step(-1);
  $("forward").onclick = () => step(1);
  $("live").onclick = () => show(Infinity);
  $("flip").onclick = flip;
  $("boards").onclick = onBoardLink;
  $("moves").onclick = (event) => {
    const button = event.target.closest("button");
    if (button) show(Number(button.dataset.ply));
  };
  addEventListener("keydown", onKey);
  addEventListener("popstate", () => {
    const id = new URLSearchParams(location.search).get("board");
    if (boards.size > 0) choose(boards.has(id) ? id : boards.keys().next().value);
  });
  // A device that changed its network does not notice that the old connection is dead.
  addEventListener("online", connect);
  // A phone that slept has missed what happened, and may not have noticed that the link is gone.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) feed.hiddenAt = performance.now();
    else if (performance.now() - feed.hiddenAt > 20_000) connect();
  });
}

turnBoard(view);
listen();
connect();
setInterval(() => document.hidden || drawClocks(boards, view), 100);
