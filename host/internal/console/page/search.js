// Search as you type. Each key pressed ends the search before.
import { asCurl, call } from "./api.js";
import { count, el, highlighted, json, problem, show } from "./dom.js";

const from = "\u{e000}", to = "\u{e001}"; // marks that no text has

/** @param {HTMLElement} root @param {string[]} path @param {AbortSignal} left */
export async function search(root, path, left) {
  root.append(el("h1", {}, "Search"));
  const uids = (await call("GET", "/indexes?limit=1000")).results.map((/** @type {any} */ x) => x.uid);
  if (uids.length === 0) {
    root.append(el("p", {}, "There is no index yet. ", el("a", { href: "#/documents" }, "Add documents")));
    return;
  }
  const index = /** @type {HTMLSelectElement} */ (el("select", {}, ...uids.map((/** @type {string} */ u) => el("option", { value: u }, u))));
  if (uids.includes(path[0])) index.value = path[0];
  const q = /** @type {HTMLInputElement} */ (el("input", { type: "search", placeholder: "Words", "aria-label": "Words" }));
  const filter = /** @type {HTMLInputElement} */ (el("input", { placeholder: "year > 2000 AND genre = Drama" }));
  const wrong = el("div");
  const facets = el("div", { class: "row" });
  const figures = el("p", { class: "soft", role: "status" });
  const hits = el("div");
  root.append(
    el("div", { class: "row" }, el("label", {}, "Index", index), el("label", { class: "grow" }, "Words", q), el("label", { class: "grow" }, "Filter", filter)),
    wrong, facets, figures, hits);

  let running = new AbortController();
  left.addEventListener("abort", () => running.abort());
  async function run() {
    running.abort();
    running = new AbortController();
    const signal = running.signal;
    const route = `/indexes/${encodeURIComponent(index.value)}/search`;
    const body = {
      q: q.value, filter: filter.value || undefined, facets: ["*"], limit: 20, attributesToHighlight: ["*"], attributesToCrop: ["*"], cropLength: 30,
      highlightPreTag: from, highlightPostTag: to, showRankingScore: true, showRankingScoreDetails: true,
    };
    try {
      const res = await call("POST", route, body, signal);
      wrong.replaceChildren();
      figures.replaceChildren(`${count(res.estimatedTotalHits)} found in ${res.processingTimeMs} ms. `, el("button", { type: "button", onclick: () => navigator.clipboard.writeText(asCurl("POST", route, body)) }, "Copy as curl"));
      facets.replaceChildren(...Object.entries(res.facetDistribution ?? {}).slice(0, 6).map(([name, values]) => {
        const pick = /** @type {HTMLSelectElement} */ (el("select", {}, el("option", { value: "" }, "all"), ...Object.entries(/** @type {Record<string, number>} */ (values)).slice(0, 30).map(([v, n]) => el("option", { value: v }, `${v} (${count(n)})`))));
        pick.addEventListener("change", () => {
          if (!pick.value) return;
          const part = `${name} = "${pick.value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
          filter.value = filter.value ? `(${filter.value}) AND ${part}` : part;
          run();
        });
        return el("label", {}, name, pick);
      }));
      hits.replaceChildren(...res.hits.map((/** @type {any} */ h) => hit(h)));
    } catch (err) {
      if (!signal.aborted) wrong.replaceChildren(problem(err));
    }
  }
  /** @param {any} h */
  function hit(h) {
    const { _formatted, _rankingScore, _rankingScoreDetails, ...whole } = h;
    const rows = Object.entries(_formatted ?? whole).filter(([, v]) => v !== null && v !== "").slice(0, 8).map(([name, v]) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, highlighted(typeof v === "string" ? v : JSON.stringify(v), from, to))));
    return el("article", { class: "card" }, el("div", { class: "scroll" }, el("table", {}, ...rows)), el("p", { class: "buttons soft" },
      el("button", { type: "button", onclick: () => show("Document", json(whole)) }, "Whole document"),
      el("button", { type: "button", onclick: () => show("Why it is here", el("p", {}, "Each rule of the ranking in its order, from 0 to 1."), json(_rankingScoreDetails)) }, `Score ${Number(_rankingScore).toFixed(3)}`)));
  }
  q.addEventListener("input", run);
  filter.addEventListener("change", run);
  index.addEventListener("change", () => { filter.value = ""; location.replace(`#/search/${encodeURIComponent(index.value)}`); });
  await run();
  q.focus();
}
