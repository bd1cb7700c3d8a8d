// Add documents, look at them, change them, delete them.
import { apply, at, call } from "./api.js";
import {
	attempt,
	beginning,
	button,
	buttons,
	confirmed,
	count,
	counted,
	el,
	empty,
	field,
	form,
	heading,
	hide,
	json,
	named,
	orders,
	pager,
	problem,
	quoted,
	row,
	show,
	soft,
	submit,
	table,
	tell,
	time,
	titleOf,
} from "./dom.js";
import { session } from "./session.js";
import { file } from "./sources.js";
import { dropZone } from "./upload.js";

const size = 20; // documents a page

/** @type {import("./app.js").Draw} */
export async function documents(root, path) {
	root.append(...heading("Documents", "What is searched and quoted. Documents live in an index, a collection with settings of its own."));
	const uids = await session.indexes();
	const uid = named({ list: "indexes", value: path[0] ?? uids[0] ?? "notes" });
	const filter = el("input", { placeholder: "all documents" }),
		sort = el("select");
	const list = el("div"),
		files = el("div"),
		state = el("div", { role: "status" });
	root.append(el("datalist", { id: "indexes" }, ...uids.map((u) => el("option", { value: u }))), row(field("Index", uid, "A new name makes a new index.")));
	if (session.can("documents.add")) {
		root.append(
			dropZone({
				into: path[0],
				done: (index) => {
					if (index === uid.value) return draw();
					location.hash = at`#/documents/${index}`;
				},
			}).node,
		);
	}
	const passages = el(
		"details",
		{ open: true },
		el("summary", "Documents, one by one"),
		form(
			"row",
			state,
			() => browse(0),
			el("div", { class: "grow" }, field("Filter", filter)),
			field("Order", sort),
			submit("Show", ""),
			session.can("documents.delete") && button("Delete these", () => attempt(state, removeFiltered), "danger"),
		),
		list,
	);
	root.append(state, files, passages);
	sort.addEventListener("change", () => browse(0));
	uid.addEventListener("change", () => {
		if (uid.value) location.hash = at`#/documents/${uid.value}`;
	});
	const settings = uid.value && session.can("settings.get") ? await call("GET", at`/indexes/${uid.value}/settings`).catch(() => null) : null;
	sort.replaceChildren(...orders(settings, "as added").children);
	sort.value = "";
	sort.parentElement.hidden = sort.options.length < 2;

	const route = () => at`/indexes/${uid.value}`;
	async function draw() {
		await Promise.all([listFiles(0), browse(0)]);
	}
	/** The files that the index has passages of, if any; what they are made of is folded then. @param {number} offset */
	async function listFiles(offset) {
		const page = uid.value && session.can("documents.get") ? await call("GET", `${route()}/files?offset=${offset}&limit=${size}`).catch(() => null) : null;
		passages.open = !page?.total;
		files.replaceChildren();
		if (!page?.total) return;
		files.append(
			el("h2", "Files"),
			table(
				["File", ["Passages", "number"], "Read", ""],
				page.results.map((f) => [
					el(
						"span",
						button(f.path, () => file(uid.value, { path: f.path, group: f.source })),
						f.title && f.title !== f.path && el("small", f.title),
					),
					count(f.passages),
					time(f.readAt),
					session.can("documents.delete") ? button("Delete", () => attempt(state, () => removeFile(f)), "danger") : "",
				]),
				"The files of this index",
			),
			pager(offset, page.results.length, page.total, size, "files", listFiles),
		);
	}
	async function removeFile(f) {
		if (!(await confirmed(`Delete ${f.path} from ${uid.value}?`, `Its ${counted(f.passages, "passage goes", "passages go")}; the file itself stays where it is.`))) return;
		await apply(await call("POST", `${route()}/documents/delete`, { filter: `group = ${quoted(f.source)} AND path = ${quoted(f.path)}` }));
		await draw();
		tell("Deleted.");
	}
	async function browse(offset) {
		if (!uid.value) return;
		state.replaceChildren();
		try {
			const [page, info] = await Promise.all([
				call("POST", `${route()}/documents/fetch`, {
					offset,
					limit: size,
					filter: filter.value || undefined,
					sort: sort.value ? [sort.value] : undefined,
				}),
				session.can("indexes.get") ? call("GET", route()) : null,
			]);
			if (page.total === 0) {
				list.replaceChildren(empty("No documents", filter.value ? "None meets the filter." : "Drop files above to add some."));
				return;
			}
			list.replaceChildren(...page.results.map((d) => card(d, info?.primaryKey ?? "id", offset)), pager(offset, page.results.length, page.total, size, "documents", browse));
		} catch (err) {
			list.replaceChildren(err.code === "index_not_found" ? empty("A new index", "The first documents that you add make it.") : problem(err));
		}
	}
	function card(d, pk, offset) {
		const id = String(d[pk]);
		const rest = Object.entries(d)
			.filter(([, v]) => v !== titleOf(d))
			.map(([k, v]) => `${k}: ${typeof v === "string" ? v : JSON.stringify(v)}`)
			.join(" · ");
		return el(
			"article",
			{ class: "card" },
			el("h3", titleOf(d) ?? id),
			soft(beginning(rest, 300)),
			buttons(
				button("Open", () => show(id, json(d))),
				session.can("documents.add") && button("Edit", () => edit(d, pk, offset)),
				session.can("documents.delete") && button("Delete", () => attempt(state, () => remove(id, offset)), "danger"),
			),
		);
	}
	function edit(d, pk, offset) {
		const text = el("textarea", { rows: 18, "aria-label": "Document as JSON", value: JSON.stringify(d, null, 2) });
		const wrong = el("div");
		const save = async () => {
			const changed = JSON.parse(text.value);
			if (String(changed[pk]) !== String(d[pk])) throw new Error(`The id (${pk}) must stay ${d[pk]}: a document with another id is another document.`);
			await apply(await call("POST", `${route()}/documents`, [changed]));
			hide();
			await browse(offset);
			tell("Saved.");
		};
		show(`Edit ${d[pk]}`, text, wrong, buttons(button("Save", () => attempt(wrong, save), "main")));
	}
	async function remove(id, offset) {
		if (!(await confirmed(`Delete document ${id} of ${uid.value}?`, "This cannot be undone."))) return;
		await apply(await call("DELETE", `${route()}${at`/documents/${id}`}`));
		await browse(offset);
		tell("Deleted.");
	}
	async function removeFiltered() {
		if (!filter.value) throw new Error("Write a filter first. All documents of an index are deleted under Indexes.");
		const { total } = await call("POST", `${route()}/documents/fetch`, { limit: 0, filter: filter.value });
		if (!(await confirmed(`Delete ${counted(total, "document", "documents")} of ${uid.value}?`, `All that meet the filter ${filter.value}. This cannot be undone.`))) return;
		const task = await apply(await call("POST", `${route()}/documents/delete`, { filter: filter.value }));
		await browse(0);
		tell(`${counted(task.details?.deletedDocuments ?? 0, "document", "documents")} deleted.`);
	}
	await draw();
}
