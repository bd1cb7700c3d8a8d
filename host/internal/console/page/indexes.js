// The indexes and their settings.
import { apply, asCurl, call } from "./api.js";
import { confirmed, copyButton, count, el, empty, field, problem, show, size, tabbed, table, tell, time } from "./dom.js";
import { preview } from "./preview.js";
import { session } from "./session.js";

/**
 * What a setting is for. rebuild: changing it reads all documents again.
 * @typedef {{name: string, kind: "list"|"number"|"switch"|"json"|"text"|"choice", help: string, rebuild?: boolean, choices?: string[]}} Setting
 */

/** @type {Setting[]} */
const known = [
  { name: "searchableAttributes", kind: "list", help: "Attributes that words are looked for in, the most important first. * is all of them.", rebuild: true },
  { name: "displayedAttributes", kind: "list", help: "Attributes that answers show. * is all of them." },
  { name: "filterableAttributes", kind: "list", help: "Attributes that filters and facets may use.", rebuild: true },
  { name: "sortableAttributes", kind: "list", help: "Attributes that hits may be sorted by.", rebuild: true },
  { name: "rankingRules", kind: "list", help: "What decides which hit comes first, in this order." },
  { name: "distinctAttribute", kind: "text", help: "Of documents with the same value here, only the best is shown." },
  { name: "stopWords", kind: "list", help: "Words that are not looked for, such as “the”.", rebuild: true },
  { name: "synonyms", kind: "json", help: 'Words that find each other: {"car": ["automobile"]}.' },
  { name: "typoTolerance", kind: "json", help: "How many letters a word may differ by, from what length on." },
  {
    name: "proximityPrecision",
    kind: "choice",
    choices: ["byWord", "byAttribute"],
    help: "byWord counts the words between two words; byAttribute is smaller.",
    rebuild: true,
  },
  { name: "prefixSearch", kind: "choice", choices: ["indexingTime", "disabled"], help: "Whether the last word may be the beginning of a longer one." },
  { name: "facetSearch", kind: "switch", help: "Whether values of facets can be searched." },
  { name: "faceting", kind: "json", help: "How many values of a facet are counted, and in which order." },
  { name: "pagination", kind: "json", help: "How many hits can be paged through." },
  { name: "searchCutoffMs", kind: "number", help: "Milliseconds after which a search answers with what it has." },
  { name: "embedders", kind: "json", help: "Services that turn texts into vectors, for search by meaning.", rebuild: true },
  { name: "localizedAttributes", kind: "json", help: "Which languages an attribute is written in.", rebuild: true },
  { name: "chat", kind: "json", help: "What a model is told about this index, and how much of a document it gets." },
];

/** @param {HTMLElement} root @param {string[]} path @param {AbortSignal} left */
export async function indexes(root, path, left) {
  return path[0] ? one(root, path[0], left) : all(root, left);
}

/** @param {HTMLElement} root @param {AbortSignal} left */
async function all(root, left) {
  root.append(el("h1", {}, "Indexes"), el("p", { class: "lead" }, "An index is a collection of documents that can be searched, with its own settings."));
  const list = el("div"),
    wrong = el("div");
  const name = el("input", { required: true, pattern: "[A-Za-z0-9_\\-]+", placeholder: "notes" }),
    primaryKey = el("input", { placeholder: "found in the first document" });
  if (session.can("indexes.create")) {
    const form = el(
      "form",
      { class: "row" },
      field("Name", name),
      field("Field with the id", primaryKey),
      el("button", { class: "main", type: "submit" }, "Create index"),
    );
    form.addEventListener("submit", async (/** @type {Event} */ e) => {
      e.preventDefault();
      try {
        await apply(await call("POST", "/indexes", { uid: name.value, primaryKey: primaryKey.value || undefined }));
        location.hash = `#/indexes/${encodeURIComponent(name.value)}`;
      } catch (err) {
        wrong.replaceChildren(problem(err));
      }
    });
    root.append(form);
  }
  root.append(wrong, list);
  const page = await call("GET", "/indexes?limit=1000");
  const stats = session.can("stats.get") ? (await call("GET", "/stats", undefined, left)).indexes : {};
  if (page.results.length === 0) {
    list.append(
      empty(
        "No index yet",
        "Create one, or add documents: the first ones make their index.",
        el("a", { class: "button", href: "#/documents" }, "Add documents"),
      ),
    );
    return;
  }
  list.append(
    table(
      ["Index", ["Documents", "number"], ["Size", "number"], "Changed", ""],
      page.results.map((/** @type {any} */ x) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, el("a", { href: `#/indexes/${encodeURIComponent(x.uid)}` }, x.uid)),
          el("td", { class: "number" }, count(stats[x.uid]?.numberOfDocuments ?? 0)),
          el("td", { class: "number" }, size((stats[x.uid]?.indexSize ?? 0) + (stats[x.uid]?.rawDocumentDbSize ?? 0))),
          el("td", {}, time(x.updatedAt)),
          el("td", {}, stats[x.uid]?.isIndexing ? el("span", { class: "tag" }, "indexing") : null),
        ),
      ),
      "Indexes",
    ),
  );
  if (page.results.length > 1 && session.can("indexes.swap")) root.append(swapForm(page.results.map((/** @type {any} */ x) => x.uid)));
}

