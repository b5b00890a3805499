// /overlay and /embed: one board, shown as the address of the page says.

import { follow } from "/feed.js";
import { boardName } from "/draw.js";
import { BoardView, PageTime, flag, list, number, readQuery, showWrong, text, word } from "/view.js";

const PARTS = ["board", "names", "clocks", "moves"];
const page = document.body.dataset.page;
const { values, wrong } = readQuery({
  board: text,
  show: list(PARTS),
  side: word("white", "black"),
  flip: flag,
  theme: page === "overlay" ? word("light", "dark") : word("light", "dark", "auto"),
  coords: flag,
  moves: number(1, 400),
  size: number(80, 4000),
});

const shown = new Set(values.show ?? (page === "overlay" ? ["board", "names", "clocks"] : PARTS));
if (values.moves) shown.add("moves");
const side = values.flip ? (values.side === "black" ? "white" : "black") : values.side;
const view = new BoardView({
  side,
  coords: values.coords ?? page === "embed",
  moves: shown.has("moves") ? (values.moves ?? (page === "overlay" ? 6 : 400)) : 0,
});
for (const part of PARTS) document.body.classList.toggle(`no-${part}`, !shown.has(part));
document.body.dataset.theme = values.theme ?? (page === "overlay" ? "dark" : "auto");
if (values.size) document.body.style.setProperty("--size", `${values.size}px`);
document.querySelector("main").append(view.element);
view.element.hidden = true;

const time = new PageTime();
let id = values.board;
let state = null;

const boards = follow({
  search: values.board ? `?board=${encodeURIComponent(values.board)}` : "",
  onSnapshot() {
    id ??= boards.keys().next().value;
    draw();
  },
  onEvent(changed) {
    if (changed.id === id) draw();
  },
  onLink: (lives) => time.link(lives),
});

function draw() {
  state = boards.get(id) ?? null;
  view.element.hidden = !state;
  showWrong(wrong);
  if (!state) return;
  document.title = `${boardName(state)}, live`;
  view.draw(state);
  view.drawClocks(state, time.now());
}

/** A board that is not there is told: the address of the feed answers that it knows none of this name. */
async function check() {
  const answer = await fetch("/api/boards", { cache: "no-store" });
  const ids = (await answer.json()).map((known) => known.id);
  if (id !== undefined && !ids.includes(id)) wrong.push(`There is no board “${id}”. There are: ${ids.join(", ") || "none yet"}.`);
  showWrong(wrong);
}

check().catch(() => {});
setInterval(() => state && view.drawClocks(state, time.now()), 100);
