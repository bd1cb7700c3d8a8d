// The first screen: what this service is, and the way from nothing to an answer.
import { at, call } from "./api.js";
import { attempt, counted, el, heading, hint, linked, soft, time } from "./dom.js";
import { session } from "./session.js";
import { dropZone, workspaceFor } from "./upload.js";

/** Nothing where the key may not ask, or the feature is off. */
const quietly = (action, path) => (session.can(action) ? call("GET", path).catch(() => null) : null);

export async function start(root) {
	const [version, stats, chats, plugins] = await Promise.all([
		quietly("version", "/version"),
		quietly("stats.get", "/stats"),
		quietly("chats.get", "/chats?limit=100"),
		quietly("plugins.get", "/plugins"),
	]);
	root.append(
		...heading((chats?.total ?? 1) > 0 ? "Overview" : "Ask your documents", "Add documents, choose who answers, and ask. Each answer names the places that it rests on."),
	);
	const until = session.rights?.expiresAt;
	const indexes = Object.entries(stats?.indexes ?? {});
	const total = indexes.reduce((n, [, x]) => n + x.numberOfDocuments, 0);
	const uids = (chats?.results ?? []).map((w) => w.uid);
	const chosen = linked("Make a workspace", "#/workspaces");
	const choose = (uid) => {
		if (uid && !uids.includes(uid)) uids.push(uid);
		if (uids.length > 0) chosen.replaceChildren(`Workspaces: ${uids.join(", ")}`);
	};
	choose();
	const providers = (plugins?.results ?? []).filter((p) => p.source);
	const ready = providers.filter((p) => p.state === "ready");
	if (session.open) {
		const network = session.rights?.network;
		root.append(
			el(
				"p",
				{ class: network ? "notice bad" : "notice" },
				`This service asks for no key: everybody on ${network ? "its network" : "this computer"} may do everything. Set a master key to change that.`,
			),
		);
	}
	const tick = (li) => {
		if (li.querySelector(".done")) return;
		li.querySelector(".step")?.replaceWith(el("span", { class: "step done", "aria-hidden": "true" }, "✓"));
		li.querySelector("h3")?.append(el("span", { class: "soft" }, " – done"));
	};
	const step = (n, done, title, ...content) => {
		const li = el("li", { class: "card" }, el("span", { class: "step", "aria-hidden": "true" }, String(n)), el("div", el("h3", title), ...content));
		if (done) tick(li);
		return li;
	};
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
					soft(total > 0 ? `${counted(total, "document", "documents")} in ${counted(indexes.length, "index", "indexes")}. ` : "A collection of documents is called an index."),
					session.can("documents.add") && dropZone({ done: added }).node,
					told,
				),
			session.can("chats.get", "plugins.get") &&
				step(
					2,
					ready.length > 0 && uids.length > 0,
					"Choose who answers",
					soft("A workspace says which provider and model answer, and from which indexes. A provider is a plugin that speaks to one kind of model service."),
					el(
						"p",
						ready.length > 0
							? `Providers: ${ready.map((p) => (p.source === "extract" ? "extract, which quotes the best passages and needs no model" : p.source)).join("; ")}. `
							: "No provider is loaded. ",
						providers.length > ready.length && linked("Some are not ready. ", "#/plugins"),
						chosen,
					),
				),
			session.can("chatCompletions") && step(3, asked, "Ask the first question", el("p", linked("Ask a question", "#/ask", "button main"))),
		),
	);

	async function added(index) {
		await attempt(told, async () => {
			const uid = await workspaceFor(index);
			choose(uid);
			for (const li of root.querySelectorAll(uid ? ".steps li:not(:last-child)" : ".steps li:first-child")) tick(li);
			told.replaceChildren(
				uid
					? el("p", el("a", { class: "button main", href: at`#/ask/${uid}` }, `Ask about ${index}`))
					: el("p", "No workspace searches this index yet. ", linked("Make one", "#/workspaces")),
			);
		});
	}

	root.append(
		hint(`Parley ${version?.pkgVersion ?? ""}: ${session.open ? "open, it asks for no key" : "locked, it asks for a key"}.${until ? ` Yours ends at ${time(until)}.` : ""}`),
	);
}
