// The indexes and their settings.
import { apply, asCurl, at, call, secrets } from "./api.js";
import {
	attempt,
	button,
	buttons,
	confirmed,
	copyButton,
	count,
	el,
	empty,
	field,
	form,
	heading,
	hide,
	label,
	linked,
	named,
	pager,
	renew,
	select,
	show,
	size,
	soft,
	submit,
	tabbed,
	table,
	tell,
	time,
} from "./dom.js";
import { preview } from "./preview.js";
import { session } from "./session.js";

/** Settings whose change has all documents read again. */
const rebuilding = new Set(
	"searchableAttributes filterableAttributes sortableAttributes stopWords separatorTokens nonSeparatorTokens dictionary proximityPrecision embedders localizedAttributes".split(
		" ",
	),
);

export async function indexes(root, path, left) {
	return path[0] ? one(root, path[0], left) : all(root, left);
}

async function all(root, left) {
	root.append(...heading("Indexes", "An index is a collection of documents that can be searched, with its own settings."));
	const list = el("div"),
		wrong = el("div");
	const name = named({ placeholder: "notes" }),
		primaryKey = el("input", { placeholder: "found in the first document" });
	if (session.can("indexes.create")) {
		root.append(
			form(
				"row",
				wrong,
				async () => {
					await apply(await call("POST", "/indexes", { uid: name.value, primaryKey: primaryKey.value || undefined }));
					location.hash = at`#/indexes/${name.value}`;
				},
				field("Name", name),
				field("Field with the id", primaryKey),
				submit("Create index"),
			),
		);
	}
	root.append(wrong, list);
	const step = 50;
	async function draw(offset) {
		const page = await call("GET", `/indexes?limit=${step}&offset=${offset}`, undefined, left);
		const stats = session.can("stats.get") ? (await call("GET", "/stats", undefined, left)).indexes : {};
		if (page.total === 0) {
			list.replaceChildren(empty("No index yet", "Create one, or add documents: the first ones make their index.", linked("Add documents", "#/documents", "button")));
			return;
		}
		list.replaceChildren(
			table(
				["Index", ["Documents", "number"], ["Size", "number"], "Changed", ""],
				page.results.map((x) => [
					linked(x.uid, at`#/indexes/${x.uid}`),
					count(stats[x.uid]?.numberOfDocuments ?? 0),
					size((stats[x.uid]?.indexSize ?? 0) + (stats[x.uid]?.rawDocumentDbSize ?? 0)),
					time(x.updatedAt),
					stats[x.uid]?.isIndexing && el("span", { class: "tag" }, "indexing"),
				]),
				"Indexes",
			),
			pager(offset, page.results.length, page.total, step, "indexes", (to) => attempt(wrong, () => draw(to))),
			page.total > 1 && session.can("indexes.swap") ? swapForm(page.results.map((x) => x.uid)) : "",
		);
	}
	await draw(0);
}

function swapForm(uids) {
	const a = select(uids),
		b = select(uids, uids[1]),
		wrong = el("div");
	return el(
		"section",
		el("h2", "Swap two indexes"),
		soft("Their documents and settings change places at once: build a new index aside, then swap it in."),
		form(
			"row",
			wrong,
			async () => {
				await apply(await call("POST", "/swap-indexes", [{ indexes: [a.value, b.value] }]));
				tell(`${a.value} and ${b.value} have changed places.`);
				renew();
			},
			field("Index", a),
			field("and", b),
			submit("Swap", ""),
		),
		wrong,
	);
}

async function one(root, uid, left) {
	const route = at`/indexes/${uid}`;
	const info = await call("GET", route);
	root.append(
		el("p", linked("← Indexes", "#/indexes")),
		el("h1", uid),
		soft(info.primaryKey ? `The id of a document is its field “${info.primaryKey}”.` : "The first documents decide which field holds the id."),
		buttons(linked("Search", at`#/search/${uid}`, "button"), linked("Documents", at`#/documents/${uid}`, "button")),
	);
	if (session.can("settings.get")) {
		const settings = await call("GET", `${route}/settings`);
		root.append(el("h2", "Settings"), settingsEditor(`${route}/settings`, settings, (await call("GET", "/openapi.json")).components.schemas));
		if (settings.chat && session.can("documents.get") && session.can("search")) root.append(el("h2", "What the model gets"), await preview(uid, settings.chat, left));
	}
	if (session.can("indexes.swap") || session.can("documents.delete") || session.can("indexes.delete")) root.append(el("h2", "Change or delete"), danger(uid, route));
}

/** @param {any} schemas what the description of the API says of the settings */
function settingsEditor(route, before, schemas) {
	const whole = (s) => (s?.$ref ? whole(schemas[s.$ref.split("/").pop()]) : s?.anyOf ? whole(s.anyOf[0]) : s);
	/** @type {Map<string, () => any>} what the form says of each setting */
	let reads = new Map();
	const wrong = el("div", { role: "status" });
	const editor = twoForms(
		before,
		(now) => {
			reads = new Map();
			return Object.keys(now).map((name) => {
				const said = schemas.Settings.properties[name];
				return field(
					label(name),
					control(name, whole(said), now[name], reads),
					said?.description?.replace(/^./, (c) => c.toUpperCase()),
				);
			});
		},
		() => Object.fromEntries([...reads].map(([name, read]) => [name, read()])),
		wrong,
	);
	const look = async () => {
		const patch = changes(before, editor.read());
		const rebuild = Object.keys(patch)
			.filter((name) => rebuilding.has(name))
			.map(label);
		review(
			route,
			before,
			patch,
			wrong,
			rebuild.length > 0 ? `${rebuild.join(", ")}: all documents are read again in the background. Searches answer by the old settings until that is done.` : "",
		);
	};
	return el(
		"div",
		editor.node,
		wrong,
		session.can("settings.update") ? buttons(button("Review changes", () => attempt(wrong, look), "main")) : soft("This key may read settings, not change them."),
	);
}

