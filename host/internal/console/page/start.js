// The first screen: what this service is, and the way from nothing to an answer.
import { at, call } from "./api.js";
import { attempt, count, counted, el, heading, soft } from "./dom.js";
import { session } from "./session.js";
import { dropZone, workspaceFor } from "./upload.js";

/** Nothing where the key may not ask, or the feature is off. @param {string} path */
const quietly = (path) => call("GET", path).catch(() => null);

/** @param {HTMLElement} root */
export async function start(root) {
	root.append(...heading("Ask your documents", "Add documents, choose who answers, and ask. Each answer names the places that it rests on."));
	const [version, stats, chats, plugins] = await Promise.all([
		quietly("/version"),
		session.can("stats.get") ? quietly("/stats") : null,
		session.can("chats.get") ? quietly("/chats?limit=100") : null,
		session.can("plugins.get") ? quietly("/plugins") : null,
	]);
	const indexes = Object.entries(stats?.indexes ?? {});
	const total = indexes.reduce((n, [, x]) => n + x.numberOfDocuments, 0);
	const workspaces = chats?.results ?? [];
	const providers = (plugins?.results ?? []).filter((p) => p.source);
	const ready = providers.filter((p) => p.state === "ready");
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
	const step = (n, /** @type {boolean} */ done, title, /** @type {any[]} */ ...content) =>
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
			session.can("documents.get") &&
				step(
					1,
					total > 0,
					"Add documents",
					soft(
						total > 0
							? `${counted(total, "document", "documents")} in ${counted(indexes.length, "index", "indexes")}. `
							: "An index is a collection of documents that can be searched. These files make one named “notes”.",
					),
					session.can("documents.add") ? dropZone(() => "notes", added) : null,
					told,
				),
			session.can("chats.get", "plugins.get") &&
				step(
					2,
					ready.length > 0 && workspaces.length > 0,
					"Choose who answers",
					soft("A workspace says which provider and model answer, and from which indexes. A provider is a plugin that speaks to one kind of model service."),
					el(
						"p",
						{},
						ready.length > 0 ? `Providers: ${ready.map((p) => p.source).join(", ")}. ` : "No provider is loaded. ",
						providers.length > ready.length ? el("a", { href: "#/plugins" }, "Some are not ready. ") : null,
						el("a", { href: "#/workspaces" }, workspaces.length > 0 ? `Workspaces: ${workspaces.map((w) => w.uid).join(", ")}` : "Make a workspace"),
					),
				),
			session.can("chatCompletions") && step(3, asked, "Ask the first question", el("p", {}, el("a", { class: "button main", href: "#/ask" }, asked ? "Ask" : "Ask a question"))),
		),
	);

	async function added(index) {
		await attempt(told, async () => {
			const uid = await workspaceFor(index);
			told.replaceChildren(
				uid
					? el("p", {}, el("a", { class: "button main", href: at`#/ask/${uid}` }, `Ask about ${index}`))
					: el("p", {}, "No workspace searches this index yet. ", el("a", { href: "#/workspaces" }, "Make one")),
			);
		});
	}

	if (indexes.length > 0) {
		root.append(
			el("h2", {}, "Indexes"),
			el(
				"div",
				{ class: "cards" },
				...indexes
					.slice(0, 24)
					.map(([uid, x]) =>
						el(
							"article",
							{ class: "card" },
							el("h3", {}, el("a", { href: at`#/search/${uid}` }, uid)),
							el("p", { class: "figure" }, count(x.numberOfDocuments)),
							soft(x.isIndexing ? "documents, indexing now" : "documents"),
						),
					),
			),
		);
	}
	root.append(el("p", { class: "hint" }, `Parley ${version?.pkgVersion ?? ""}: ${session.open ? "open, it asks for no key" : "locked, it asks for a key"}.`));
}
