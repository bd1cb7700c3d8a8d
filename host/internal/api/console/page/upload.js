// Files that a person drops become documents.
import { at, call, finished, request } from "./api.js";
import { attempt, beginning, button, buttons, counted, el, field, form, hint, named, problem, row, select, submit, table } from "./dom.js";
import { t } from "./i18n.js";
import { session } from "./session.js";

const rows = { json: "application/json", ndjson: "application/x-ndjson", jsonl: "application/x-ndjson", csv: "text/csv" };
const extension = (name) => name.split(".").pop()?.toLowerCase() ?? "";

/** The first rows of a file; a big one is not read whole. @returns {Promise<Record<string, any>[]>} */
async function firstRows(file) {
	const text = await file.slice(0, 1 << 18).text();
	if (extension(file.name) === "csv") return csv(text);
	const found = [];
	let depth = 0,
		begin = 0,
		quoted = false;
	for (let i = 0; i < text.length && found.length < 3; i++) {
		const c = text[i];
		if (quoted) {
			if (c === "\\") i++;
			else quoted = c !== '"';
		} else if (c === '"') quoted = true;
		else if (c === "{" && depth++ === 0) begin = i;
		else if (c === "}" && --depth === 0) found.push(JSON.parse(text.slice(begin, i + 1)));
	}
	return found;
}

/** Stands for ids that are made. No field is called so. */
const makeIds = "\n";

/** A file of rows with a field that numbers them. */
async function numbered(file, key) {
	const base = file.name
		.replace(/\.[^.]*$/, "")
		.replace(/[^A-Za-z0-9_-]+/g, "-")
		.slice(0, 100);
	let out = `${key},`,
		n = 0,
		quoted = false,
		from = 0;
	const text = (await file.text()).replace(/^\ufeff/, "").replace(/[\r\n]+$/, "");
	for (let i = 0; i < text.length; i++) {
		if (text[i] === '"') quoted = !quoted;
		if (text[i] !== "\n" || quoted) continue;
		out += `${text.slice(from, i + 1)}${base}-${++n},`;
		from = i + 1;
	}
	return new File([out, text.slice(from)], file.name);
}

/** The first three rows of a text of comma separated values. */
function csv(text) {
	const lines = [[""]];
	let quoted = false;
	for (const c of text) {
		const line = lines[lines.length - 1];
		if (c === '"') quoted = !quoted;
		else if (quoted || !",\n".includes(c)) line[line.length - 1] += c;
		else if (c === ",") line.push("");
		else if (lines.push([""]) > 4) break;
	}
	const [names, ...values] = lines.map((l) => l.map((cell) => cell.trim()));
	return values.slice(0, 3).map((v) => Object.fromEntries(names.map((name, i) => [name.split(":")[0], v[i] ?? ""])));
}

/** The files that were dropped, those in folders with their paths; no hidden ones. @param {DataTransfer} data */
export async function dropped(data) {
	/** @type {File[]} */
	const files = [];
	/** @param {any} entry of a file system */
	const walk = async (entry) => {
		if (!entry || entry.name.startsWith(".")) return;
		if (entry.isFile) {
			const file = await new Promise((ok, fail) => entry.file(ok, fail));
			files.push(new File([file], entry.fullPath.slice(1), { type: file.type }));
			return;
		}
		const reader = entry.createReader(); // gives some at a time
		for (;;) {
			const some = await new Promise((ok, fail) => reader.readEntries(ok, fail));
			if (some.length === 0) return;
			for (const e of some) await walk(e);
		}
	};
	for (const entry of [...data.items].map((i) => i.webkitGetAsEntry())) await walk(entry);
	return files;
}

