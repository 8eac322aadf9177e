// Search and sorting for the report; everything else works without.
"use strict";
(() => {
  const number = (node) => parseInt(node ? node.textContent : "0", 10) || 0;
  const nameOf = (item) => item.querySelector(
      item.tagName === "TR" ? "td:last-child" : "h4 > span").textContent;

  // Sort keys by column; true: largest first.
  const flatKeys = [
    [(row) => number(row.cells[0]), true],
    [(row) => parseFloat(row.cells[1].textContent), true],
    [nameOf, false],
  ];
  const hierKeys = [
    [(item) => parseInt(item.id.split("-")[1], 10), false],
    [(item) => number(item.querySelectorAll("h4 > b")[0]), true],
    [(item) => number(item.querySelectorAll("h4 > b")[1]), true],
    [nameOf, false],
  ];

  function compare(a, b) {
    if (typeof a === "string")
      return a < b ? -1 : a > b ? 1 : 0;
    return a - b;
  }

  function sortBy(parent, items, key, descending) {
    const keyed = items.map((item, at) => ({item, at, key: key(item)}));
    keyed.sort((a, b) => (descending ? -1 : 1) * compare(a.key, b.key) ||
      a.at - b.at);
    const moved = document.createDocumentFragment();
    for (const entry of keyed)
      moved.append(entry.item);
    parent.append(moved);
  }

  function makeSortable(heads, parent, items, keys) {
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "Sort by " + head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const [key, first] = keys[at];
        const now = head.getAttribute("aria-sort");
        const descending = now ? now === "ascending" : first;
        for (const other of heads)
          other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort",
            descending ? "descending" : "ascending");
        sortBy(parent, items, key, descending);
      });
    });
  }

  function makeSearch(part, items) {
    const label = document.createElement("label");
    const said = document.createElement("span");
    const input = document.createElement("input");
    let names = null, waiting = 0;
    input.type = "search";
    input.placeholder = "Filter functions by name";
    input.setAttribute("aria-label", input.placeholder);
    said.setAttribute("role", "status");
    label.append(said, input);
    part.querySelector(".bar").append(label);

    function search() {
      const wanted = input.value.trim().toLowerCase();
      let functions = 0, found = 0;
      names = names || items.map((item) => nameOf(item).toLowerCase());
      items.forEach((item, at) => {
        const hit = names[at].includes(wanted);
        item.hidden = !hit;
        if (item.tagName !== "TR") {
          functions++;
          found += hit ? 1 : 0;
        }
      });
      said.textContent = wanted ? found + " of " + functions : "";
    }
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(search, 120);
    });
    // A link to a function that the search hides shows all again.
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#f']");
      const target = link && document.getElementById(link.hash.slice(1));
      if (target && target.hidden && part.contains(target)) {
        input.value = "";
        search();
      }
    });
  }

  for (const part of document.querySelectorAll(".part")) {
    const body = part.querySelector(".flat tbody");
    const hier = part.querySelector(".hier");
    const rows = Array.from(body.rows);
    const functions = Array.from(hier.querySelectorAll("article"));
    makeSortable(Array.from(part.querySelectorAll("th")), body, rows,
        flatKeys);
    makeSortable(Array.from(hier.querySelectorAll(".cols > span")), hier,
        functions, hierKeys);
    makeSearch(part, rows.concat(functions));
  }
})();
