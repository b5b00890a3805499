"use strict";
// Lists the boards with their positions and last moves, and follows them.
const list = document.getElementById("boards");
async function show() {
  const boards = await (await fetch("api/boards")).json();
  list.replaceChildren(...boards.map((board) => {
    const item = document.createElement("li");
    const moves = board.plies.map((ply) => ply.san).join(" ");
    item.textContent = `${board.id}: ${board.board} ${moves} ${board.result}`;
    return item;
  }));
}
const source = new EventSource("events");
for (const name of ["snapshot", "board", "move", "undo", "correct", "completed", "clock", "result", "status"]) {
  source.addEventListener(name, show);
}