/** What a collection of files may be called. */
function nameOf(files) {
	const [folder, file] = files[0].name.split("/");
	const name = (file ? folder : files.length > 1 ? "" : folder.replace(/\.[^.]*$/, ""))
		.normalize("NFKD")
		.replace(/[^A-Za-z0-9_-]+/g, "-")
		.replace(/^-+|-+$/g, "")
		.toLowerCase()
		.slice(0, 40);
	return name && name !== "docs" ? name : "notes";
}

/**
 * A place to drop or choose files. It asks which collection they go to: a new one by default.
 * @param {{into?: string, done: (index: string) => void|Promise<void>}} o into: the collection that is looked at; done is called once files can be found
 */
export function dropZone({ into, done }) {
	const pick = el("input", { type: "file", multiple: true, "aria-label": t`Files` }); // the service says what it cannot read
	const state = el("div", { role: "status" });
	const zone = el(
		"div",
		{ class: "drop" },
		el("p", el("strong", t`Drop files or a folder here, or choose files`)),
		pick,
		hint(t`Texts such as Markdown, HTML, PDF, Word, slides, mail and code. Rows: JSON, NDJSON, CSV.`),
		state,
	);

	/** Asks where files go to, and sends them there. */
	async function add(files) {
		state.replaceChildren();
		if (files.length === 0) return;
		const uids = await session.indexes();
		const place = select([["", t`A new collection`], ...uids], uids.includes(into ?? "") ? into : "");
		const name = named({ value: into && !uids.includes(into) ? into : nameOf(files) });
		const label = field(t`Name`, name);
		const turn = () => {
			label.hidden = name.disabled = place.value !== "";
		};
		place.addEventListener("change", turn);
		turn();
		const what = files.length === 1 ? files[0].name : t`${files.length} files`;
		const card = form(
			"card",
			state,
			async () => {
				card.remove();
				const index = place.value || name.value;
				// Texts share a task. Files of rows have one each, and a field with the id.
				const written = files.filter((f) => !rows[extension(f.name)]);
				for (let i = 0; i < written.length; i += 200) await send(index, written.slice(i, i + 200));
				for (const f of files) if (rows[extension(f.name)]) await attempt(state, () => look(index, f));
			},
			row(field(t`Into`, place, t`A collection can be asked and searched by itself.`), label),
			buttons(submit(t`Add ${beginning(what, 60)}`)),
		);
		state.append(card);
		card.querySelector("button")?.focus();
	}

	/** Shows the first rows of a file, and asks which field holds the id. */
	async function look(index, file) {
		const [first, info] = await Promise.all([firstRows(file), session.can("indexes.get") ? call("GET", at`/indexes/${index}`).catch(() => null) : null]);
		if (first.length === 0) throw new Error(`${file.name} begins with no row that can be read. It may be empty, or of another format.`);
		const names = [...new Set(first.flatMap((r) => Object.keys(r)))];
		const likely = names.filter((n) => n.toLowerCase().endsWith("id"));
		const pk = info?.primaryKey;
		const made = extension(file.name) === "csv" && !names.includes(pk ?? "id");
		const id = select(
			[["", "choose a field"], ...(made ? [[makeIds, "none: number the rows"]] : []), ...names],
			made && (pk || likely.length === 0) ? makeIds : (pk ?? (likely.length === 1 ? likely[0] : "")),
		);
		id.required = true;
		id.disabled = Boolean(pk);
		const asked = form(
			"card preview",
			state,
			async () => {
				asked.remove();
				if (id.value === makeIds) await send(index, [await numbered(file, pk ?? "id")], pk ?? "id");
				else await send(index, [file], pk ? undefined : id.value);
			},
			el("h3", file.name),
			table(
				names.slice(0, 6).map((n) => beginning(n, 40)),
				first.map((r) => names.slice(0, 6).map((n) => beginning(typeof r[n] === "string" ? r[n] : (JSON.stringify(r[n]) ?? ""), 80))),
				`The first rows of ${file.name}`,
			),
			field("Field with the id", id, pk ? "As the documents of this index have it." : "Documents are told apart by it; one with the same id takes the other's place."),
			buttons(
				submit(`Add to ${index}`),
				button("Leave it out", () => asked.remove()),
			),
		);
		state.append(asked);
	}

	/** Sends files that make one task, and waits until their documents can be found. @param {string} [primaryKey] */
	async function send(index, batch, primaryKey) {
		const name = batch.length === 1 ? batch[0].name : counted(batch.length, "file", "files");
		const bar = el("progress", { "aria-label": name, max: 1 });
		const says = el("p");
		const line = el("div", says, bar);
		/** @param {number|null} [part] */
		const tell = (text, part = null) => {
			says.replaceChildren(el("bdi", name), `: ${text}`);
			if (part === null) bar.removeAttribute("value");
			else bar.value = part;
		};
		tell("sending…");
		state.append(line);
		try {
			const sent = await (await upload(index, batch, primaryKey, (part) => tell("sending…", part))).json();
			if (!session.can("tasks.get")) {
				line.replaceChildren(el("p", `${name}: sent. This key may not see when it is done.`));
				return;
			}
			const task = await finished(sent.taskUid, async (t) => {
				tell(t.status === "enqueued" ? "waiting for its turn…" : "indexing…");
				const batch = t.batchUid == null ? null : await call("GET", `/batches/${t.batchUid}`).catch(() => null);
				if (batch?.progress) tell("indexing…", batch.progress.percentage / 100);
			});
			if (task.error) throw task.error;
			line.replaceChildren(el("p", { class: "good" }, el("bdi", name), `: ${counted(task.details?.indexedDocuments ?? 0, "document", "documents")} can be found now.`));
			for (const f of sent.files ?? []) if (f.error) line.append(el("p", { class: "bad" }, `${f.path}: ${f.error}`));
			await done(index);
		} catch (err) {
			line.replaceChildren(el("p", `${name}:`), problem(err));
		}
	}

	pick.addEventListener("change", async () => {
		await attempt(state, () => add([...(pick.files ?? [])]));
		pick.value = ""; // the same file may be chosen again
	});
	zone.addEventListener("dragover", (e) => {
		e.preventDefault();
		zone.classList.add("over");
	});
	zone.addEventListener("dragleave", () => zone.classList.remove("over"));
	zone.addEventListener("drop", (e) => {
		e.preventDefault();
		zone.classList.remove("over");
		e.stopPropagation();
		const data = e.dataTransfer;
		if (data) attempt(state, async () => add(await dropped(data)));
	});
	return { node: zone, add };
}

