"use strict";
// Sorting by column, and one choice of benchmark for tables and charts.
(() => {
  const key = (row, column) => {
    const cell = row.cells[column];
    const raw = cell.dataset.key ?? cell.textContent.trim();
    const number = Number(raw);
    return raw !== "" && Number.isFinite(number) ? number : raw.toLowerCase();
  };

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b));
  }

  function sort(button) {
    const heading = button.closest("th");
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const other = { ascending: "descending", descending: "ascending" };
    const direction = other[heading.getAttribute("aria-sort")] || button.dataset.first;
    for (const th of table.tHead.rows[0].cells) th.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => sign * compare(key(a, column), key(b, column)));
    body.append(...rows);
  }

  let scope = document.body.dataset.scope ?? "all";
  const allPairs = document.getElementById("all-pairs");

  function show() {
    for (const row of document.querySelectorAll("main [data-scope]:not(select)")) {
      const distant = row.dataset.adjacent === "no" && !allPairs.checked;
      row.hidden = row.dataset.scope !== scope || distant;
    }
  }

  function choose(value) {
    scope = value;
    for (const select of document.querySelectorAll("select[data-scope]")) select.value = value;
    show();
    document.dispatchEvent(new CustomEvent("scope", { detail: value }));
  }

  for (const button of document.querySelectorAll(".sort")) {
    button.addEventListener("click", () => sort(button));
  }
  for (const select of document.querySelectorAll("select[data-scope]")) {
    select.addEventListener("change", () => choose(select.value));
  }
  if (allPairs) allPairs.addEventListener("change", show);
})();
