// Search as you type. Each key pressed ends the search before.
import { asCurl, call } from "./api.js";
import { copyButton, count, counted, el, empty, field, highlighted, json, problem, show, table } from "./dom.js";
import { session } from "./session.js";

const from = "\u{e000}",
  to = "\u{e001}"; // marks that no text has

/** What each rule of the ranking looks at. @type {Record<string, string>} */
const rules = {
  words: "How many of the words the document has.",
  typo: "How few letters differ.",
  proximity: "How near the words are to each other.",
  attribute: "How early in the list of searchable attributes the words are.",
  attributeRank: "How early in the list of searchable attributes the words are.",
  wordPosition: "How early in the attribute the words are.",
  exactness: "How much of the text is just what was typed.",
  vectorSort: "How near the meaning is.",
  sort: "The order that was asked for.",
};

/** @param {string} text as a filter writes it */
const quoted = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** @param {any} details of one hit's score */
const explained = (details) =>
  table(
    ["Rule", ["Score", "number"], "What it looks at"],
    Object.entries(details ?? {})
      .sort((a, b) => (a[1].order ?? 0) - (b[1].order ?? 0))
      .map(([name, d]) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, name),
          el("td", { class: "number" }, typeof d.score === "number" ? d.score.toFixed(3) : typeof d.similarity === "number" ? d.similarity.toFixed(3) : ""),
          el("td", {}, rules[name] ?? rules[name.split(":")[0]] ?? "A rule of this index."),
        ),
      ),
    "Score by rule",
  );

