// The feed of /events: board states, kept up to date, and whether the connection lives.

import { applyEvent } from "/game.js";

const EVENTS = ["board", "move", "undo", "correct", "completed", "clock", "setup", "result", "status"];
/** The daemon is asked whether it is there at this interval: a connection can die without a sign. */
const ASK = 5000;

/** Since when a clock that read so runs down, in the time of this page: the daemon says what time it is there. */
function timeOfReading(nowUs, clock) {
  const age = (nowUs - clock.at_us) / 1000;
  return performance.now() - (age > 0 ? age : 0) + (clock.delay_ms ?? 0);
}

/**
 * Follows the boards. `onSnapshot(boards, before)` comes with everything, `onEvent(state, event)` with each change,
 * `onLink(true | false)` when the connection is made and when it is lost. `search` is the query of /events.
 * `boards` holds the states by identifier; `clockAt` is added to each: when its clock read so.
 */
export function follow({ search = "", onSnapshot, onEvent, onLink }) {
  const boards = new Map();
  let source = null;
  let retry = 0;
  let resynced = -Infinity;
  let hiddenAt = 0;

  function connect() {
    clearTimeout(retry);
    source?.close();
    const mine = new EventSource(`/events${search}`);
    source = mine;
    mine.onopen = () => onLink(true);
    mine.onerror = () => {
      onLink(false);
      // The browser tries again by itself, but not after an answer that is no event stream.
      if (mine.readyState === EventSource.CLOSED) retry = setTimeout(connect, 3000);
    };
    mine.addEventListener("snapshot", (message) => takeSnapshot(JSON.parse(message.data)));
    for (const type of EVENTS) mine.addEventListener(type, (message) => takeEvent(JSON.parse(message.data)));
  }

  /** The state of every board; what was known before does not count any more. */
  function takeSnapshot(states) {
    const before = new Map(boards);
    boards.clear();
    for (const state of states) {
      if (state.clock) state.clockAt = timeOfReading(state.now_us, state.clock);
      boards.set(state.id, state);
    }
    onSnapshot(boards, before);
  }

  function takeEvent(event) {
    const state = boards.get(event.board);
    if (!state || !applyEvent(state, event)) {
      resync();
      return;
    }
    if (event.type === "clock") state.clockAt = timeOfReading(event.now_us, event);
    onEvent(state, event);
  }

  /** Asks for a snapshot with a new connection, not more often than every two seconds. */
  function resync() {
    clearTimeout(retry);
    const wait = resynced + 2000 - performance.now();
    retry = setTimeout(() => {
      resynced = performance.now();
      connect();
    }, Math.max(0, wait));
  }

  /** Is the daemon there? A cable that was pulled ends no connection. */
  async function ask() {
    if (document.hidden || source.readyState !== EventSource.OPEN) return;
    try {
      await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(ASK - 500) });
    } catch {
      onLink(false);
      connect();
    }
  }

  // A device that changed its network does not notice that the old connection is dead.
  addEventListener("online", connect);
  // A phone that slept has missed what happened, and may not have noticed that the link is gone.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = performance.now();
    else if (performance.now() - hiddenAt > 20_000) connect();
  });
  connect();
  setInterval(ask, ASK);
  return boards;
}
