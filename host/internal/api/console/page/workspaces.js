// Workspaces: which provider answers, with which model, from which indexes.
import { at, call, secrets } from "./api.js";
import {
	addresses,
	attempt,
	button,
	buttons,
	confirmed,
	counted,
	el,
	empty,
	field,
	form,
	heading,
	hint,
	label,
	linked,
	named,
	pager,
	pre,
	renew,
	row,
	select,
	soft,
	submit,
	tell,
} from "./dom.js";
import { received } from "./feedback.js";
import { changes, review, twoForms } from "./indexes.js";
import { session } from "./session.js";

/** What the model is told of what. */
const prompts = {
	system: "Before each conversation",
	searchDescription: "Of the search",
	searchQParam: "Of the words to look for",
	searchFilterParam: "Of filters",
	searchIndexUidParam: "Of choosing an index",
};

/** What bounds a request, and what bounds how many there are. */
const rules = {
	maxCompletionTokens: "Of one answer, in tokens.",
	maxInputBytes: "Of one request with its conversation, in bytes.",
	maxMessages: "Of one conversation.",
};
/** Where a guard sees texts. */
const stages = {
	question: "What clients ask",
	passages: "What the search finds",
	answer: "What the model answers",
	reasoning: "What the model thinks",
	arguments: "Calls of functions",
};
const limits = {
	requestsPerMinute: "To the provider, from all clients together. A search of an answer makes one more.",
	tokensPerMinute: "Of prompts and answers. A token is a piece of a word; providers charge by them.",
	parallel: "Answers under way at a time.",
};

export async function workspaces(root, path) {
	return path[0] ? one(root, path[0]) : all(root);
}

async function all(root) {
	root.append(...heading("Workspaces", "A workspace says which provider and model answer, from which indexes, and what the model is told. Clients of /v1 name it as their model."));
	if (session.can("chatsSettings.update")) {
		const name = named({ placeholder: "support" });
		root.append(
			form(
				"row",
				root,
				async () => {
					location.hash = at`#/workspaces/${name.value}`;
				},
				field("Name", name),
				submit("New workspace"),
			),
		);
	}
	const list = el("div"),
		step = 24;
	root.append(list);
	async function draw(offset) {
		const page = await call("GET", `/chats?limit=${step}&offset=${offset}`);
		if (page.total === 0) {
			list.append(empty("No workspace yet", "Name one above. Its settings come next."));
			return;
		}
		const cards = await Promise.all(
			page.results.map(async (w) => {
				const s = await call("GET", at`/chats/${w.uid}/settings`);
				return el(
					"article",
					{ class: "card" },
					el("h3", linked(w.uid, at`#/workspaces/${w.uid}`)),
					soft(`${s.source ?? "no provider"}${s.defaultModel ? `, ${s.defaultModel}` : ""}`),
					hint(s.indexUids ? `Indexes: ${s.indexUids.join(", ") || "none"}` : "All indexes"),
					el("p", linked("Ask", at`#/ask/${w.uid}`, "button")),
				);
			}),
		);
		list.replaceChildren(
			el("div", { class: "cards" }, ...cards),
			page.total > step ? pager(offset, cards.length, page.total, step, "workspaces", (to) => attempt(list, () => draw(to))) : "",
		);
	}
	await draw(0);
}

