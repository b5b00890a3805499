// The live page: takes the feed of /events, keeps the boards, and shows the one that was chosen.

import { follow } from "/feed.js";
import { sayEvent } from "/game.js";
import { $, drawCard, drawCards, drawClocks, drawGame, setText, shownPly, turnBoard } from "/page.js";

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

let late = 0;

function showLink(lives) {
  clearTimeout(late);
  const change = () => {
    $("link").dataset.link = lives ? "live" : "reconnecting";
    setText($("link"), lives ? "Live" : "Reconnecting…");
  };
  // A short break is not worth a word.
  if (lives) change();
  else late = setTimeout(change, 1500);
}

function takeSnapshot(states, before) {
  const old = before.get(view.id);
  if (!states.has(view.id)) view.id = states.keys().next().value ?? null;
  if (!sameSoFar(old, current(), view.ply)) view.ply = null;
  drawAll();
}

/** True when two states of a board agree up to a ply, so that a visitor may stay where he is. */
function sameSoFar(before, now, ply) {
  if (!before || !now || before.id !== now.id || before.start_fen !== now.start_fen) return false;
  if (ply >= now.plies.length) return false;
  return now.plies.slice(0, ply).every((played, i) => played.uci === before.plies[i]?.uci);
}

function takeEvent(state, event) {
  drawCard(state, view);
  if (state.id === view.id) {
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
}

/** The board states of the feed, by identifier. */
const boards = follow({ onSnapshot: takeSnapshot, onEvent: takeEvent, onLink: showLink });

turnBoard(view);
listen();
setInterval(() => document.hidden || drawClocks(boards, view), 100);
