// The chess clock beside the board: it shows what the daemon tells and decides nothing. In between it counts
// down by itself, and each message puts it right.

/** Without a message for so many milliseconds there is no connection: one comes every two seconds. */
const SILENCE = 6000;

const query = new URLSearchParams(location.search);
const $ = (id) => document.getElementById(id);
const sides = { white: null, black: null };
for (const section of document.querySelectorAll(".side")) sides[section.dataset.side] = section;

/** What was told last, and when, by the clock of this page. */
let told = null;
let heard = performance.now();

/** Puts the side that `?left=` names on the left, or above in an upright window. */
function arrange() {
  const left = query.get("left") === "black" ? "black" : "white";
  $("clock").prepend(sides[left]);
}

/** Milliseconds left for a side now. */
function left(side) {
  const ms = told[`${side}_ms`];
  if (ms === null || told.running !== side) return ms;
  const passed = (told.now_us - told.at_us) / 1000 + (performance.now() - heard);
  return Math.max(0, ms - Math.max(0, passed - told.delay_ms));
}

/** The time as a clock shows it: a second that has begun counts whole, tenths at the end. */
function format(ms) {
  if (ms === null) return "–:––";
  const two = (n) => String(n).padStart(2, "0");
  if (ms > 0 && ms < 9900) return (Math.ceil(ms / 100) / 10).toFixed(1);
  const seconds = Math.ceil(ms / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function draw() {
  if (!told) return;
  for (const [side, section] of Object.entries(sides)) {
    const text = format(left(side));
    const time = section.querySelector(".time");
    if (time.textContent !== text) {
      time.textContent = text;
      // The size stays while the digits change.
      section.style.setProperty("--signs", Math.max(4.5, text.length));
    }
    section.classList.toggle("running", told.running === side);
    section.classList.toggle("fallen", told[`${side}_flag`]);
  }
  const stale = performance.now() - heard > SILENCE;
  document.body.classList.toggle("stale", stale);
  note(stale ? "No connection to the clock" : "");
}

function note(text) {
  if ($("note").textContent !== text) $("note").textContent = text;
  $("note").hidden = text === "";
}

function follow(board) {
  const stream = new EventSource(`/api/clocks/${encodeURIComponent(board)}/events`);
  stream.addEventListener("clock", (message) => {
    told = JSON.parse(message.data);
    heard = performance.now();
    $("clock").hidden = false;
    draw();
  });
  setInterval(draw, 50);
}

/** Keeps the screen on, where the browser lets a page do that. */
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // Then it has to be set on the device.
  }
}

async function begin() {
  const wanted = query.get("board");
  if (wanted) return follow(wanted);
  try {
    const clocks = await (await fetch("/api/clocks")).json();
    if (clocks.length === 1) return follow(clocks[0].board);
    note(clocks.length === 0 ? "There is no board" : "Which board?");
    $("boards").hidden = false;
    for (const { board } of clocks) {
      const link = document.createElement("a");
      const search = new URLSearchParams(query);
      search.set("board", board);
      link.href = `/clock?${search}`;
      link.textContent = `Board ${board}`;
      const item = document.createElement("li");
      item.append(link);
      $("boards").append(item);
    }
  } catch {
    note("No connection to the clock");
    setTimeout(begin, 2000);
  }
}

arrange();
begin();
stayAwake();
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && stayAwake());