async function one(root, uid) {
	const chat = at`/chats/${uid}`,
		route = `${chat}/settings`;
	root.append(el("p", linked("← Workspaces", "#/workspaces")), el("h1", uid));
	const [before, plugins, indexes] = await Promise.all([
		call("GET", route).catch((err) => {
			if (err.code === "chat_not_found") return null;
			throw err;
		}),
		session.can("plugins.get") ? call("GET", "/plugins").then((p) => p.results) : [],
		session.indexes(),
	]);
	const defaults = before && session.can("chats.get") ? (await call("GET", chat)).defaults : null;
	if (!before) root.append(el("p", { class: "notice" }, "This workspace is made when its settings are saved."));
	const sources = [...new Set(plugins.map((p) => p.source).filter(Boolean))];
	const saved = before ?? { source: sources.includes("extract") ? "extract" : null, indexUids: null };
	const said = el("div", { role: "status" });
	let read = () => ({});
	const editor = twoForms(
		saved,
		(now) => {
			const drawn = drawForm(now, saved, { chat, ask: () => patched(), defaults, sources, plugins, indexes });
			read = drawn.read;
			return drawn.nodes;
		},
		() => read(),
		said,
	);
	const patched = () => {
		const patch = changes(before ?? {}, editor.read());
		for (const name of ["prompts", "options", "limits"]) {
			const part = changes(before?.[name] ?? {}, patch[name] ?? {});
			if (Object.keys(part).length > 0) patch[name] = part;
			else delete patch[name];
		}
		return patch;
	};
	async function save() {
		const patch = patched();
		if (before) return review(route, before, patch, said);
		await call("PATCH", route, patch);
		tell("Saved.");
		renew();
	}
	async function test() {
		said.replaceChildren(soft("Asking the provider for one word…"));
		const res = await call("POST", `${chat}/test`, patched()); // what the page says, saved or not
		said.replaceChildren(el("p", { class: res.ok ? "good" : "bad" }, res.message));
	}
	async function remove() {
		if (!(await confirmed(`Delete the workspace ${uid}?`, "Its settings and its provider's key go. Indexes and documents stay. This cannot be undone."))) return;
		await call("DELETE", chat);
		tell("Deleted.");
		location.hash = "#/workspaces";
	}
	root.append(
		editor.node,
		said,
		session.can("chatsSettings.update")
			? buttons(
					button(before ? "Review changes" : "Save", () => attempt(said, save), "main"),
					button("Test the provider", () => attempt(said, test)),
					before && session.can("chats.delete") && button("Delete workspace", () => attempt(said, remove), "danger"),
				)
			: soft("This key may read these settings, not change them."),
		before && session.can("chatsSettings.update") ? received(uid) : "",
	);
}

/**
 * The settings of a workspace as a form.
 * @param {any} now its values
 * @param {any} saved those that the service has
 * @param {{chat: string, ask: () => any, defaults: any, sources: any[], plugins: any[], indexes: string[]}} has chat: its route; ask: what the page says, saved or not
 */
