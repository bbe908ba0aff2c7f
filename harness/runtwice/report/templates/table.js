// Search, filter and sort of the table of claims; without this script the table is whole and in the order of ids.
(() => {
  "use strict";
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  const table = document.getElementById("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, place) => ({ row, place, text: row.textContent.toLowerCase().replace(/\s+/g, " "), ...row.dataset }));
  const form = document.querySelector(".controls");
  const search = document.getElementById("q");
  const topic = document.getElementById("topic");
  const shown = document.getElementById("shown");
  const picked = (name) => new Set([...form.querySelectorAll(`[name=${name}]:checked`)].map((one) => one.value));

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = picked("state");
    const kinds = picked("agreement");
    let number = 0;
    for (const one of rows) {
      const fits = (!topic.value || one.topic === topic.value)
        && (!states.size || states.has(one.state))
        && (!kinds.size || kinds.has(one.agreement))
        && words.every((word) => one.text.includes(word));
      if (one.row.hidden === fits) one.row.hidden = !fits;
      number += fits;
    }
    shown.textContent = number === rows.length ? `${number} claims.` : `${number} of ${rows.length} claims.`;
    remember(states, kinds);
  }

  // The choice stands in the address, so that it can be sent.
  function remember(states, kinds) {
    const wanted = new URLSearchParams();
    if (search.value) wanted.set("q", search.value);
    if (topic.value) wanted.set("topic", topic.value);
    for (const [name, set] of [["state", states], ["agreement", kinds]]) set.forEach((value) => wanted.append(name, value));
    const query = wanted.toString();
    try { history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash); } catch { /* a page without an address of its own */ }
  }

  function recall() {
    const wanted = new URLSearchParams(location.search);
    search.value = wanted.get("q") || "";
    topic.value = wanted.get("topic") || "";
    form.querySelectorAll("[type=checkbox]").forEach((one) => { one.checked = wanted.getAll(one.name).includes(one.value); });
  }

  const RANKS = {
    state: ["error", "refuted", "undecided", "within noise", "holds", "recorded", "not run", "no evidence", "exempt"],
    agreement: ["moved", "not comparable", "close", "exact"],
  };
  function value(one, key) {
    if (key === "id") return one.place;
    if (RANKS[key]) return one[key] === "" ? null : RANKS[key].indexOf(one[key]);
    return one[key] === "" ? null : Number(one[key]);
  }
  // What has no value stays at the end, whichever way.
  function compare(a, b, key, way) {
    const [x, y] = [value(a, key), value(b, key)];
    if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
    return way * (x - y) || a.place - b.place;
  }
  function sort(head) {
    const rising = head.getAttribute("aria-sort") !== "ascending";
    for (const one of head.parentElement.cells) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const order = [...rows].sort((a, b) => compare(a, b, head.dataset.key, rising ? 1 : -1));
    body.append(...order.map((one) => one.row));
  }

  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }

  // An anchor shows its claim, also where a filter has hidden it.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.hidden) return;
    form.reset();
    filter();
    target.scrollIntoView();
  }

  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 60); });
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  addEventListener("hashchange", reveal);
  form.hidden = false;
  recall();
  filter();
  reveal();
  performance.mark("interactive");
})();