function upload(index, batch, primaryKey, progress) {
	const type = rows[extension(batch[0].name)];
	const route = at`/indexes/${index}`;
	if (type) return request("POST", `${route}/documents${primaryKey ? at`?primaryKey=${primaryKey}` : ""}`, { body: batch[0], type, progress });
	const parts = new FormData();
	for (const f of batch) parts.append("files", f, f.name);
	return request("POST", `${route}/files?source=console`, { form: parts, progress });
}

/**
 * Makes sure that somebody answers from an index: returns a workspace that searches it, a new one where there is none
 * and a provider is there to answer without a model; null where nobody can.
 * @param {string} index
 * @returns {Promise<string|null>}
 */
export async function workspaceFor(index) {
	if (!session.can("chatsSettings.get", "plugins.get", "chats.get")) return (await session.workspaces())[0] ?? null;
	for (const uid of await session.workspaces()) {
		const s = await call("GET", at`/chats/${uid}/settings`);
		if (s.source && (s.indexUids === null || s.indexUids?.includes(index))) return uid;
	}
	const plugins = (await call("GET", "/plugins")).results;
	const quotes = plugins.find((p) => p.source === "extract" && p.state === "ready");
	if (!quotes || !session.can("chatsSettings.update")) return null;
	await call("PATCH", at`/chats/${index}/settings`, { source: "extract", indexUids: [index] });
	return index;
}