function drawForm(now, saved, { chat, ask, defaults, sources, plugins, indexes }) {
	const reads = new Map();
	/** @param {(text: string) => any} [as] */
	const text = (name, control, help, as = (t) => t) => {
		reads.set(name, () => (control.value === "" ? null : as(control.value)));
		return field(label(name.replace("limits.", "")), control, help);
	};
	const number = (name, value, help) => text(name, el("input", { type: "number", min: 0, value: value ?? "", placeholder: "no limit" }), help, Number);

	/** The plugin that answers a source. */
	const pluginOf = (name) => plugins.find((p) => p.source === name && p.use) ?? plugins.find((p) => p.source === name);
	const radios = [...new Set([...sources, now.source].filter(Boolean))].map((name) =>
		el("input", { type: "radio", name: "source", value: name, checked: name === now.source, onchange: () => chooseSource() }),
	);
	const source = {
		get value() {
			return radios.find((r) => r.checked)?.value ?? "";
		},
	};
	const needs = (p) =>
		Object.entries(p?.settings ?? {})
			.filter(([, o]) => o.required)
			.map(([name]) => label(name))
			.join(", ");
	const choice = el(
		"fieldset",
		el("legend", "Who answers"),
		el(
			"div",
			{ class: "cards" },
			...radios.map((r) => {
				const p = pluginOf(r.value);
				return el(
					"label",
					{ class: "choice" },
					r,
					el("span", el("b", p?.name ?? r.value), soft(p?.description ?? "No plugin for it is loaded."), hint(needs(p) ? `Needs: ${needs(p)}` : "Needs nothing")),
				);
			}),
		),
	);
	reads.set("source", () => source.value || null);
	const about = el("p", { class: "hint" }),
		accountFields = el("div", { class: "form" }),
		more = el("div", { class: "form" }); // of the account, what few need
	let accountReads = new Map();
	let optionReads = new Map();
	function drawAccount() {
		accountReads = new Map();
		optionReads = new Map();
		const all = plugins.filter((p) => p.source && p.source === source.value);
		const plugin = pluginOf(source.value);
		about.replaceChildren(
			!source.value
				? "Nobody answers until a provider is chosen."
				: plugin
					? `Plugin ${plugin.name} ${plugin.version}. ${plugin.grants.http.length > 0 ? `It may reach ${addresses(plugin.grants.http)}.` : "It reaches no address: it quotes the best passages and uses no model."}`
					: "No plugin for this source is loaded.",
		);
		accountFields.replaceChildren();
		more.replaceChildren();
		// Which settings of an account a provider reads, its manifest says.
		for (const [name, o] of Object.entries(plugin?.settings ?? {}).sort(([, a], [, b]) => Number(b.required ?? 0) - Number(a.required ?? 0))) {
			const place = o.required || name === "apiKey" || name === "baseUrl" ? accountFields : more;
			place.append(option(name, { ...o, type: "string", secret: name === "apiKey" }, now[name], saved[name], accountReads));
		}
		for (const [name, o] of Object.entries(plugin?.options ?? {})) {
			(o.required ? accountFields : more).append(option(name, o, now.options?.[name], saved.options?.[name], optionReads));
		}
		if (all.length > 1 || now.plugin || now.pluginVersion) {
			const version = select(
				[["", "the one in use"], ...all.map((p) => [`${p.name}@${p.version}`, `${p.name} ${p.version}`])],
				now.pluginVersion ? `${now.plugin ?? plugin?.name}@${now.pluginVersion}` : "",
			);
			accountReads.set("plugin", () => version.value.split("@")[0] || null);
			accountReads.set("pluginVersion", () => version.value.split("@")[1] ?? null);
			more.append(field("Plugin and version", version, "Of this workspace alone."));
		}
	}
	drawAccount();
	/** Draws the account, and looks whether a server answers where its kind listens by default. */
	async function chooseSource() {
		drawAccount();
		const [, local] = /(https?:\/\/localhost[:/\w]*)/.exec(pluginOf(source.value)?.settings?.baseUrl?.description ?? "") ?? [];
		const box = accountFields.querySelector("[name=baseUrl]");
		if (!local || !box || box.value || !session.can("chatsSettings.update")) return;
		box.placeholder = local;
		try {
			const { results } = await call("POST", `${chat}/models`, { source: source.value, baseUrl: local });
			if (!box.value) box.value = local;
			about.append(el("span", { class: "good" }, ` Found at ${local}: ${counted(results.length, "model", "models")}.`));
		} catch {
			about.append(` Nothing answers at ${local}.`);
		}
	}

	const offered = el("datalist", { id: "models" });
	const model = el("input", { value: now.defaultModel ?? "", placeholder: "clients must name one", list: "models" });
	const asked = el("p", { class: "hint", role: "status" });
	// Those of what the page says, as they are when somebody is about to choose.
	model.addEventListener("focus", async () => {
		if (!session.can("chatsSettings.update") || !source.value) return;
		asked.replaceChildren("Asking the provider for its models…");
		try {
			const { results } = await call("POST", `${chat}/models`, ask());
			offered.replaceChildren(...results.map((m) => el("option", { value: m.id })));
			asked.replaceChildren(results.length > 0 ? `${counted(results.length, "model", "models")} of the provider can be chosen.` : "The provider names no models.");
		} catch (err) {
			asked.replaceChildren(err.code === "unimplemented_chat_models" ? "" : err.message);
		}
	});

	const every = el("input", { type: "checkbox", checked: !now.indexUids });
	const boxes = [...new Set([...indexes, ...(now.indexUids ?? [])])].map((x) =>
		el("input", { type: "checkbox", value: x, checked: now.indexUids?.includes(x), disabled: every.checked }),
	);
	every.addEventListener("change", () => {
		for (const b of boxes) b.disabled = every.checked;
	});
	reads.set("indexUids", () => (every.checked ? null : boxes.filter((b) => b.checked).map((b) => b.value)));

	// A guard that is set keeps its place, options and stages; a new one comes last.
	const guards = now.guards ?? [];
	const guardBoxes = [...new Set([...guards.map((g) => g.plugin), ...plugins.filter((p) => p.kind === "guard").map((p) => p.name)])].map((name) =>
		el("input", { type: "checkbox", value: name, checked: guards.some((g) => g.plugin === name) }),
	);
	const readGuards = () => guardBoxes.filter((b) => b.checked).map((b) => guards.find((g) => g.plugin === b.value) ?? { plugin: b.value });
	if (guardBoxes.length > 0) reads.set("guards", () => (now.guards || guardBoxes.some((b) => b.checked) ? readGuards() : null));

	const promptReads = new Map();
	const promptFields = Object.entries(prompts).map(([name, title]) => {
		const box = el("textarea", { rows: name === "system" ? 10 : 3, value: now.prompts?.[name] ?? "", placeholder: defaults?.[name] ?? "the default" });
		promptReads.set(name, () => (box.value === (now.prompts?.[name] ?? "") ? (now.prompts?.[name] ?? null) : box.value === defaults?.[name] ? null : box.value || null));
		const compared = el("div");
		const compare = () => {
			const own = box.value || (defaults?.[name] ?? "");
			const only = (a, b, tag) =>
				a
					.split("\n")
					.filter((line) => line && !b.split("\n").includes(line))
					.map((line) => el(tag, line));
			const parts = defaults && own !== defaults[name] ? [...only(defaults[name], own, "del"), ...only(own, defaults[name], "ins")] : [];
			compared.replaceChildren(
				parts.length > 0
					? el(
							"details",
							el("summary", "Differs from the default"),
							el("div", { class: "lines" }, ...parts),
							session.can("chatsSettings.update") &&
								button("Reset to the default", () => {
									box.value = "";
									compare();
									box.focus();
								}),
						)
					: hint(defaults ? "The default." : ""),
			);
		};
		box.addEventListener("input", compare);
		compare();
		return el("div", field(title, box), compared);
	});

	const tools = select({ true: "may bring functions of their own", false: "may bring none" }, String(now.clientTools ?? true));
	reads.set("clientTools", () => tools.value === "true");
	const messages = select({ all: "may tell the model how to answer", noSystem: "may only ask" }, now.clientMessages ?? "all");
	reads.set("clientMessages", () => (messages.value === "all" ? null : messages.value));
	const amount = el("input", { type: "number", min: 1, value: now.limits?.tokens?.amount ?? "", placeholder: "no limit" }),
		period = select(["hour", "day", "week", "month", "total"], now.limits?.tokens?.period ?? "day");
	const limitFields = Object.entries(limits).map(([name, help]) => number(`limits.${name}`, now.limits?.[name], help));

	/** All that the form says, as the settings have it. */
	function readForm() {
		const all = Object.fromEntries([...reads, ...accountReads].map(([name, read]) => [name, read()]));
		const bounds = { tokens: amount.value ? { amount: Number(amount.value), period: period.value } : null };
		for (const name of Object.keys(limits)) {
			bounds[name] = all[`limits.${name}`];
			delete all[`limits.${name}`];
		}
		const of = (m) => Object.fromEntries([...m].map(([name, read]) => [name, read()]));
		return { ...all, prompts: { ...now.prompts, ...of(promptReads) }, options: { ...now.options, ...of(optionReads) }, limits: { ...now.limits, ...bounds } };
	}
	const untouched = JSON.stringify(readForm());
	return {
		nodes: [
			choice,
			about,
			accountFields,
			text("defaultModel", model, "What is asked when a client names the workspace alone."),
			offered,
			asked,
			el(
				"fieldset",
				el("legend", "Indexes that may be searched"),
				el("label", { class: "check" }, every, "All, also those to come"),
				el("div", { class: "checks" }, ...boxes.map((b) => el("label", { class: "check" }, b, b.value))),
			),
			el(
				"details",
				el("summary", "Advanced"),
				el(
					"div",
					{ class: "form" },
					more,
					guardBoxes.length > 0 &&
						el(
							"details",
							el("summary", "Guards"),
							hint("They see texts where these enter and leave, in this order, and may change them or end the answer."),
							el("div", { class: "checks" }, ...guardBoxes.map((b) => el("label", { class: "check" }, b, b.value))),
							defaults && session.can("chatsSettings.update") && trial(chat, readGuards),
						),
					el("details", el("summary", "What the model is told"), el("div", { class: "form" }, ...promptFields)),
					el(
						"details",
						el("summary", "Limits"),
						el(
							"div",
							{ class: "form" },
							...Object.entries(rules).map(([name, help]) => number(name, now[name], help)),
							...limitFields,
							row(field("Tokens", amount, "A budget, by the calendar in UTC."), field("in each", period)),
							field("Clients", messages),
							field("and", tools),
						),
					),
				),
			),
		],
		read: () => {
			const said = readForm();
			return JSON.stringify(said) === untouched ? now : said;
		},
	};
}

