// The first screen: what this service is, and the way from nothing to an answer.
import { call } from "./api.js";
import { count, counted, el, empty, problem } from "./dom.js";
import { session } from "./session.js";
import { dropZone, workspaceFor } from "./upload.js";

/** Nothing where the key may not ask, or the feature is off. @param {string} path */
const quietly = (path) => call("GET", path).catch(() => null);

/** @param {HTMLElement} root */
export async function start(root) {
  root.append(
    el("h1", {}, "Ask your documents"),
    el("p", { class: "lead" }, "Add documents, choose who answers, and ask. Each answer names the places that it rests on."),
  );
  const [version, stats, chats, plugins] = await Promise.all([
    quietly("/version"),
    session.can("stats.get") ? quietly("/stats") : null,
    session.can("chats.get") ? quietly("/chats?limit=100") : null,
    session.can("plugins.get") ? quietly("/plugins") : null,
  ]);
  const indexes = Object.entries(stats?.indexes ?? {});
  const total = indexes.reduce((n, [, x]) => n + x.numberOfDocuments, 0);
  const workspaces = chats?.results ?? [];
  const providers = (plugins?.results ?? []).filter((/** @type {any} */ p) => p.source);
  const ready = providers.filter((/** @type {any} */ p) => p.state === "ready");
  if (session.open) {
    const here = /^(localhost|127\.|\[::1\])/.test(location.hostname);
    root.append(
      el(
        "p",
        { class: here ? "notice" : "notice bad" },
        here
          ? "This service is open: it asks for no key, so everybody on this computer may do everything. Set a master key before others can reach it."
          : "This service is open to its network: everybody who reaches it may do everything. Start it with a master key.",
      ),
    );
  }
  const step = (/** @type {number} */ n, /** @type {boolean} */ done, /** @type {string} */ title, /** @type {any[]} */ ...content) =>
    el(
      "li",
      { class: "card" },
      el("span", { class: done ? "step done" : "step", "aria-hidden": "true" }, done ? "✓" : String(n)),
      el("div", {}, el("h3", {}, title, done ? el("span", { class: "soft" }, " – done") : null), ...content),
    );
  const told = el("div");
  const asked = localStorage.getItem("parley-asked") === "yes";
  root.append(
    el(
      "ol",
      { class: "steps" },
      step(
        1,
        total > 0,
        "Add documents",
        el(
          "p",
          { class: "soft" },
          total > 0
            ? `${counted(total, "document", "documents")} in ${counted(indexes.length, "index", "indexes")}. `
            : "An index is a collection of documents that can be searched. These files make one named “notes”.",
        ),
        session.can("documents.add") ? dropZone(() => ({ index: "notes" }), added) : null,
        told,
      ),
      step(
        2,
        ready.length > 0 && workspaces.length > 0,
        "Choose who answers",
        el(
          "p",
          { class: "soft" },
          "A workspace says which provider and model answer, and from which indexes. A provider is a plugin that speaks to one kind of model service.",
        ),
        el(
          "p",
          {},
          ready.length > 0 ? `Providers: ${ready.map((/** @type {any} */ p) => p.source).join(", ")}. ` : "No provider is loaded. ",
          providers.length > ready.length ? el("a", { href: "#/plugins" }, "Some are not ready. ") : null,
          el(
            "a",
            { href: "#/workspaces" },
            workspaces.length > 0 ? `Workspaces: ${workspaces.map((/** @type {any} */ w) => w.uid).join(", ")}` : "Make a workspace",
          ),
        ),
      ),
      step(3, asked, "Ask the first question", el("p", {}, el("a", { class: "button main", href: "#/ask" }, asked ? "Ask" : "Ask a question"))),
    ),
  );

  /** @param {string} index */
  async function added(index) {
    try {
      const uid = await workspaceFor(index);
      told.replaceChildren(
        uid
          ? el("p", {}, el("a", { class: "button main", href: `#/ask/${encodeURIComponent(uid)}` }, `Ask about ${index}`))
          : el("p", {}, "No workspace searches this index yet. ", el("a", { href: "#/workspaces" }, "Make one")),
      );
    } catch (err) {
      told.replaceChildren(problem(err));
    }
  }

  if (indexes.length > 0) {
    root.append(
      el("h2", {}, "Indexes"),
      el(
        "div",
        { class: "cards" },
        ...indexes.map(([uid, x]) =>
          el(
            "article",
            { class: "card" },
            el("h3", {}, el("a", { href: `#/search/${encodeURIComponent(uid)}` }, uid)),
            el("p", { class: "figure" }, count(x.numberOfDocuments)),
            el("p", { class: "soft" }, x.isIndexing ? "documents, indexing now" : "documents"),
          ),
        ),
      ),
    );
  } else if (stats) {
    root.append(empty("No index yet", "Drop a few files above; they can be searched a moment later."));
  }
  if (version) root.append(el("p", { class: "hint" }, `Parley ${version.pkgVersion}`));
}
