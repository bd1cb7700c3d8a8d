// Add documents, look at them, change them, delete them.
import { apply, at, call, request } from "./api.js";
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
	linked,
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

export async function documents(root, path) {
	root.append(...heading("Documents", "What is searched and quoted. Documents live in an index, a collection with settings of its own."));
	const uids = await session.indexes();
	const uid = named({ list: "indexes", value: path[0] ?? uids[0] ?? "notes" });
	const filter = el("input", { placeholder: "all documents" }),
		sort = el("select");
	const list = el("div"),
		files = el("div"),
		find = el("input", { type: "search", placeholder: "part of its name" }),
		state = el("div", { role: "status" });
	root.append(el("datalist", { id: "indexes" }, ...uids.map((u) => el("option", { value: u }))), row(field("Index", uid, "A new name makes a new index.")));
	if (session.can("documents.add")) {
		root.append(
			dropZone({
				into: path[0],
				done: (index) => {
					uid.value = index;
					history.replaceState(null, "", at`#/documents/${index}`); // what the zone says stays
					return draw();
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
	const finder = field("Find a file", find),
		skipped = el("div");
	root.append(state, row(el("div", { class: "grow" }, finder)), files, skipped, passages);
	find.addEventListener("input", () => attempt(state, () => listFiles(0)));
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
	/** The files of the index, if any; what they are made of is folded then. */
	async function listFiles(offset) {
		const query = new URLSearchParams({ offset: String(offset), limit: String(size), q: find.value });
		const page = uid.value && session.can("documents.get") ? await call("GET", `${route()}/files?${query}`).catch(() => null) : null;
		if (query.get("q") !== find.value) return; // more was typed meanwhile
		const some = page?.total > 0 || (page && find.value);
		passages.open = !some;
		finder.hidden = !some;
		files.replaceChildren();
		const unread = page?.skipped ?? [];
		skipped.replaceChildren(
			unread.length > 0
				? el(
						"details",
						el("summary", `Files that could not be read: ${count(unread.length)}`),
						table(
							["File", "Why", "When"],
							unread.map((f) => [f.path, f.error, time(f.sentAt)]),
							"Files that could not be read",
						),
					)
				: "",
		);
		if (!some) return;
		const tried = unread.find((f) => f.path.toLowerCase().includes(find.value.toLowerCase()));
		files.append(
			page.total === 0
				? empty(
						"No such file",
						tried ? `${tried.path} could not be read: ${tried.error}.` : "No file here has that in its name or title. Search for what it says.",
						linked("Search", at`#/search/${uid.value}`, "button"),
					)
				: table(
						["File", ["Passages", "number"], "Read", ""],
						page.results.map((f) => [
							el(
								"span",
								button(f.path, () => file(uid.value, { path: f.path, group: f.source })),
								f.title && f.title !== f.path && el("small", f.title),
							),
							count(f.passages),
							time(f.readAt),
							buttons(
								session.can("documents.add") && button("Read again", () => readAgain(f)),
								session.can("documents.delete") && button("Delete", () => attempt(state, () => removeFile(f)), "danger"),
							),
						]),
						"The files of this index",
					),
			page.total > 0 ? pager(offset, page.results.length, page.total, size, "files", listFiles) : "",
		);
	}
	/** Has a file chosen that takes the place of f. */
	function readAgain(f) {
		const pick = el("input", {
			type: "file",
			onchange: () =>
				attempt(state, async () => {
					const parts = new FormData();
					parts.append("files", pick.files[0], f.path);
					state.replaceChildren(soft(`Reading ${f.path}…`));
					await apply(await (await request("POST", `${route()}/files?${new URLSearchParams({ source: f.source })}`, { form: parts })).json());
					await draw();
					tell(`${f.path} was read again.`);
				}),
		});
		pick.click();
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
