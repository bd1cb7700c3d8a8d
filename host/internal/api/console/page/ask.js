// A conversation with a workspace. It is kept in the browser only.
import { asCode, asCurl, at, call, events, request } from "./api.js";
import { button, buttons, copyButton, count, counted, download, el, empty, field, json, linked, pre, problem, row, select, show, size, soft, submit } from "./dom.js";
import { Growing, markdown } from "./markdown.js";
import { session } from "./session.js";

const place = "parley-conversation";
const draftPlace = "parley-draft";
const reports = ["searchProgress", "searchSources", "appendConversationMessage"].map((name) => ({ type: "function", function: { name } }));

/**
 * A search of an answer: what the model asked, what was found, and the text that it got.
 * @typedef {{id: string, asked: any, documents?: any[], text?: string}} Search
 */

/** @typedef {{role: string, content: string, searches?: Search[], facts?: string}} Message one of the conversation */

/**
 * Reads the stream of one answer.
 * @param {Response} response
 * @param {Search[]} searches grows
 * @param {(text: string) => void} write
 * @param {() => void} searched called when searches has changed
 * @returns {Promise<{usage: any, failed: any, first: number, rounds: number}>} first: milliseconds to the first word; 0: there was none
 */
async function read(response, searches, write, searched) {
	const began = performance.now();
	const account = { usage: null, failed: null, first: 0, rounds: 1 };
	await events(response, (data) => {
		if (data === "[DONE]") return;
		const chunk = JSON.parse(data);
		if (chunk.error) account.failed ??= { ...chunk.error, link: chunk.link };
		account.usage = chunk.usage ?? account.usage;
		const delta = chunk.choices?.[0]?.delta ?? {};
		for (const { function: f } of delta.tool_calls ?? []) {
			if (!reports.some((r) => r.function.name === f?.name)) continue;
			const said = JSON.parse(f.arguments);
			const known = searches.find((s) => s.id === (said.call_id ?? said.tool_call_id));
			if (f.name === "searchProgress") searches.push({ id: said.call_id, asked: JSON.parse(said.function_arguments || "{}") });
			else if (known && f.name === "searchSources") known.documents = said.documents;
			else if (known && said.role === "tool") known.text = said.content;
			else if (said.role === "assistant") account.rounds++; // it searches, and is asked again
			searched();
		}
		if (delta.content) {
			account.first ||= performance.now() - began;
			write(delta.content);
		}
	});
	return account;
}

/** @param {Search} s */
const asked = (s) => `${s.asked.indexUid ?? "all indexes"} for “${s.asked.q ?? ""}”${s.asked.filter ? ` where ${s.asked.filter}` : ""}`;

/** @param {string} text */
const bytes = (text) => size(new TextEncoder().encode(text).length);

/** @param {Search[]} searches */
const seen = (searches) =>
	searches.map((s) =>
		el(
			"section",
			el("h3", `Searched ${asked(s)}`),
			soft(`${counted(s.documents?.length ?? 0, "document", "documents")}. The model got ${bytes(s.text ?? "")}:`),
			pre(s.text || "nothing"),
		),
	);

