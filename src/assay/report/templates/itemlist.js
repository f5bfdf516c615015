"use strict";
// The list of items: filter, search, pages.
(() => {
  const PAGE = 25;
  const NAMES = { c: "right under all", w: "wrong under all", f: "fragile" };
  const { el, facts } = Assay;
  const field = (name) => document.getElementById(`filter-${name}`);
  let all = [];
  let found = [];
  let page = 0;

  const searchable = (item) =>
    [item.q, ...(item.o || []), item.s, item.n, item.i].join("\n").toLowerCase();

  function matches(item, filter) {
    if (filter.benchmark && item.b !== filter.benchmark) return false;
    const letters = filter.model === "" ? item.c : item.c[Number(filter.model)];
    if (filter.model !== "" && letters === "-") return false;
    if (filter.class && !letters.includes(filter.class)) return false;
    return !filter.text || item.searchable.includes(filter.text);
  }

  function apply() {
    const filter = {
      benchmark: field("benchmark").value,
      model: field("model").value,
      class: field("class").value,
      text: field("text").value.trim().toLowerCase(),
    };
    found = all.filter((item) => matches(item, filter));
    page = 0;
    show();
  }

  function glyphs(item) {
    const marks = [...item.c].map((letter, model) =>
      el("span", {
        class: letter === "-" ? "none" : `class class-${letter}`,
        title: `${facts.models[model]}: ${NAMES[letter] || "not asked"}`,
      }, letter === "-" ? "·" : ""));
    const spoken = [...item.c].map((letter, model) => `${facts.models[model]} ${NAMES[letter] || "not asked"}`);
    return el("span", { class: "glyphs", role: "img", "aria-label": spoken.join(", ") }, ...marks);
  }

  function row(item, index) {
    const question = item.q ?? `(text left out: ${facts.withheld[item.b]})`;
    const meta = [item.b, item.s === "all" ? null : item.s, item.n].filter(Boolean).join(" · ");
    const button = el("button", { type: "button", class: "item-row", "data-item": item.i },
      el("span", { class: "item-question" }, question), glyphs(item),
      el("span", { class: "item-meta" }, meta));
    button.addEventListener("click", () => Assay.openItem(found, index));
    return el("li", {}, button);
  }

  function show() {
    const start = page * PAGE;
    const rows = found.slice(start, start + PAGE);
    document.getElementById("item-rows").replaceChildren(
      ...rows.map((item, offset) => row(item, start + offset)));
    document.getElementById("item-count").textContent =
      `${found.length} of ${all.length} items`;
    document.getElementById("item-pager").hidden = found.length <= PAGE;
    document.getElementById("page-before").disabled = page === 0;
    document.getElementById("page-after").disabled = start + PAGE >= found.length;
    document.getElementById("page-place").textContent =
      `${start + 1}–${start + rows.length} of ${found.length}`;
  }

  function turn(step) {
    page += step;
    show();
    document.getElementById("item-count").scrollIntoView();
  }

  async function start() {
    if (!("DecompressionStream" in window)) {
      document.getElementById("item-count").textContent =
        "This browser is too old to read the items (it has no DecompressionStream).";
      return;
    }
    all = await Assay.itemList();
    for (const item of all) item.searchable = searchable(item);
    apply();
    const wanted = decodeURIComponent(location.hash).match(/^#item=(.+)$/);
    const index = wanted ? found.findIndex((item) => item.i === wanted[1]) : -1;
    if (index >= 0) Assay.openItem(found, index);
  }

  document.getElementById("item-filter").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("item-filter").addEventListener("input", apply);
  document.getElementById("page-before").addEventListener("click", () => turn(-1));
  document.getElementById("page-after").addEventListener("click", () => turn(1));
  start();
})();