/**
 * Shows what a change of settings comes to, and makes it.
 * @param {string} route
 * @param {Element} where it is said that nothing changes
 * @param {string} [note] what else comes of it
 */
export function review(route, before, patch, where, note) {
	if (Object.keys(patch).length === 0) {
		where.replaceChildren(soft("Nothing is changed."));
		return;
	}
	const wrong = el("div");
	const send = async () => {
		const sent = await call("PATCH", route, patch);
		if (sent.taskUid !== undefined) await apply(sent);
		hide();
		tell("The settings are applied.");
		renew();
	};
	show(
		"What will change",
		diff(before, patch),
		note && el("p", { class: "notice" }, note),
		wrong,
		buttons(
			button("Apply", () => attempt(wrong, send), "main"),
			copyButton("Copy as curl", () => asCurl("PATCH", route, { body: patch })),
		),
	);
}

/**
 * Settings as a form and as JSON, which go over into each other.
 * @param {(now: any) => Node[]} draw the form with the values of now
 * @param {() => any} read what the form says
 * @param {Element} wrong where it is said that the JSON is none
 */
export function twoForms(settings, draw, read, wrong) {
	let asForm = true,
		now = settings;
	const text = el("textarea", { rows: 24, "aria-label": "Settings as JSON" });
	const current = () => (asForm ? { ...now, ...read() } : JSON.parse(text.value));
	const fields = el("div", { class: "form" }, ...draw(now));
	const turn = (next, content, fill) => () => {
		if (asForm !== next) {
			now = current();
			asForm = next;
			wrong.replaceChildren();
			fill();
		}
		return content;
	};
	const node = tabbed(
		[
			["Form", turn(true, fields, () => fields.replaceChildren(...draw(now)))],
			[
				"JSON",
				turn(false, text, () => {
					text.value = JSON.stringify(now, null, 2);
				}),
			],
		],
		wrong,
	);
	return { node, read: current };
}

function control(name, schema, value, reads) {
	const type = [schema?.type].flat()[0];
	const kind = schema?.enum ? "choice" : type === "boolean" ? "switch" : type === "integer" ? "number" : type === "string" ? "text" : Array.isArray(value) ? "list" : "json";
	if (kind === "list" || kind === "json") {
		// Attributes with rules of their own are objects, which a line cannot hold.
		const lines = kind === "list" && value.every((v) => typeof v === "string");
		const text = lines ? value.join("\n") : JSON.stringify(value, null, 2);
		const rows = Math.min(14, Math.max(2, text.split("\n").length));
		const box = el("textarea", { rows, placeholder: lines && "one a line", value: text });
		reads.set(name, () =>
			lines
				? box.value
						.trim()
						.split(/\s*\n\s*/)
						.filter(Boolean)
				: JSON.parse(box.value),
		);
		return box;
	}
	if (kind === "switch" || kind === "choice") {
		const box = select(schema.enum?.filter(Boolean) ?? { true: "on", false: "off" }, String(value));
		reads.set(name, () => (kind === "switch" ? box.value === "true" : box.value));
		return box;
	}
	const box = el("input", { type: kind, value: value ?? "", placeholder: "none" });
	reads.set(name, () => (box.value === "" ? null : kind === "number" ? Number(box.value) : box.value));
	return box;
}

/** The settings that differ. */
export function changes(before, after) {
	const patch = {};
	for (const [name, value] of Object.entries(after)) if (JSON.stringify(before[name] ?? null) !== JSON.stringify(value)) patch[name] = value;
	return patch;
}

const shown = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : null);

/** Setting by setting; of one that has parts, part by part. */
const differences = (before, patch, within = "") =>
	Object.entries(patch).flatMap(([name, value]) => {
		const title = within + label(name);
		if (shown(value) && shown(before[name])) return differences(before[name], changes(before[name], value), `${title}: `);
		const text = (v) => (secrets.has(name) && v ? "…" : (JSON.stringify(v) ?? "not set"));
		return [el("li", el("strong", title), el("br"), el("del", text(before[name])), el("br"), el("ins", text(value)))];
	});

const diff = (before, patch) => el("ul", { class: "diff" }, ...differences(before, patch));

function danger(uid, route) {
	const name = named({ value: uid }),
		wrong = el("div");
	const run = (act, said, next) =>
		attempt(wrong, async () => {
			await apply(await act());
			tell(said);
			if (location.hash === next) renew();
			else location.hash = next;
		});
	const removal = (title, question, consequence, path, next) =>
		button(title, async () => (await confirmed(question, consequence)) && run(() => call("DELETE", path), "Deleted.", next), "danger");
	return el(
		"div",
		session.can("indexes.swap") &&
			form(
				"row",
				wrong,
				() => run(() => call("POST", "/swap-indexes", [{ indexes: [uid, name.value], rename: true }]), "Renamed.", at`#/indexes/${name.value}`),
				field("Name", name),
				submit("Rename", ""),
			),
		wrong,
		buttons(
			session.can("documents.delete") &&
				removal("Delete all documents", `Delete all documents of ${uid}?`, "The settings stay. This cannot be undone.", `${route}/documents`, location.hash),
			session.can("indexes.delete") && removal("Delete index", `Delete the index ${uid}?`, "Its documents and its settings go. This cannot be undone.", route, "#/indexes"),
		),
	);
}
