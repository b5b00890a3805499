// The page of the arbiter: shows a board as it is, what he is called to, and enters his commands. The token
// stays in this tab. What the journal keeps without calling anybody is fetched when he opens it.

import { SQUARES, colourOf, formatClock, parsePlacement, squaresOf } from "/game.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const KEY = "touchmoved-arbiter";
/** Facts that a list shows. */
const SHOWN = 60;

const COMMANDS = [
  "confirm", "reject", "accept", "postpone", "pause", "run", "run SIDE", "resume", "restore", "restore PLY",
  "illegal-found-at-ply PLY", "correct PLY UCI", "set position FEN", "set clock SIDE MS", "restore-times",
  "send-clock", "send-clock run-white", "send-clock run-black",
  "result 1-0", "result 0-1", "result 1/2-1/2", "both-lose", "penalty warning SIDE", "penalty bonus SIDE MS",
  "penalty reduce SIDE MS", "penalty loss SIDE", "extra-time both MS", "flag-observed", "both-flags", "freeze",
  "white-arrived", "black-arrived", "late-check", "colours-reversed", "still-illegal-after-next-move",
  "five-seconds-on", "period-added", "seal-request", "seal-early MS", "open-envelope MOVE", "envelope-missing",
  "reply-sealed", "touch SIDE SQUARE", "dismiss-touches", "void",
];
const QUICK = ["confirm", "reject", "pause", "run", "restore", "freeze"];

let token = sessionStorage.getItem(KEY) ?? "";
let board = "";
let timer = 0;
const since = { calls: 0, record: 0 };

const squares = new Map(
  SQUARES.map((name, i) => {
    const square = document.createElement("div");
    square.className = (i + Math.floor(i / 8)) % 2 === 0 ? "light" : "dark";
    return [name, square];
  }),
);

// ---- asking ---------------------------------------------------------------------------------

/** Asks the daemon; the answer, or an error with its words. */
async function ask(path, body) {
  const headers = { Authorization: `Bearer ${token}` };
  const options = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  const response = await fetch(path, { ...options, cache: "no-store" });
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401 || response.status === 403 || response.status === 404) {
    throw Object.assign(new Error(answer.error ?? response.statusText), { denied: response.status !== 404 });
  }
  if (!response.ok && answer.accepted === undefined) throw new Error(answer.error ?? response.statusText);
  return answer;
}

const path = (rest) => `/api/boards/${encodeURIComponent(board)}/${rest}`;

// ---- drawing --------------------------------------------------------------------------------

function drawMan(square, man) {
  if ((square.dataset.man ?? "") === man) return;
  if (!man) {
    delete square.dataset.man;
    square.replaceChildren();
    return;
  }
  square.dataset.man = man;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `man ${colourOf(man)}`);
  svg.setAttribute("viewBox", "0 0 100 100");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `/pieces.svg#${man.toLowerCase()}`);
  svg.append(use);
  square.replaceChildren(svg);
}

function drawView(view) {
  const men = parsePlacement(view.board);
  const [from, to] = squaresOf(view.plies.at(-1)?.uci);
  SQUARES.forEach((name, i) => {
    const square = squares.get(name);
    drawMan(square, men[i]);
    square.classList.toggle("from", name === from);
    square.classList.toggle("to", name === to);
    square.classList.toggle("differs", view.differs.includes(name));
    square.title = name;
  });
  const running = view.running ? `, ${view.running} runs` : "";
  $("clocks").textContent = `White ${formatClock(view.white_ms)} – Black ${formatClock(view.black_ms)}${running}`;
  const last = view.plies.slice(-6).map((ply) => ply.san + (ply.completed ? "" : " (not completed)"));
  $("moves").textContent = last.length ? `Last moves: ${last.join(" ")}` : "No moves yet.";
  const words = [];
  if (view.candidates.length) words.push(`Several moves fit: ${view.candidates.join(", ")}`);
  if (view.attempt) words.push(`It looks like ${view.attempt}, which is not legal`);
  if (view.differs.length) words.push(`The board differs on ${view.differs.join(", ")}`);
  $("binding").textContent = words.join(". ");
  $("fen").textContent = view.fen;
  const states = [view.state.replaceAll("_", " ")];
  if (view.paused) states.push("clocks stopped");
  if (view.embargo) states.push("EMBARGO: nothing newer leaves");
  if (view.result !== "*") states.push(`result ${view.result}`);
  const text = states.join(" · ");
  if ($("state").textContent !== text) $("state").textContent = text;
}

