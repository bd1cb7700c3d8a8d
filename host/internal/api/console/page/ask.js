// The first view: a conversation with a workspace, and the list of those before it.
import { asCode, asCurl, at, call, events, request } from "./api.js";
import { button, buttons, confirmed, copyButton, count, counted, download, el, field, form, hide, menu, pre, problem, select, show, size, soft, submit, tell } from "./dom.js";
import { thumbs } from "./feedback.js";
import { t } from "./i18n.js";
import { Growing, markdown } from "./markdown.js";
import { session } from "./session.js";
import { cards, citing } from "./sources.js";
import { start } from "./start.js";
import { asMarkdown, drafts, fileName, talks, watch } from "./talks.js";
import { dropped, dropZone } from "./upload.js";

/** @typedef {import("./talks.js").Talk} Talk @typedef {import("./talks.js").Message} Message @typedef {import("./talks.js").Search} Search */

/** What the service is asked to tell of its searches. */
const reports = ["searchProgress", "searchSources", "appendConversationMessage"].map((name) => ({ type: "function", function: { name } }));

/**
 * An answer under way. It goes on where its view is left, and is shown again by the next one.
 * @typedef {{talk: Talk, control: AbortController, message: Message, write: (more: string) => void, searched: () => void, ended: (err: any) => void}} Run
 */

/** Those under way, by conversation. @type {Map<string, Run>} */
const running = new Map();

/** @param {Talk} talk @param {number} i the place of the question */
const bodyOf = (talk, i, model) => ({
	model: model || "any",
	messages: talk.messages.slice(0, i + 1).map(({ role, content }) => ({ role, content })),
	stream: true,
	stream_options: { include_usage: true },
	tools: reports,
});

/** Reads the stream of an answer into its message. */
async function read(response, run, began) {
	const { message } = run;
	/** @type {Search[]} */
	const searches = [];
	message.searches = searches;
	let usage = /** @type {any} */ (null),
		failed = /** @type {any} */ (null),
		first = 0,
		rounds = 1;
	await events(response, (data) => {
		if (data === "[DONE]") return;
		const chunk = JSON.parse(data);
		if (chunk.error) failed ??= { ...chunk.error, link: chunk.link };
		usage = chunk.usage ?? usage;
		const delta = chunk.choices?.[0]?.delta ?? {};
		for (const { function: f } of delta.tool_calls ?? []) {
			if (!reports.some((r) => r.function.name === f?.name)) continue;
			const said = JSON.parse(f.arguments);
			const known = searches.find((s) => s.id === (said.call_id ?? said.tool_call_id));
			if (f.name === "searchProgress") searches.push({ id: said.call_id, asked: JSON.parse(said.function_arguments || "{}") });
			else if (known && f.name === "searchSources") known.documents = said.documents;
			else if (known && said.role === "tool") known.text = said.content;
			else if (said.role === "assistant") rounds++; // it searches, and is asked again
			run.searched();
		}
		if (delta.content) {
			first ||= performance.now() - began;
			message.content += delta.content;
			run.write(delta.content);
		}
	});
	if (failed) throw failed;
	message.facts = [first && t`${count(Math.round(first))} ms to the first word`, usage && t`${count(usage.total_tokens)} tokens`, counted(rounds, t`round`, t`rounds`)]
		.filter(Boolean)
		.join(", ");
}

/** @param {Talk} talk */
async function keep(talk) {
	talk.changed = Date.now();
	try {
		await talks.put(talk);
	} catch (err) {
		tell(t`This conversation is not kept, only shown: ${err?.message ?? err} Save it as a file, or delete old ones.`);
	}
}

/**
 * Asks for the answer to the last question of a conversation. Where none comes, the question is taken back, and
 * the messages that were replaced come back.
 * @param {Talk} talk @param {Message[]} replaced @param {Pick<Run, "write"|"searched"|"ended">} shown
 */
