"use strict";
// One item: question, options, an overview of all answers, then every prompt and answer.
(() => {
  const { el, facts } = Assay;
  const dialog = document.getElementById("item-dialog");
  const body = document.getElementById("item-body");
  let list = [];
  let place = 0;

  const letter = (index) => String.fromCharCode(65 + index);

  function optionText(item, index) {
    return item.o ? `${letter(index)}. ${item.o[index]}` : `option ${letter(index)}`;
  }

  function family(key) {
    const [scoring, format] = key.split("|");
    return scoring === "ll" && format.startsWith("cloze") ? "cloze" : format.replaceAll("_", " ");
  }

  function outcome(seen) {
    if (!seen || seen.correct === undefined) return ["none", "–", seen ? seen.status : "not asked"];
    return seen.correct ? ["right", "✓", "right"] : ["wrong", "✗", "wrong"];
  }

  function options(item, detail) {
    const rows = Array.from({ length: detail.size }, (_, index) =>
      el("li", { class: detail.accepts.includes(index) ? "gold" : null },
        el("span", {}, `${letter(index)}.`),
        el("span", {}, item.o ? item.o[index] : "(text left out)")));
    return el("ul", { class: "options" }, ...rows);
  }

  function matrix(detail) {
    const keys = facts.configurations;
    const starts = keys.map((key, index) => index > 0 && family(key) !== family(keys[index - 1]));
    const spans = [];
    keys.forEach((key, index) => {
      if (index === 0 || starts[index]) spans.push([family(key), 0]);
      spans[spans.length - 1][1] += 1;
    });
    const head = el("tr", {}, el("td", {}),
      ...spans.map(([name, count]) => el("th", { scope: "colgroup", colspan: count }, name)));
    const rows = Object.entries(detail.models).map(([model, seen]) =>
      el("tr", {}, el("th", { scope: "row" }, facts.models[model]),
        ...seen.map((one, index) => {
          const [kind, sign, word] = outcome(one);
          const button = el("button", {
            type: "button", class: `cell ${kind}`, title: `${keys[index]}: ${word}`,
            "aria-label": `${facts.models[model]}, ${keys[index]}: ${word}`,
          }, sign);
          button.addEventListener("click", () => reveal(model, index));
          return el("td", { class: starts[index] ? "starts" : null }, button);
        })));
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All outcomes" },
      el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  function reveal(model, index) {
    const answer = document.getElementById(`answer-${model}-${index}`);
    answer.closest("details").open = true;
    for (const old of body.querySelectorAll(".found")) old.classList.remove("found");
    answer.classList.add("found");
    answer.scrollIntoView({ block: "center" });
  }

  // Offsets count characters, as Python does, not UTF-16 units.
  function said(seen) {
    const letters = Array.from(seen.text);
    if (!seen.span) return el("p", { class: "said" }, seen.text === "" ? "(empty)" : seen.text);
    const [start, end] = seen.span;
    return el("p", { class: "said" }, letters.slice(0, start).join(""),
      el("mark", {}, letters.slice(start, end).join("")), letters.slice(end).join(""));
  }

  const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));

  function scores(item, detail, seen) {
    const head = ["Option", "sum", "per token", "per byte"];
    const rows = Array.from({ length: detail.size }, (_, index) =>
      el("tr", {}, el("th", { scope: "row" }, optionText(item, index)),
        ...["sum", "token", "byte"].map((name) =>
          el("td", { class: "number" }, shown(seen.scores[name][index])))));
    return el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((name, index) =>
        el("th", { scope: "col", class: index ? "number" : null }, name)))),
      el("tbody", {}, ...rows)));
  }

  function facts_of(seen) {
    const tied = seen.tied && seen.tied.length > 1 ? `tied: ${seen.tied.map(letter).join(", ")}` : null;
    return [
      seen.status === "ok" ? null : `status ${seen.status}`,
      seen.rule ? `rule ${seen.rule}` : null,
      seen.finish === "length" ? "stopped at the token limit" : null,
      seen.margin === undefined ? null : `margin ${shown(seen.margin)}`,
      tied,
      seen.prompt_tokens === undefined ? null : `${seen.prompt_tokens} prompt tokens`,
      seen.new_tokens ? `${seen.new_tokens} new` : null,
      ...(seen.flags || []),
      seen.detail,
    ].filter(Boolean).join(" · ");
  }

  function answer(item, detail, model, seen, index) {
    const [kind, sign, word] = outcome(seen);
    const head = el("div", {}, el("code", {}, facts.configurations[index]), el("br"),
      el("span", { class: kind }, `${sign} ${word}`));
    const parts = [];
    if (seen) {
      if (seen.text !== undefined) parts.push(said(seen));
      if (seen.scores) parts.push(scores(item, detail, seen));
      if (seen.choice !== undefined) {
        const how = seen.scores ? "highest per token" : "read as";
        parts.push(el("div", {}, `${how}: ${optionText(item, seen.choice)}`));
      }
      const line = facts_of(seen);
      if (line) parts.push(el("div", { class: "quiet" }, line));
      if (seen.prompt !== undefined) {
        parts.push(el("details", { class: "prompt" }, el("summary", {}, "Prompt"),
          el("pre", {}, detail.prompts[seen.prompt])));
      }
    }
    return el("div", { class: "answer", id: `answer-${model}-${index}` }, head,
      el("div", { class: "answer-body" }, ...parts));
  }

  function answers(item, detail, model, seen) {
    const counted = seen.filter((one) => one && one.correct !== undefined);
    const right = counted.filter((one) => one.correct).length;
    const summary = el("summary", {},
      `${facts.models[model]}: right under ${right} of ${counted.length} configurations`);
    return el("details", { class: "answers" }, summary,
      ...seen.map((one, index) => answer(item, detail, model, one, index)));
  }

  function allPrompts() {
    const button = el("button", { type: "button" }, "Open every answer and prompt");
    button.addEventListener("click", () => {
      for (const part of body.querySelectorAll("details")) part.open = true;
    });
    return el("p", { class: "pager" }, button);
  }

  function render(item, detail) {
    const meta = [item.b, item.s === "all" ? null : item.s, item.n, item.i, detail.locked ? "locked to its own order" : null,
      ...(detail.flags || [])].filter(Boolean).join(" · ");
    const models = Object.entries(detail.models);
    const blocks = models.map(([model, seen]) => answers(item, detail, model, seen));
    if (blocks.length) blocks[0].open = true;
    body.replaceChildren(
      el("p", { class: "item-meta" }, meta),
      el("h3", { id: "item-title" }, item.q ?? `(text left out: ${facts.withheld[item.b]})`),
      options(item, detail), el("h4", {}, "Outcome under every configuration"), matrix(detail),
      el("h4", {}, "Prompts and answers"), allPrompts(), ...blocks);
    body.scrollTop = 0;
  }

  async function open() {
    const item = list[place];
    document.getElementById("item-before").disabled = place === 0;
    document.getElementById("item-after").disabled = place === list.length - 1;
    body.replaceChildren(el("p", { id: "item-title", class: "quiet" }, "Reading …"));
    if (!dialog.open) dialog.showModal();
    history.replaceState(null, "", `#item=${encodeURIComponent(item.i)}`);
    const chunk = await Assay.load(item.k).catch((error) => error);
    if (list[place] !== item) return; // the reader went on meanwhile
    if (chunk instanceof Error) {
      body.replaceChildren(el("p", { class: "notice", id: "item-title" }, chunk.message));
    } else {
      render(item, chunk[item.i]);
    }
  }

  Assay.openItem = (items, index) => {
    list = items;
    place = index;
    open();
  };
  document.getElementById("item-before").addEventListener("click", () => { place -= 1; open(); });
  document.getElementById("item-after").addEventListener("click", () => { place += 1; open(); });
  document.getElementById("item-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => history.replaceState(null, "", "#items"));
})();