/** @type {import("./app.js").Draw} */
export async function ask(root, path, left) {
	const uids = await session.workspaces();
	if (uids.length === 0) {
		root.append(
			el("h1", "Ask"),
			empty(
				"No workspace yet",
				"A workspace says which model answers, and from which indexes.",
				session.can("chatsSettings.update") && linked("Make a workspace", "#/workspaces", "button main"),
			),
		);
		return;
	}
	const workspace = select(
		uids,
		[path[0], localStorage.getItem("parley-workspace") ?? "", uids[0]].find((u) => uids.includes(u)),
	);
	const model = el("input", { value: localStorage.getItem("parley-model") ?? "", placeholder: "the workspace's own" });
	const turns = el("div", { class: "turns", "aria-live": "polite" });
	const box = el("textarea", { rows: 2, spellcheck: "true", placeholder: "Ask a question", "aria-label": "Question", value: sessionStorage.getItem(draftPlace) ?? "" });
	const send = submit("Ask");
	const stop = el("button", { hidden: true, onclick: () => running?.abort() }, "Stop");
	const form = el(
		"form",
		{ class: "compose" },
		box,
		el("div", { class: "buttons" }, send, stop, el("span", { class: "soft" }, "Ctrl or Cmd + Enter sends. Conversations stay in this browser.")),
	);
	root.append(
		el(
			"div",
			{ class: "top" },
			el("h1", "Ask"),
			row(
				field("Workspace", workspace),
				field("Model", model),
				button("New conversation", restart),
				button("Save", () => download("conversation.json", JSON.stringify({ workspace: workspace.value, messages: talk }, null, 2))),
			),
		),
		turns,
		form,
	);

	/** @type {Message[]} */
	let talk = JSON.parse(sessionStorage.getItem(place) ?? "[]");
	let running = /** @type {AbortController|null} */ (null);
	const keep = () => {
		try {
			sessionStorage.setItem(place, JSON.stringify(talk));
		} catch {
			// The browser has no room for more: what is shown stays until the tab is closed.
		}
	};

	/** Shows a document that an answer names: first the passages that the model got of it. @param {string} index @param {string} id */
	async function cite(index, id) {
		const own = talk
			.flatMap((m) => m.searches ?? [])
			.flatMap((s) => s.documents ?? [])
			.filter((d) => Object.values(d).some((v) => String(v) === id));
		const passages = [...new Map(own.flatMap((d) => d._passages ?? []).map((p) => [p.text, p])).values()];
		const quoted = passages.map((p) => el("section", el("h3", p.title ?? ""), el("blockquote", p.text)));
		show(`${index}/${id}`, ...quoted, soft("Loading the document…"));
		try {
			const whole = await call("GET", at`/indexes/${index}/documents/${id}`);
			show(
				`${index}/${id}`,
				...quoted,
				/^https?:/.test(whole.url) && el("p", el("a", { href: whole.url, rel: "noopener", target: "_blank" }, "Open its page")),
				quoted.length > 0 ? el("details", el("summary", "The whole document"), json(whole)) : json(whole),
			);
		} catch (err) {
			show(`${index}/${id}`, ...quoted, problem(err));
		}
	}

	/** @param {number} i the place of the question in talk */
	const questionCard = (i) => {
		const { content } = talk[i]; // talk does not keep it where nobody answers
		return el(
			"section",
			{ class: "card turn user", "aria-label": "Question" },
			el("p", content),
			buttons(
				button("Edit", () => again(i, content, write)),
				button("Ask again", () => again(i, content, answer)),
			),
		);
	};

	/** The sources whose numbers an answer names, each once. @param {Message} m */
	const sources = (m) =>
		[
			...new Map(
				(m.searches ?? [])
					.flatMap((s) => s.documents ?? [])
					.flatMap((d) => (d._passages ?? []).map((p) => [p.source, p, d]))
					.filter(([n]) => n && m.content.includes(`[${n}]`))
					.map(([n, p, d]) => [n, { p, d }]),
			),
		].map(([n, { p, d }]) => {
			const name = p.name || p.title || `source ${n}`;
			const look = () => show(name, el("blockquote", p.text), el("details", el("summary", "The whole document"), json(d)));
			return button(`${n}. ${name}`, look, "chip");
		});

	/** What stands below an answer. @param {Message} m @param {any} body what was asked @param {string} uid */
	const foot = (m, body, uid) =>
		buttons(
			...sources(m),
			m.searches?.length ? button("What the model saw", () => show("What the model saw", ...seen(m.searches ?? []))) : null,
			copyButton("Copy as curl", () => asCurl("POST", at`/chats/${uid}/chat/completions`, { body })),
			copyButton("Python", () => asCode("python", uid, body)),
			copyButton("JavaScript", () => asCode("javascript", uid, body)),
			el("span", { class: "soft" }, m.facts ?? ""),
		);

	const lines = (searches) =>
		searches.map((s) => el("li", `Searched ${asked(s)}${s.documents ? `: ${s.documents.length === 0 ? "nothing" : count(s.documents.length)} found` : "…"}`));

	/** The request for the answer to the question at i. @param {number} i */
	const bodyOf = (i) => ({
		model: model.value || "any",
		messages: talk.slice(0, i + 1).map(({ role, content }) => ({ role, content })),
		stream: true,
		stream_options: { include_usage: true },
		tools: reports,
	});

	function redraw() {
		turns.replaceChildren(
			...talk.map((m, i) =>
				m.role === "user"
					? questionCard(i)
					: el(
							"section",
							{ class: "card turn", "aria-label": "Answer" },
							el("ul", { class: "searches" }, ...lines(m.searches ?? [])),
							markdown(m.content, cite),
							foot(m, bodyOf(i - 1), workspace.value),
						),
			),
		);
		if (talk.length === 0)
			turns.append(
				empty(
					"Ask what your documents know",
					"The answer names the places that it rests on, and you can look at all that the model was given. A question may build on the ones before it.",
				),
			);
	}
	function restart() {
		running?.abort();
		talk = [];
		keep();
		redraw();
		box.focus();
	}
	function write(question) {
		box.value = question;
		draft();
		box.focus();
	}
	function again(i, question, next) {
		if (running) return;
		talk = talk.slice(0, i);
		keep();
		redraw();
		next(question);
	}

	async function answer(question) {
		localStorage.setItem("parley-model", model.value);
		localStorage.setItem("parley-workspace", workspace.value);
		if (talk.length === 0) turns.replaceChildren();
		if (box.value.trim() === question) write("");
		const own = talk;
		own.push({ role: "user", content: question });
		keep();
		const uid = workspace.value,
			body = bodyOf(talk.length - 1);
		/** @type {Search[]} */
		const searches = [];
		const list = el("ul", { class: "searches" }),
			text = el("div", { class: "busy" }),
			card = el("section", { class: "card turn", "aria-label": "Answer", "aria-busy": "true" }, list, text);
		turns.append(questionCard(talk.length - 1), card);
		card.scrollIntoView({ block: "nearest" });
		send.disabled = true;
		stop.hidden = false;
		const control = new AbortController();
		running = control;
		const growing = new Growing(text, cite);
		const facts = [];
		try {
			const account = await read(
				await request("POST", at`/chats/${uid}/chat/completions`, { body, signal: control.signal }),
				searches,
				(more) => growing.add(more),
				() => list.replaceChildren(...lines(searches)),
			);
			if (account.failed) throw account.failed;
			if (account.first) facts.push(`${count(Math.round(account.first))} ms to the first word`);
			if (account.usage) facts.push(`${count(account.usage.total_tokens)} tokens`);
			facts.push(counted(account.rounds, "round", "rounds"));
		} catch (err) {
			if (control.signal.aborted) facts.push("stopped");
			else card.append(problem(err));
		}
		running = null;
		send.disabled = false;
		stop.hidden = true;
		text.classList.remove("busy");
		card.removeAttribute("aria-busy");
		growing.end();
		const said = { role: "assistant", content: growing.text, searches, facts: facts.join(", ") };
		if (own !== talk) return; // another conversation was begun
		if (growing.text) {
			talk.push(said);
			localStorage.setItem("parley-asked", "yes");
		} else {
			talk.pop();
			if (!box.value) write(question); // nothing that was typed is lost
		}
		keep();
		card.append(foot(said, body, uid));
		if (!left.aborted) box.focus();
	}

	left.addEventListener("abort", () => running?.abort());
	const draft = () => sessionStorage.setItem(draftPlace, box.value);
	box.addEventListener("input", draft);
	box.addEventListener("keydown", (e) => {
		if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.requestSubmit();
	});
	form.addEventListener("submit", (e) => {
		e.preventDefault();
		const question = box.value.trim();
		if (question && !running) answer(question);
	});
	redraw();
	box.focus();
}