async function answer(talk, replaced, shown) {
	const i = talk.messages.length - 1;
	/** @type {Run} */
	const run = { talk, control: new AbortController(), message: { role: "assistant", content: "", workspace: talk.workspace }, ...shown };
	running.set(talk.id, run);
	await keep(talk);
	let err = null;
	const began = performance.now();
	try {
		await read(await request("POST", at`/chats/${talk.workspace}/chat/completions`, { body: bodyOf(talk, i, talk.model), signal: run.control.signal }), run, began);
	} catch (e) {
		if (run.control.signal.aborted) run.message.facts = t`stopped`;
		else err = e;
	}
	running.delete(talk.id);
	if (run.message.content) {
		talk.messages.push(run.message);
		localStorage.setItem("parley-asked", "yes");
	} else {
		const [{ content }] = talk.messages.splice(i, 1, ...replaced);
		const place = talk.messages.length > 0 ? talk.id : "";
		if (!drafts.get(place)) drafts.set(place, content); // nothing that was typed is lost
	}
	if (talk.messages.length > 0) await keep(talk);
	else await talks.remove(talk.id);
	run.ended(err);
}

/** @param {Search} s */
const asked = (s) =>
	s.asked.filter
		? t`${s.asked.indexUid ?? t`all collections`} for “${s.asked.q ?? ""}” where ${s.asked.filter}`
		: t`${s.asked.indexUid ?? t`all collections`} for “${s.asked.q ?? ""}”`;

/** @param {Search[]} searches */
const lines = (searches) =>
	searches.map((s) => el("li", s.documents ? t`Searched ${asked(s)}: ${s.documents.length === 0 ? t`nothing` : count(s.documents.length)} found` : t`Searching ${asked(s)}…`));

/** @param {Message} m */
const seen = (m) =>
	(m.searches ?? []).map((s) =>
		el(
			"section",
			el("h3", t`Searched ${asked(s)}`),
			soft(t`${counted(s.documents?.length ?? 0, t`document`, t`documents`)}. The model got ${size(new TextEncoder().encode(s.text ?? "").length)}:`),
			pre(s.text || t`nothing`),
		),
	);

