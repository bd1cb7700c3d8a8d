// What a model gets of the documents of an index.
import { apply, at, call } from "./api.js";
import { attempt, button, buttons, el, field, pre, problem, soft, tell } from "./dom.js";
import { session } from "./session.js";

/**
 * Shows what a template makes of a document while it is written, and the passages that
 * a question finds.
 * @param {string} uid
 * @param {any} chat the setting of that name
 * @param {AbortSignal} left
 */
export async function preview(uid, chat, left) {
	const route = at`/indexes/${uid}`;
	const { results } = await call("GET", `${route}/documents?limit=20`, undefined, left);
	const { primaryKey } = await call("GET", route, undefined, left);
	if (results.length === 0) return soft("There is no document yet to show it with.");
	const ids = results.map((d) => String(d[primaryKey]));
	const template = el("textarea", { rows: 5, value: chat.documentTemplate }),
		bytes = el("input", { type: "number", min: 1, max: 65536, value: chat.documentTemplateMaxBytes }),
		id = el("input", { value: ids[0], list: "preview-ids" }),
		question = el("input", { placeholder: "a question that the documents answer" });
	const shown = el("pre", { tabindex: 0, "aria-label": "What the template makes" }),
		passages = el("div", { "aria-live": "polite" }),
		wrong = el("div", { role: "status" });

	/** Runs act for the newest input alone. @param {(signal: AbortSignal) => Promise<void>} act */
	const newest = (act) => {
		let running = new AbortController();
		left.addEventListener("abort", () => running.abort());
		return async () => {
			running.abort();
			running = new AbortController();
			const { signal } = running;
			try {
				await act(signal);
				if (!signal.aborted) wrong.replaceChildren();
			} catch (err) {
				if (!signal.aborted) wrong.replaceChildren(problem(err));
			}
		};
	};
	const render = newest(async (signal) => {
		const body = {
			template: { kind: "inlineDocumentTemplate", inline: template.value, documentTemplateMaxBytes: Number(bytes.value) },
			input: { kind: "indexDocument", indexUid: uid, id: id.value },
		};
		const { rendered } = await call("POST", "/render-template", body, signal);
		shown.textContent = rendered;
	});
	const ask = newest(async (signal) => {
		if (!question.value.trim()) return passages.replaceChildren();
		const found = await call("POST", `${route}/search`, { q: question.value, limit: 0, passages: {} }, signal);
		const hits = found.passages.hits;
		passages.replaceChildren(...(hits.length > 0 ? hits.map((h) => el("section", el("strong", h.title || h.id), pre(h.text))) : [soft("Nothing was found.")]));
	});
	for (const input of [template, bytes, id]) input.addEventListener("input", render);
	question.addEventListener("input", ask);
	await render();
	const save = () =>
		attempt(wrong, async () => {
			await apply(await call("PATCH", `${route}/settings/chat`, { documentTemplate: template.value, documentTemplateMaxBytes: Number(bytes.value) }));
			tell("The template is set.");
		});
	return el(
		"div",
		{ class: "form" },
		field("Question", question, "Without a template of your own the model gets these: the passages of documents that answer its question."),
		passages,
		field("Template of a document", template, "In the language Liquid. One that is set takes the place of passages."),
		field("Bytes of a document", bytes, "Where its text is cut."),
		field("Document", id, "Its id. Shown below as the template makes it."),
		el("datalist", { id: "preview-ids" }, ...ids.map((v) => el("option", { value: v }))),
		shown,
		wrong,
		session.can("settings.update") && buttons(button("Use this template", save)),
	);
}