/** `h:mm:ss` of a fact's time in the record. */
function timeOf(us) {
  const s = Math.floor(us / 1_000_000);
  const two = (n) => String(n).padStart(2, "0");
  return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

function drawFact(list, fact) {
  if (!fact.text) return;
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.textContent = timeOf(fact.us);
  const text = document.createElement("span");
  text.textContent = fact.text;
  item.append(time, text);
  list.prepend(item);
  while (list.children.length > SHOWN) list.lastChild.remove();
}

const OF_THE_TURN = new Set(["touch", "put_back", "adjust", "obligation", "move_made", "move_withdrawn"]);
const isOfTheTurn = (fact) => OF_THE_TURN.has(fact.fact) || (fact.fact === "advisory" && /touch|released|castle/.test(fact.code));

// ---- following ------------------------------------------------------------------------------

async function fetchFacts(kind, query, take) {
  let page;
  do {
    page = await ask(path(`journal?since=${since[kind]}${query}`));
    page.facts.forEach(take);
    since[kind] = page.next;
  } while (page.more);
}

async function look() {
  clearTimeout(timer);
  const at = board;
  try {
    const view = await ask(path("arbiter"));
    if (at !== board) return;
    drawView(view);
    await fetchFacts("calls", "&to=arbiter", (fact) => drawFact($("calls"), fact));
    $("no-calls").hidden = $("calls").children.length > 0;
    if ($("turn").open || $("all").open) {
      await fetchFacts("record", "", (fact) => {
        drawFact($("record"), fact);
        if (isOfTheTurn(fact)) drawFact($("touches"), fact);
      });
    }
  } catch (error) {
    if (error.denied) return leave(error.message);
    $("state").textContent = `Not connected: ${error.message}`;
  }
  timer = setTimeout(look, document.hidden ? 5000 : 1000);
}

async function say(words) {
  $("led").replaceChildren();
  try {
    const answer = await ask(path("arbiter"), { command: words });
    $("answer").toggleAttribute("data-refused", !answer.accepted);
    $("answer").textContent = answer.accepted ? `Entered: ${words}` : `Not carried out: ${answer.reason}`;
    answer.facts.forEach((fact) => drawFact($("led"), fact));
    if (answer.accepted) $("words").value = "";
  } catch (error) {
    if (error.denied) return leave(error.message);
    $("answer").toggleAttribute("data-refused", true);
    $("answer").textContent = error.message;
  }
  look();
}

function choose(id) {
  board = id;
  since.calls = 0;
  since.record = 0;
  for (const list of ["calls", "record", "touches", "led"]) $(list).replaceChildren();
  $("answer").textContent = "";
  look();
}

async function enter() {
  const states = await (await fetch("/api/boards", { cache: "no-store" })).json();
  board = new URLSearchParams(location.search).get("board") ?? states[0]?.id ?? "";
  await ask(path("arbiter"));
  sessionStorage.setItem(KEY, token);
  $("choice").replaceChildren(...states.map(({ id, tags }) => {
    const names = tags.white && tags.black ? `: ${tags.white} – ${tags.black}` : "";
    return new Option(`Board ${id}${names}`, id, false, id === board);
  }));
  $("login").hidden = true;
  $("leave").hidden = false;
  $("desk").hidden = false;
  choose(board);
}

function leave(why = "") {
  clearTimeout(timer);
  token = "";
  sessionStorage.removeItem(KEY);
  $("token").value = "";
  $("login").hidden = false;
  $("leave").hidden = true;
  $("desk").hidden = true;
  $("login-problem").textContent = why;
}

async function tryToEnter() {
  try {
    await enter();
  } catch (error) {
    leave(error.message);
  }
}

$("board").replaceChildren(...SQUARES.map((name) => squares.get(name)));
$("known").replaceChildren(...COMMANDS.map((words) => new Option(words, words)));
$("quick").replaceChildren(...QUICK.map((words) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "act";
  button.textContent = words;
  button.onclick = () => {
    // Entered by hand: a slip of the finger is no ruling.
    $("words").value = words;
    $("words").focus();
  };
  return button;
}));
$("login").onsubmit = (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  tryToEnter();
};
$("command").onsubmit = (event) => {
  event.preventDefault();
  say($("words").value.trim());
};
$("choice").onchange = () => choose($("choice").value);
$("leave").onclick = () => leave();
$("turn").ontoggle = look;
$("all").ontoggle = look;
if (token) tryToEnter();