/** @param {string[]} uids */
function swapForm(uids) {
  const pick = () => el("select", {}, ...uids.map((u) => el("option", { value: u }, u)));
  const a = pick(),
    b = pick(),
    wrong = el("div");
  b.selectedIndex = 1;
  const form = el("form", { class: "row" }, field("Index", a), field("and", b), el("button", { type: "submit" }, "Swap"));
  form.addEventListener("submit", async (/** @type {Event} */ e) => {
    e.preventDefault();
    try {
      await apply(await call("POST", "/swap-indexes", [{ indexes: [a.value, b.value] }]));
      tell(`${a.value} and ${b.value} have changed places.`);
      dispatchEvent(new HashChangeEvent("hashchange"));
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  });
  return el(
    "section",
    {},
    el("h2", {}, "Swap two indexes"),
    el("p", { class: "soft" }, "Their documents and settings change places at once: build a new index aside, then swap it in."),
    form,
    wrong,
  );
}

/** @param {HTMLElement} root @param {string} uid @param {AbortSignal} left */
async function one(root, uid, left) {
  const route = `/indexes/${encodeURIComponent(uid)}`;
  const info = await call("GET", route);
  root.append(
    el("p", {}, el("a", { href: "#/indexes" }, "← Indexes")),
    el("h1", {}, uid),
    el(
      "p",
      { class: "soft" },
      info.primaryKey ? `The id of a document is its field “${info.primaryKey}”.` : "The first documents decide which field holds the id.",
    ),
    el(
      "p",
      { class: "buttons" },
      el("a", { class: "button", href: `#/search/${encodeURIComponent(uid)}` }, "Search"),
      el("a", { class: "button", href: `#/documents/${encodeURIComponent(uid)}` }, "Documents"),
    ),
  );
  if (session.can("settings.get")) {
    const settings = await call("GET", `${route}/settings`);
    root.append(el("h2", {}, "Settings"), settingsEditor(`${route}/settings`, settings));
    if (settings.chat && session.can("documents.get") && session.can("search"))
      root.append(el("h2", {}, "What the model gets"), await preview(uid, settings.chat, left));
  }
  if (session.can("indexes.update") || session.can("documents.delete") || session.can("indexes.delete"))
    root.append(el("h2", {}, "Change or delete"), danger(uid, route));
}

/** @param {string} route @param {any} before */
function settingsEditor(route, before) {
  const may = session.can("settings.update");
  /** @type {Map<string, () => any>} what the form says of each setting */
  const reads = new Map();
  const rows = known.filter((s) => s.name in before).map((s) => field(label(s.name), control(s, before[s.name], reads), s.help));
  const text = el("textarea", { rows: 24, spellcheck: "false", "aria-label": "Settings as JSON", value: JSON.stringify(before, null, 2) });
  let shown = "Form";
  const wrong = el("div", { role: "status" });
  const after = () => (shown === "Form" ? Object.fromEntries([...reads].map(([name, read]) => [name, read()])) : JSON.parse(text.value));
  const review = async () => {
    try {
      const patch = changes(before, after());
      if (Object.keys(patch).length === 0) {
        wrong.replaceChildren(el("p", { class: "soft" }, "Nothing is changed."));
        return;
      }
      const rebuild = known.filter((s) => s.rebuild && s.name in patch).map((s) => label(s.name));
      show(
        "What will change",
        diff(before, patch),
        rebuild.length > 0
          ? el(
              "p",
              { class: "notice" },
              `${rebuild.join(", ")}: all documents are read again in the background. Searches answer by the old settings until that is done.`,
            )
          : null,
        el(
          "p",
          { class: "buttons" },
          el("button", { type: "button", class: "main", onclick: () => send(patch) }, "Apply"),
          copyButton("Copy as curl", () => asCurl("PATCH", route, patch)),
        ),
      );
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  };
  /** @param {any} patch */
  async function send(patch) {
    /** @type {HTMLDialogElement} */ (document.getElementById("show")).close();
    wrong.replaceChildren(el("p", { class: "soft" }, "Applying…"));
    try {
      await apply(await call("PATCH", route, patch));
      tell("The settings are applied.");
      dispatchEvent(new HashChangeEvent("hashchange"));
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  }
  return el(
    "div",
    {},
    tabbed([
      [
        "Form",
        () => {
          shown = "Form";
          return el("div", { class: "form" }, ...rows);
        },
      ],
      [
        "JSON",
        () => {
          shown = "JSON";
          return text;
        },
      ],
    ]),
    wrong,
    may
      ? el("p", { class: "buttons" }, el("button", { type: "button", class: "main", onclick: review }, "Review changes"))
      : el("p", { class: "soft" }, "This key may read settings, not change them."),
  );
}

/** "searchableAttributes" as people write it. @param {string} name */
export const label = (name) => name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`).replace(/^./, (c) => c.toUpperCase());

/** @param {Setting} s @param {any} value @param {Map<string, () => any>} reads */
function control(s, value, reads) {
  if (s.kind === "list") {
    // Attributes with rules of their own are objects, which a line cannot hold.
    const plain = (value ?? []).every((/** @type {any} */ v) => typeof v === "string");
    const box = el("textarea", {
      rows: Math.min(8, Math.max(2, (value ?? []).length)),
      spellcheck: "false",
      placeholder: "one a line",
      value: plain ? (value ?? []).join("\n") : JSON.stringify(value, null, 2),
    });
    reads.set(s.name, () =>
      plain
        ? box.value
            .split("\n")
            .map((/** @type {string} */ l) => l.trim())
            .filter(Boolean)
        : JSON.parse(box.value),
    );
    return box;
  }
  if (s.kind === "json") {
    const box = el("textarea", {
      rows: Math.min(14, JSON.stringify(value, null, 2).split("\n").length + 1),
      spellcheck: "false",
      value: JSON.stringify(value, null, 2),
    });
    reads.set(s.name, () => JSON.parse(box.value));
    return box;
  }
  if (s.kind === "switch" || s.kind === "choice") {
    const choices = s.kind === "switch" ? ["true", "false"] : (s.choices ?? []);
    const box = el("select", {}, ...choices.map((c) => el("option", { value: c }, s.kind === "switch" ? (c === "true" ? "on" : "off") : c)));
    box.value = String(value);
    reads.set(s.name, () => (s.kind === "switch" ? box.value === "true" : box.value));
    return box;
  }
  const box = el("input", { type: s.kind === "number" ? "number" : "text", value: value ?? "", placeholder: "none" });
  reads.set(s.name, () => (box.value === "" ? null : s.kind === "number" ? Number(box.value) : box.value));
  return box;
}

/** The settings that differ. @param {any} before @param {any} after */
export function changes(before, after) {
  /** @type {Record<string, any>} */
  const patch = {};
  for (const [name, value] of Object.entries(after)) if (JSON.stringify(before[name]) !== JSON.stringify(value)) patch[name] = value;
  return patch;
}

/** @param {any} before @param {any} patch */
export const diff = (before, patch) =>
  el(
    "ul",
    { class: "diff" },
    ...Object.entries(patch).map(([name, value]) =>
      el(
        "li",
        {},
        el("strong", {}, label(name)),
        el("br"),
        el("del", { class: "soft" }, JSON.stringify(before[name]) ?? "not set"),
        el("br"),
        el("ins", {}, JSON.stringify(value)),
      ),
    ),
  );

/** @param {string} uid @param {string} route */
function danger(uid, route) {
  const name = el("input", { value: uid, pattern: "[A-Za-z0-9_\\-]+", required: true }),
    wrong = el("div");
  /** @param {() => Promise<any>} act @param {string} said @param {string} next */
  const run = async (act, said, next) => {
    try {
      await apply(await act());
      tell(said);
      if (location.hash === next) dispatchEvent(new HashChangeEvent("hashchange"));
      else location.hash = next;
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  };
  const rename = el("form", { class: "row" }, field("Name", name), el("button", { type: "submit" }, "Rename"));
  rename.addEventListener("submit", (/** @type {Event} */ e) => {
    e.preventDefault();
    run(() => call("PATCH", route, { uid: name.value }), "Renamed.", `#/indexes/${encodeURIComponent(name.value)}`);
  });
  return el(
    "div",
    {},
    session.can("indexes.update") ? rename : null,
    wrong,
    el(
      "p",
      { class: "buttons" },
      session.can("documents.delete")
        ? el(
            "button",
            {
              type: "button",
              class: "danger",
              onclick: async () =>
                (await confirmed(`Delete all documents of ${uid}?`, "The settings stay. This cannot be undone.")) &&
                run(() => call("DELETE", `${route}/documents`), "All documents are deleted.", location.hash),
            },
            "Delete all documents",
          )
        : null,
      session.can("indexes.delete")
        ? el(
            "button",
            {
              type: "button",
              class: "danger",
              onclick: async () =>
                (await confirmed(`Delete the index ${uid}?`, "Its documents and its settings go. This cannot be undone.")) &&
                run(() => call("DELETE", route), "Deleted.", "#/indexes"),
            },
            "Delete index",
          )
        : null,
    ),
  );
}