/** Questions that the headings of a workspace's documents suggest. @returns {Promise<string[]>} */
async function examples(uid, left) {
	const own = session.can("chatsSettings.get") ? (await call("GET", at`/chats/${uid}/settings`, undefined, left)).indexUids : null;
	const [index] = own ?? (await session.indexes());
	if (!index) return [];
	const { hits } = await call("POST", at`/indexes/${index}/search`, { q: "", limit: 200, attributesToRetrieve: ["title", "name", "headings"] }, left);
	const all = hits
		.map((h) => [h.title ?? h.name, h.headings?.at(-1)])
		.filter(([title, heading]) => typeof title === "string" && [title, heading ?? ""].every((x) => x.length < 60 && !/[<>`]/.test(x)));
	const headed = all.filter(([, heading]) => heading);
	const from = headed.length > 0 ? headed : all;
	const some = [0.1, 0.4, 0.65, 0.9].map((part) => from[Math.floor(part * from.length)]).filter(Boolean);
	return [
		...new Set(some.map(([title, heading]) => (/\?$/.test(heading ?? "") ? heading : heading ? t`What does “${title}” say about “${heading}”?` : t`What is “${title}” about?`))),
	];
}

export async function ask(root, path, left) {
	const uids = await session.workspaces();
	if (uids.length === 0) return start(root);
	const [wanted, id] = path;
	/** @type {Talk|null} */
	const kept = id ? (running.get(id)?.talk ?? (await talks.get(id))) : null;
	const chosen = [kept?.workspace, wanted, localStorage.getItem("parley-workspace"), uids[0]].find((u) => u && uids.includes(u)) ?? "";
	/** @type {Talk} */
	let talk = kept ?? { id: "", title: "", workspace: chosen, model: "", changed: 0, messages: [] };
	talk.workspace = chosen;
	/** The messages that an edited question takes the place of, and where. */
	let editing = -1;

	const title = el("h1", talk.title || t`Ask your documents`);
	const workspace = select(uids, chosen);
	workspace.setAttribute("aria-label", t`Workspace`);
	const model = el("input", { value: talk.model, placeholder: t`the workspace's own` });
	const turns = el("div", { class: "turns", "aria-live": "polite" });
	const box = el("textarea", { rows: 1, spellcheck: "true", placeholder: t`Ask a question`, "aria-label": t`Question`, value: drafts.get(talk.id) });
	const send = submit(t`Ask`);
	const stop = el("button", { hidden: true, onclick: () => running.get(talk.id)?.control.abort() }, t`Stop`);
	const quote = el("button", { hidden: true, onclick: quoteSelected }, t`Quote selection`);
	const note = el("p", { class: "hint", role: "status" });
	const pick = el("input", { type: "file", multiple: true, hidden: true, onchange: () => add([...pick.files]) });
	const ways = menu(
		t`More`,
		field(t`Model`, model),
		button(t`Rename`, rename),
		button(t`Save as Markdown`, () => download(`${fileName(talk)}.md`, asMarkdown(talk))),
		button(t`Save as JSON`, () => download(`${fileName(talk)}.json`, JSON.stringify(talk, null, 2))),
		copyButton(t`Copy the link to this workspace`, () => `${location.origin}${location.pathname}${at`#/ask/${talk.workspace}`}`),
		button(t`Delete`, remove, "danger"),
	);
	const compose = form(
		"compose",
		note,
		async () => {
			const question = box.value.trim();
			if (question && !running.has(talk.id)) put(question);
		},
		note,
		box,
		el(
			"div",
			{ class: "buttons" },
			session.can("documents.add") && button(t`Add files`, () => pick.click()),
			session.can("documents.add") && pick,
			quote,
			el("span", { class: "soft grow" }, t`Enter sends, Shift + Enter breaks the line.`),
			stop,
			send,
		),
	);
	root.classList.add("ask");
	root.append(el("div", { class: "bar" }, title, el("span", { class: "soft wide" }, t`Workspace`), workspace, ways), turns, compose);
	if (id && !kept) note.replaceChildren(t`That conversation is kept in another browser. Here a new one begins, in the same workspace.`);

	/** @param {number} i the place of the question */
	const questionCard = (i) =>
		el(
			"section",
			{ class: "turn user", "aria-label": t`Question` },
			el("p", talk.messages[i].content),
			buttons(
				button(t`Edit`, () => edit(i)),
				button(t`Ask again`, () => again(i)),
			),
		);

	/** What stands below an answer. @param {Message} m @param {number} i the place of its question */
	const foot = (m, i) => {
		const body = bodyOf(talk, i, talk.model);
		const uid = m.workspace ?? talk.workspace;
		const others = uids.filter((u) => u !== uid).slice(0, 8);
		return buttons(
			copyButton(t`Copy`, () => m.content),
			button(t`Regenerate`, () => again(i)),
			thumbs(uid, m, talk.messages[i]?.content ?? "", () => keep(talk)),
			m.searches?.length ? button(t`What the model saw`, () => show(t`What the model saw`, ...seen(m))) : null,
			menu(
				t`More`,
				...others.map((u) => button(t`Ask ${u} instead`, () => again(i, u))),
				copyButton(t`Copy as curl`, () => asCurl("POST", at`/chats/${uid}/chat/completions`, { body })),
				copyButton("Python", () => asCode("python", uid, body)),
				copyButton("JavaScript", () => asCode("javascript", uid, body)),
			),
			el("span", { class: "soft" }, m.facts ?? ""),
		);
	};

	/** @param {Message} m @param {number} i the place of its question */
	const answerCard = (m, i) =>
		el(
			"section",
			{ class: "turn answer", "aria-label": t`Answer` },
			el(
				"div",
				el("ul", { class: "searches" }, ...lines(m.searches ?? [])),
				el(
					"div",
					{ class: "text" },
					markdown(
						m.content,
						citing(() => m),
					),
				),
				foot(m, i),
			),
			cards(m),
		);

	/** Draws an answer while it comes. @param {boolean} anew it has just been asked for */
	function grow(anew) {
		const searches = el("ul", { class: "searches" }, el("li", t`Asking ${talk.workspace}…`)),
			text = el("div", { class: "text busy" }),
			body = el("div", searches, text),
			card = el("section", { class: "turn answer now", "aria-label": t`Answer`, "aria-busy": "true" }, body);
		turns.append(card);
		/** @type {Message} */
		let message = { role: "assistant", content: "" };
		const growing = new Growing(
			text,
			citing(() => message),
		);
		send.hidden = true;
		stop.hidden = false;
		const shown = {
			write: (more) => {
				message = running.get(talk.id)?.message ?? message;
				growing.add(more);
			},
			searched: () => searches.replaceChildren(...lines(running.get(talk.id)?.message.searches ?? [])),
			ended: (err) => {
				if (left.aborted) return;
				send.hidden = false;
				stop.hidden = true;
				text.classList.remove("busy");
				card.removeAttribute("aria-busy");
				growing.end();
				const i = talk.messages.length - 1;
				message = talk.messages[i];
				if (growing.text) {
					searches.replaceChildren(...lines(message.searches ?? []));
					if (err) body.append(problem(err));
					body.append(foot(message, i - 1));
					const aside = cards(message);
					if (aside) card.append(aside);
				} else {
					searches.replaceChildren();
					body.append(err ? problem(err) : soft(t`stopped`));
					const typed = box.value || lost;
					if (talk.messages.length === 0) {
						drafts.set(talk.id, "");
						talk.id = "";
						history.replaceState(null, "", at`#/ask/${talk.workspace}`);
					}
					write(typed);
				}
				if (document.activeElement === document.body || document.activeElement === stop) box.focus({ preventScroll: true });
			},
		};
		const lost = talk.messages.at(-1)?.content ?? "";
		if (!anew) {
			const run = /** @type {Run} */ (running.get(talk.id));
			Object.assign(run, shown);
			shown.searched();
			if (run.message.content) shown.write(run.message.content);
		}
		return shown;
	}

	/** Asks a question: a new one, or one in place of an earlier one. */
	async function put(question) {
		const at = editing < 0 ? talk.messages.length : editing;
		await from(at, question);
	}

	/** Asks for another answer to the question at i. @param {string} [uid] of another workspace */
	async function again(i, uid) {
		if (running.has(talk.id)) return;
		if (uid) workspace.value = uid;
		const m = talk.messages[i];
		await from(i, m?.role === "user" ? m.content : box.value.trim());
	}

	/** Asks a question in place of what comes from i on; of more than one answer, in a new conversation. */
	async function from(i, question) {
		if (!question) return;
		if (i + 2 < talk.messages.length) {
			talk = { ...talk, id: "", title: "", messages: talk.messages.slice(0, i) };
			tell(t`The conversation goes on as a new one. The one before is kept.`);
		}
		const replaced = talk.messages.splice(i);
		talk.workspace = workspace.value;
		talk.model = model.value.trim();
		localStorage.setItem("parley-workspace", talk.workspace);
		if (box.value.trim() === question || editing >= 0) write("");
		editing = -1;
		note.replaceChildren();
		if (!talk.id) {
			drafts.set("", "");
			talk.id = `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
			talk.title = question.replace(/\s+/g, " ").slice(0, 80);
			title.replaceChildren(talk.title);
		}
		talk.messages.push({ role: "user", content: question });
		history.replaceState(null, "", at`#/ask/${talk.workspace}/${talk.id}`);
		document.title = `${talk.title} · Parley`;
		while (turns.children.length > i) turns.lastElementChild?.remove(); // what is above stays as it is drawn
		turns.append(questionCard(i));
		const shown = grow(true);
		turns.querySelector(".turn.user:nth-last-child(2)")?.scrollIntoView({ block: "start" });
		await answer(talk, replaced, shown);
	}

	function edit(i) {
		if (running.has(talk.id)) return;
		editing = talk.messages[i] ? i : -1;
		write(talk.messages[i]?.content ?? box.value);
		note.replaceChildren(
			t`You change an earlier question.`,
			" ",
			button(t`Leave it as it is`, () => {
				editing = -1;
				write("");
				note.replaceChildren();
			}),
		);
	}

	function redraw() {
		turns.replaceChildren(...talk.messages.map((m, i) => (m.role === "user" ? questionCard(i) : answerCard(m, i - 1))));
		if (talk.messages.length > 0) {
			if (talk.messages.at(-1)?.role === "user" && !running.has(talk.id) && talk.id === id) turns.append(soft(t`The page was closed before an answer came. Ask again.`));
			return;
		}
		const some = el("div", { class: "examples" });
		turns.append(
			el(
				"div",
				{ class: "welcome" },
				el("h2", t`What do you want to know?`),
				el("p", t`The answer names the places that it rests on, and you can look at all that the model was given.`),
				some,
			),
		);
		examples(talk.workspace, left)
			.then((all) => some.replaceChildren(...all.map((q) => button(q, () => put(q)))))
			.catch(() => {}); // the box is there
	}

	function write(text) {
		box.value = text;
		drafts.set(talk.id, text);
		if (text) box.focus();
	}

	function quoteSelected() {
		const text = String(getSelection()).trim();
		if (text) write(`${box.value ? `${box.value}\n` : ""}${text.replace(/^/gm, "> ")}\n\n`);
		getSelection()?.removeAllRanges();
	}

	function rename() {
		const name = el("input", { value: talk.title, required: true, maxlength: 200 });
		const wrong = el("div");
		show(
			t`Rename`,
			form(
				"form",
				wrong,
				async () => {
					talk.title = name.value.trim() || talk.title;
					title.replaceChildren(talk.title);
					if (talk.id) await keep(talk);
					hide();
				},
				field(t`Name`, name),
				buttons(submit(t`Rename`)),
				wrong,
			),
		);
		name.select();
	}

	async function remove() {
		if (!talk.id) return write("");
		if (!(await confirmed(t`Delete “${talk.title}”?`, t`It is kept in this browser only. This cannot be undone.`, t`Delete`, t`Cancel`))) return;
		running.get(talk.id)?.control.abort();
		drafts.set(talk.id, "");
		await talks.remove(talk.id);
		location.hash = at`#/ask/${talk.workspace}`;
	}

	/** Imports files, and asks what was typed. @param {File[]|DataTransfer} files */
	async function add(files) {
		const zone = dropZone({
			done: async (index) => {
				if (session.can("chatsSettings.get", "chatsSettings.update")) {
					const route = at`/chats/${workspace.value}/settings`;
					const { indexUids } = await call("GET", route);
					if (indexUids && !indexUids.includes(index)) await call("PATCH", route, { indexUids: [...indexUids, index] });
				}
				hide();
				tell(t`The files are there: ask about them.`);
				if (box.value.trim() && !running.has(talk.id)) put(box.value.trim());
				else box.focus();
			},
		});
		show(t`Add files to ask about`, soft(t`They become part of a collection that ${workspace.value} searches.`), zone.node);
		await zone.add(files instanceof DataTransfer ? await dropped(files) : files);
		pick.value = "";
	}

	left.addEventListener("abort", () => document.removeEventListener("selectionchange", selected));
	const selected = () => {
		const s = getSelection();
		quote.hidden = !s || s.isCollapsed || !s.anchorNode || !turns.contains(s.anchorNode);
	};
	document.addEventListener("selectionchange", selected);
	workspace.addEventListener("change", () => {
		if (talk.messages.length === 0) location.hash = at`#/ask/${workspace.value}`;
	});
	box.addEventListener("input", () => drafts.set(talk.id, box.value));
	/** Whether a key sends. On a phone, without Shift + Enter, Enter breaks the line. */
	const sends = (e) => e.key === "Enter" && (e.ctrlKey || e.metaKey || (!e.shiftKey && !matchMedia("(pointer: coarse)").matches));
	box.addEventListener("keypress", (e) => sends(e) && e.preventDefault());
	box.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
		if (e.isComposing || e.keyCode === 229) return; // of an input method
		if (sends(e)) {
			e.preventDefault();
			compose.requestSubmit();
		}
		if (e.key === "Escape") running.get(talk.id)?.control.abort();
		if (e.key === "ArrowUp" && !box.value) {
			const last = talk.messages.findLastIndex((m) => m.role === "user");
			if (last >= 0) edit(last);
		}
	});
	if (session.can("documents.add")) {
		root.addEventListener("dragover", (e) => {
			e.preventDefault();
			root.classList.add("over");
		});
		root.addEventListener("dragleave", (e) => !root.contains(/** @type {Node} */ (e.relatedTarget)) && root.classList.remove("over"));
		root.addEventListener("drop", (e) => {
			e.preventDefault();
			root.classList.remove("over");
			if (e.dataTransfer?.types.includes("Files")) add(e.dataTransfer);
		});
	}
	watch(async (changed) => {
		if (changed !== talk.id || running.has(talk.id)) return;
		const now = await talks.get(talk.id);
		if (now && now.changed > talk.changed) {
			talk = now; // another tab has gone on with it
			redraw();
		}
	}, left);
	redraw();
	if (talk.id && running.has(talk.id)) grow(false);
	turns.querySelector(".turn.user:nth-last-child(-n + 2)")?.scrollIntoView({ block: "start" });
	box.focus({ preventScroll: true });
}

/** Draws the list of conversations beside the views. @param {HTMLElement} into */
export function sidebar(into) {
	const find = el("input", { type: "search", placeholder: t`Search conversations`, "aria-label": t`Search conversations` });
	const list = el("ul");
	const foot = el("p", { class: "hint" });
	let looking = new AbortController();
	async function draw() {
		looking.abort();
		looking = new AbortController();
		const { signal } = looking;
		const all = await talks.list();
		const text = find.value.trim();
		const found = text ? await talks.find(text, signal) : null;
		if (signal.aborted) return;
		const at = document.activeElement instanceof HTMLAnchorElement && list.contains(document.activeElement) ? document.activeElement.hash : null;
		list.replaceChildren(
			...all
				.filter((h) => !found || found.has(h.id))
				.slice(0, 200)
				.map(entry),
		);
		foot.replaceChildren(
			all.length === 0 ? t`Your conversations will be listed here.` : found?.size === 0 ? t`No conversation has that.` : t`Kept in this browser only.`,
			" ",
			all.length > 0 ? button(t`Save all`, async () => download("conversations.json", JSON.stringify(await talks.all(), null, 2))) : "",
		);
		show();
		if (at) [...list.querySelectorAll("a")].find((a) => a.hash === at)?.focus();
	}
	/** @param {import("./talks.js").Head} h */
	const entry = (h) => el("li", el("a", { href: at`#/ask/${h.workspace}/${h.id}`, title: h.title }, el("bdi", h.title)));
	const show = () => {
		const id = location.hash.split("/")[3];
		for (const a of list.querySelectorAll("a")) {
			if (id && a.hash.endsWith(`/${id}`)) a.setAttribute("aria-current", "page");
			else a.removeAttribute("aria-current");
		}
	};
	find.addEventListener("input", draw);
	addEventListener("hashchange", show);
	watch(draw);
	into.replaceChildren(button(t`New conversation`, begin, "new"), find, list, foot);
	draw();
}

/** Begins a conversation; those before it are kept. */
export function begin() {
	const [, view, uid] = location.hash.split("/");
	const to = view === "ask" && uid ? `#/ask/${uid}` : "#/ask";
	if (location.hash === to) dispatchEvent(new HashChangeEvent("hashchange"));
	else location.hash = to;
}