/** @param {HTMLElement} root @param {string[]} path @param {AbortSignal} left */
export async function search(root, path, left) {
  root.append(el("h1", {}, "Search"));
  const uids = (await call("GET", "/indexes?limit=1000")).results.map((/** @type {any} */ x) => x.uid);
  if (uids.length === 0) {
    root.append(
      empty(
        "No index yet",
        "An index is a collection of documents that can be searched.",
        el("a", { class: "button main", href: "#/documents" }, "Add documents"),
      ),
    );
    return;
  }
  const index = el("select", {}, ...uids.map((/** @type {string} */ u) => el("option", { value: u }, u)));
  if (uids.includes(path[0])) index.value = path[0];
  const route = `/indexes/${encodeURIComponent(index.value)}`;
  const settings = session.can("settings.get") ? await call("GET", `${route}/settings`).catch(() => null) : null;
  const q = el("input", { type: "search", placeholder: "Type words" });
  const filter = el("input", { placeholder: "year > 2000 AND genre = Drama" });
  const sort = el(
    "select",
    {},
    el("option", { value: "" }, "by relevance"),
    ...(settings?.sortableAttributes ?? []).flatMap((/** @type {string} */ a) => [
      el("option", { value: `${a}:asc` }, `${a}, rising`),
      el("option", { value: `${a}:desc` }, `${a}, falling`),
    ]),
  );
  const embedders = Object.keys(settings?.embedders ?? {});
  const ratio = el("input", { type: "range", min: 0, max: 1, step: 0.05, value: 0.5 });
  const wrong = el("div"),
    facets = el("div", { class: "row" }),
    figures = el("p", { class: "soft", role: "status" }),
    hits = el("div");
  root.append(
    el("div", { class: "row" }, el("label", { class: "field" }, "Index", index), el("label", { class: "field grow" }, "Words", q)),
    el(
      "div",
      { class: "row" },
      el(
        "div",
        { class: "grow" },
        field("Filter", filter, settings?.filterableAttributes?.length ? undefined : "This index has no filterable attributes yet: choose them under Indexes."),
      ),
      sort.options.length > 1 ? el("label", { class: "field" }, "Order", sort) : null,
      embedders.length > 0 ? field("Words or meaning", ratio, "Left: the words alone. Right: the meaning alone.") : null,
    ),
    wrong,
    facets,
    figures,
    hits,
  );

  let running = new AbortController();
  left.addEventListener("abort", () => running.abort());
  async function run() {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const body = {
      q: q.value,
      filter: filter.value || undefined,
      sort: sort.value ? [sort.value] : undefined,
      facets: ["*"],
      limit: 20,
      attributesToHighlight: ["*"],
      attributesToCrop: ["*"],
      cropLength: 30,
      highlightPreTag: from,
      highlightPostTag: to,
      showRankingScore: true,
      showRankingScoreDetails: true,
      hybrid: embedders.length > 0 && Number(ratio.value) > 0 && q.value ? { embedder: embedders[0], semanticRatio: Number(ratio.value) } : undefined,
    };
    try {
      const res = await call("POST", `${route}/search`, body, signal);
      wrong.replaceChildren();
      filter.removeAttribute("aria-invalid");
      figures.replaceChildren(
        `${counted(res.estimatedTotalHits, "hit", "hits")} in ${count(res.processingTimeMs)} ms `,
        copyButton("Copy as curl", () => asCurl("POST", `${route}/search`, body)),
      );
      facets.replaceChildren(
        ...Object.entries(res.facetDistribution ?? {})
          .slice(0, 6)
          .map(([name, values]) => facet(name, values)),
      );
      hits.replaceChildren(...res.hits.map(hit));
      if (res.hits.length === 0)
        hits.replaceChildren(
          empty("Nothing found", filter.value ? "No document has these words and meets the filter." : "No document has these words. Fewer words find more."),
        );
    } catch (err) {
      if (signal.aborted) return;
      wrong.replaceChildren(problem(err));
      if (/** @type {any} */ (err).code === "invalid_search_filter") filter.setAttribute("aria-invalid", "true");
    }
  }
  /** @param {string} name @param {Record<string, number>} values */
  function facet(name, values) {
    const pick = el(
      "select",
      {},
      el("option", { value: "" }, `any (${count(Object.keys(values).length)} values)`),
      ...Object.entries(values)
        .slice(0, 100)
        .map(([v, n]) => el("option", { value: v }, `${v} (${count(n)})`)),
    );
    pick.addEventListener("change", () => {
      const part = `${name} = ${quoted(pick.value)}`;
      filter.value = filter.value ? `(${filter.value}) AND ${part}` : part;
      run();
    });
    return el("label", { class: "field" }, name, pick);
  }
  /** @param {any} h */
  function hit(h) {
    const { _formatted, _rankingScore, _rankingScoreDetails, ...whole } = h;
    const shown = Object.entries(_formatted ?? whole).filter(([, v]) => v !== null && v !== "");
    const head = shown.find(([name, v]) => /^(title|name|headline|subject)$/i.test(name) && typeof v === "string");
    const rows = shown
      .filter((field) => field !== head)
      .slice(0, 8)
      .map(([name, v]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, highlighted(typeof v === "string" ? v : JSON.stringify(v), from, to))));
    return el(
      "article",
      { class: "card" },
      head ? el("h2", {}, highlighted(String(head[1]), from, to)) : null,
      el("div", { class: "scroll" }, el("table", {}, ...rows)),
      el(
        "p",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => show("Document", json(whole)) }, "Whole document"),
        el(
          "button",
          {
            type: "button",
            onclick: () =>
              show(
                "Why this document is here",
                el("p", { class: "soft" }, "The rules count in this order; each score goes from 0 to 1."),
                explained(_rankingScoreDetails),
              ),
          },
          `Score ${Number(_rankingScore).toFixed(3)}`,
        ),
      ),
    );
  }
  q.addEventListener("input", run);
  filter.addEventListener("change", run);
  sort.addEventListener("change", run);
  ratio.addEventListener("change", run);
  index.addEventListener("change", () => {
    location.hash = `#/search/${encodeURIComponent(index.value)}`;
  });
  await run();
  q.focus();
}
