"use strict";
// What the other scripts share. Text from benchmarks and models only ever becomes text nodes.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);

  // el("p", {class: "quiet"}, "text", child, …)
  function el(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  // base64 of gzipped JSON → value
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const chunks = new Map(); // name → promise of {item id: detail}
  const waiting = new Map(); // name → function that takes the packed text

  function load(name) {
    if (!chunks.has(name)) {
      const inside = document.querySelector(`script[data-chunk="${name}"]`);
      chunks.set(name, inside ? unpack(inside.textContent) : fetchChunk(name).then(unpack));
    }
    return chunks.get(name);
  }

  // A page opened from a folder may not read files, but may run scripts that lie beside it.
  function fetchChunk(name) {
    return new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = el("script", { src: `items/${name}.js` });
      script.onerror = () => {
        chunks.delete(name);
        reject(new Error(`items/${name}.js is missing: keep the folder "items" beside this page.`));
      };
      document.head.append(script);
    });
  }

  window.Assay = {
    facts: read("facts"),
    charts: read("charts"),
    el,
    load,
    itemList: () => unpack(document.getElementById("item-list").textContent),
    receive: (name, packed) => waiting.get(name)(packed),
  };
})();
