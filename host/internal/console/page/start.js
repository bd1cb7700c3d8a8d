// The first screen: what this service is, and the way from nothing to an answer.
import { call, key } from "./api.js";
import { count, el } from "./dom.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const quiet = (/** @type {Promise<any>} */ p) => p.catch(() => null);
  root.append(el("h1", {}, "Ask your documents"));
  const [version, stats, chats, plugins] = await Promise.all([
    quiet(call("GET", "/version")), quiet(call("GET", "/stats")), quiet(call("GET", "/chats?limit=100")), quiet(call("GET", "/plugins")),
  ]);
  const indexes = Object.entries(stats?.indexes ?? {});
  const total = indexes.reduce((n, [, x]) => n + x.numberOfDocuments, 0);
  const workspaces = chats?.results ?? [];
  const providers = (plugins?.results ?? plugins?.plugins ?? []).filter((/** @type {any} */ p) => p.source && p.state !== "refused");
  if (!key.get()) {
    const here = /^(localhost|127\.|\[::1\])/.test(location.hostname);
    root.append(el("p", { class: here ? "soft" : "bad" }, here
      ? "This service is open: whoever reaches it on this computer may do everything. Set a master key before others can reach it."
      : "This service is open to its network: whoever reaches it may do everything. Start it with --master-key."));
  }
  const step = (/** @type {boolean} */ done, /** @type {string} */ title, /** @type {(Node|string)[]} */ ...text) =>
    el("li", { class: "card" }, el("span", { "aria-hidden": "true" }, done ? "✓" : "○"), el("div", {}, el("strong", {}, title), el("span", { class: "soft" }, done ? " (done)" : ""), el("p", {}, ...text)));
  root.append(el("ol", { class: "steps" },
    step(total > 0, "Documents", total > 0 ? `${count(total)} documents in ${count(indexes.length)} ${indexes.length === 1 ? "index" : "indexes"}. ` : "An index is a collection of documents that can be searched. ", el("a", { href: "#/documents" }, "Add documents")),
    step(providers.length > 0 && workspaces.length > 0, "A provider", workspaces.length > 0
      ? `Workspaces: ${workspaces.map((/** @type {any} */ w) => w.uid).join(", ")}. A workspace says which model answers, and from which indexes. `
      : "A workspace says which model answers, and from which indexes. Make one with PATCH /chats/{name}/settings, or run parley quickstart. "),
    step(false, "The first question", el("a", { href: "#/ask" }, "Ask it")),
  ));
  if (indexes.length > 0) {
    root.append(el("h2", {}, "Indexes"), el("div", { class: "scroll" }, el("table", {}, el("tr", {}, el("th", {}, "Index"), el("th", {}, "Documents"), el("th", {}, "")),
      ...indexes.map(([uid, x]) => el("tr", {}, el("td", {}, el("a", { href: `#/search/${encodeURIComponent(uid)}` }, uid)), el("td", {}, count(x.numberOfDocuments)), el("td", {}, x.isIndexing ? "indexing" : ""))))));
  }
  if (version) root.append(el("p", { class: "soft" }, `Version ${version.pkgVersion}.`));
}
