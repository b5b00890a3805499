// /wall: every board of this daemon at once, for a screen in the hall.

import { follow } from "/feed.js";
import { known, setText } from "/draw.js";
import { BoardView, PageTime, list, number, readQuery, showWrong, word } from "/view.js";

/** A board is never drawn smaller than this; more of them are scrolled to. */
const SMALLEST = 110;
/** Height of the lines above and below a board, in shares of its width and at least so many pixels. */
const LINES = { share: 0.36, least: 62 };
const GAP = 10;

const { values, wrong } = readQuery({
  boards: list(),
  columns: number(1, 20),
  theme: word("light", "dark", "auto"),
});
document.body.dataset.theme = values.theme ?? "auto";

const time = new PageTime();
const views = new Map();
const wall = document.getElementById("wall");

// All boards are asked for, whichever are chosen: a feed that is asked for a board that there is not tells nothing.
const boards = follow({
  onSnapshot: drawAll,
  onEvent(state) {
    views.get(state.id)?.draw(state);
    views.get(state.id)?.drawClocks(state, time.now());
  },
  onLink: (lives) => time.link(lives),
});

/** The boards in the order of the address, or of the configuration. */
const chosen = () => (values.boards ?? [...boards.keys()]).filter((id) => boards.has(id));

/** What is wrong with the address, the boards that are not there with it. */
function complaints() {
  const there = [...boards.keys()].join(", ") || "none yet";
  const missing = (values.boards ?? []).filter((id) => !boards.has(id));
  return [...wrong, ...missing.map((id) => `There is no board “${id}”. There are: ${there}.`)];
}

function drawAll() {
  for (const id of [...views.keys()].filter((known) => !boards.has(known))) views.delete(id);
  for (const id of chosen()) if (!views.has(id)) views.set(id, new BoardView({ title: true }));
  wall.replaceChildren(...chosen().map((id) => views.get(id).element));
  for (const id of chosen()) views.get(id).draw(boards.get(id));
  drawHeading();
  showWrong(complaints());
  fit();
  drawClocks();
}

/** What all boards have in common. */
function drawHeading() {
  const states = chosen().map((id) => boards.get(id));
  const common = (tag) => {
    const all = new Set(states.map((state) => known(state.tags[tag])));
    return all.size === 1 ? [...all][0] : "";
  };
  const round = common("round");
  setText(document.getElementById("title"), [common("event") || "Live boards", round && `Round ${round}`].filter(Boolean).join(" · "));
  const empty = document.getElementById("empty");
  empty.hidden = boards.size > 0;
}

/** As many columns as make the boards largest. */
function fit() {
  const count = wall.children.length;
  if (count === 0) return;
  const width = wall.clientWidth;
  const height = innerHeight - wall.getBoundingClientRect().top - scrollY - GAP;
  const lines = (size) => Math.max(LINES.least, size * LINES.share);
  let best = { columns: 1, size: 0 };
  for (let columns = 1; columns <= Math.min(count, 20); columns++) {
    const rows = Math.ceil(count / columns);
    const wide = (width - (columns - 1) * GAP) / columns;
    const high = (height - (rows - 1) * GAP) / rows;
    const size = Math.min(wide, high - lines(high * 0.75), high / (1 + LINES.share));
    if (size > best.size) best = { columns, size };
  }
  const most = Math.max(1, Math.floor((width + GAP) / (SMALLEST + GAP)));
  const columns = values.columns ?? (best.size < SMALLEST ? Math.min(most, count) : best.columns);
  const wide = (width - (columns - 1) * GAP) / columns;
  const size = values.columns || best.size < SMALLEST ? wide : best.size;
  wall.style.setProperty("--columns", columns);
  document.documentElement.style.setProperty("--size", `${Math.floor(Math.min(wide, size))}px`);
}

function drawClocks() {
  const now = time.now();
  for (const [id, view] of views) if (boards.has(id)) view.drawClocks(boards.get(id), now);
}

showWrong(wrong);
addEventListener("resize", fit);
setInterval(() => document.hidden || drawClocks(), 250);
