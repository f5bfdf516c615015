"use strict";
// Charts follow the page: its width, its benchmark, its light or dark colours.
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();
  let scope = document.body.dataset.scope ?? "all";

  function config() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const text = { labelColor: colour("--ink"), titleColor: colour("--quiet") };
    return {
      background: null,
      font: getComputedStyle(document.body).fontFamily,
      view: { stroke: null },
      axis: {
        ...text, gridColor: colour("--line"), domainColor: colour("--line"),
        tickColor: colour("--line"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
      },
      legend: { ...text, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 130 },
    };
  }

  // Vega knows no "currentColor": marks in the ink's colour say so, and get it here. The darkest
  // colour of the palette is lighter on a dark page.
  function coloured(spec) {
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
    let text = JSON.stringify(spec).replaceAll('"currentColor"', JSON.stringify(ink));
    if (dark.matches) text = text.replaceAll('"#0072B2"', '"#4C9FD8"');
    return JSON.parse(text);
  }

  const width = (node) => Math.max(200, node.clientWidth - 6);

  async function draw(node) {
    const name = node.dataset.chart;
    views.get(name)?.finalize();
    const spec = { ...coloured(Assay.charts[name]), width: width(node) };
    // `ast`: expressions are interpreted, never compiled, so that the page needs no `eval`.
    const result = await window.vegaEmbed(node, spec, {
      actions: false, ast: true, config: config(), renderer: "svg",
    });
    views.set(name, result);
    await result.view.signal("benchmark", scope).runAsync();
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const view = views.get(target.dataset.chart)?.view;
      if (view && view.width() !== width(target)) view.width(width(target)).runAsync();
    }
  });

  async function drawAll() {
    for (const node of document.querySelectorAll("[data-chart]")) await draw(node);
  }

  document.addEventListener("scope", (event) => {
    scope = event.detail;
    for (const { view } of views.values()) view.signal("benchmark", scope).runAsync();
  });
  dark.addEventListener("change", drawAll);
  setTimeout(drawAll); // the page is readable before its charts are drawn
  for (const node of document.querySelectorAll("[data-chart]")) resized.observe(node);
})();