/** Where guards are given a text. Nothing is kept of it. */
function trial(chat, guards) {
	const text = el("textarea", { rows: 3 }),
		stage = select(stages),
		result = el("div", { role: "status" });
	const run = async () => {
		const r = await call("POST", `${chat}/guards/test`, { stage: stage.value, text: text.value, guards: guards() });
		const did = r.calls.map((c) => `${c.guard}: ${c.action}`).join(", ") || "no guard has this stage";
		result.replaceChildren(
			pre(r.text),
			hint([did, ...r.notes.map((n) => n.label)].join(" · ")),
			r.blocked ? el("p", { class: "bad" }, r.blocked.message || "The passage is left out.") : "",
		);
	};
	return el(
		"div",
		field("Try a text", text),
		row(
			field("As", stage),
			button("Try it", () => attempt(result, run)),
		),
		result,
	);
}

/**
 * A field for a setting or an option that a plugin declares.
 * @param {string} name @param {any} o its rules @param {any} kept what the service has: of a secret its short form
 * @param {Map<string, () => any>} reads what the form says of each
 */
function option(name, o, value, kept, reads) {
	const help = [o.required ? "Needed." : "", o.description, o.default !== undefined ? `Default: ${o.default}.` : ""].filter(Boolean).join(" ");
	if (o.enum || o.type === "boolean") {
		const values = o.enum ?? [true, false];
		const box = select([["", "default"], ...values.map(String)], String(value ?? ""));
		reads.set(name, () => values.find((v) => String(v) === box.value) ?? null);
		return field(label(name), box, help);
	}
	const number = o.type === "integer" || o.type === "number";
	if (o.secret) secrets.add(name);
	const box = el("input", {
		name,
		type: o.secret ? "password" : number ? "number" : "text",
		min: o.minimum,
		max: o.maximum,
		autocomplete: "off",
		value: o.secret && value === kept ? "" : (value ?? ""),
		placeholder: o.secret ? (kept ?? "none") : "",
	});
	// A secret that is left empty stays what it is.
	reads.set(name, () => (box.value === "" ? (o.secret ? (kept ?? null) : null) : number ? Number(box.value) : box.value));
	return field(label(name), box, help);
}
