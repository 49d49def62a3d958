"use strict";
// Sorting and filtering of every table. Without this script the page shows the same, but stays as it is.

/** A cell as something to compare: an exact integer, a number, a text, or null for what is missing. */
function keyOf(cell, numeric) {
  const raw = cell.dataset.v || cell.textContent;
  if (!numeric) return raw === "-" ? null : raw.toLowerCase();
  if (/^-?\d+$/.test(raw)) return BigInt(raw);
  return raw === "" || Number.isNaN(Number(raw)) ? null : Number(raw);
}

for (const box of document.querySelectorAll(".table")) {
  const body = box.querySelector("tbody");
  const filter = box.querySelector("input");
  const more = box.querySelector(".more");
  const output = box.querySelector("output");
  const rows = [...body.rows];
  const texts = new Map();
  const count = output.textContent;
  let top = Number(box.dataset.top);

  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let hits = 0;
    for (const row of body.rows) {
      if (words.length && !texts.has(row)) texts.set(row, [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
      const hit = words.every((word) => texts.get(row).includes(word));
      hits += hit;
      row.hidden = !hit || hits > top;
    }
    const total = count.slice(count.indexOf(" of "));
    output.textContent = words.length ? `${Math.min(hits, top)} of ${hits} matching rows` : `${Math.min(hits, top)}${total}`;
  };

  filter.addEventListener("input", show);
  more?.addEventListener("click", () => {
    const all = top === rows.length;
    top = all ? Number(box.dataset.top) : rows.length;
    more.textContent = all ? `show all ${rows.length.toLocaleString("en")}` : "show fewer";
    show();
  });

  const heads = [...box.querySelectorAll("th")];
  heads.forEach((head, at) => {
    head.firstChild.addEventListener("click", () => {
      const numeric = head.classList.contains("n");
      const was = head.getAttribute("aria-sort");
      const down = was ? was === "ascending" : numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = new Map(rows.map((row) => [row, keyOf(row.cells[at], numeric)]));
      rows.sort((one, two) => {
        const a = keys.get(one), b = keys.get(two);
        if (a === null || b === null) return (a === null) - (b === null);
        const order = a < b ? -1 : a > b ? 1 : 0;
        return down ? -order : order;
      });
      body.append(...rows);
      show();
    });
  });
}

// A cell too long for its column: the whole text on hover, and in place on click.
document.addEventListener("mouseover", (event) => {
  const cell = event.target.closest("td");
  if (cell && !cell.title && cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent;
});
document.addEventListener("click", (event) => {
  const cell = event.target.closest("td:not([data-v])");
  if (cell && !String(getSelection())) cell.classList.toggle("open");
});
