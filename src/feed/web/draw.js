// What every page draws: elements, men, clocks. Nothing of one page.

import { colourOf } from "/game.js";

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element with a class and text. */
export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Changes the text of an element only where it differs, so that nothing is read out twice. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Puts a man, a letter of a FEN, on a square; "" takes it away. */
export function drawMan(square, man) {
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
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `/pieces.svg#${man.toLowerCase()}`);
  svg.append(use);
  square.replaceChildren(svg);
}

/** The name of a player, or the colour where none is known. */
export const playerName = (state, colour) => state.tags[colour] || (colour === "white" ? "White" : "Black");

/** The name of a board. */
export const boardName = (state) => `Board ${state.tags.board || state.id}`;

/** A tag that says something: PGN has ?, - and ???? for what is not known. */
export const known = (tag) => (tag && !/^[?.-]+$/.test(tag) ? tag : "");

/** True while the clock of a side runs down. */
export const runs = (state, colour) => state.clock?.running === colour && state.status !== "ended";

/** What a clock shows at a time of this page: the last reading, counted down here while that side runs. */
export function clockAt(state, colour, now = performance.now()) {
  const reading = state.clock?.[`${colour}_ms`] ?? null;
  if (reading === null || !runs(state, colour)) return reading;
  return Math.max(0, reading - Math.max(0, now - state.clockAt));
}
