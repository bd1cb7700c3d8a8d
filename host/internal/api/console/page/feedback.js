// What readers think of answers, and who reads it.
import { at, call, request } from "./api.js";
import { attempt, button, buttons, confirmed, download, el, empty, field, form, hide, icon, pager, pre, renew, show, soft, submit, tell, time } from "./dom.js";
import { t } from "./i18n.js";
import { session } from "./session.js";
import { namedIn, sourcesOf } from "./sources.js";

/** @typedef {import("./talks.js").Message} Message */

/** What is sent of an answer: no more than the service keeps. @param {Message} m */
const sent = (m, question) => {
	const numbers = namedIn(m.content);
	const searches = m.searches ?? [];
	return {
		id: m.id,
		question: question.slice(0, 2000),
		answer: m.content.slice(0, 6000),
		files: [...new Set(sourcesOf(m).flatMap((s) => (numbers.has(s.n) && s.doc.path ? [s.name] : [])))].slice(0, 20),
		searches: searches.slice(0, 20).map((s) => ({
			indexUid: s.asked.indexUid ?? "",
			q: (s.asked.q ?? "").slice(0, 200),
			filter: (s.asked.filter ?? "").slice(0, 200),
			text: (s.text ?? "").slice(0, 8000 / searches.length),
		})),
	};
};

/**
 * The two thumbs below an answer: sent at once, and again with a reason.
 * @param {string} uid the workspace @param {Message} m @param {string} question @param {() => Promise<void>} keep
 */
export function thumbs(uid, m, question, keep) {
	if (!session.rights?.feedback) return null;
	const node = el("span", { class: "thumbs" });
	const send = async (rating, reason) => {
		m.id = (await call("POST", at`/chats/${uid}/feedback`, { ...sent(m, question), rating, reason })).id;
		m.rated = rating;
		draw();
		await keep();
	};
	const rate = async (rating) => {
		const why = el("textarea", { rows: 3, maxlength: 2000 }),
			wrong = el("div");
		await send(rating, "");
		show(
			t`Thank you`,
			soft(t`Your question, this answer and what the model saw are kept for those who run this service.`),
			form(
				"form",
				wrong,
				async () => {
					await send(rating, why.value);
					hide();
				},
				field(rating === "up" ? t`What was good?` : t`What is wrong?`, why),
				wrong,
				buttons(submit(t`Send`)),
			),
		);
	};
	const thumb = (rating, label) =>
		el("button", { class: rating, "aria-label": label, title: label, "aria-pressed": String(m.rated === rating), onclick: () => attempt(node, () => rate(rating)) }, icon("thumb"));
	const draw = () => node.replaceChildren(thumb("up", t`Good answer`), thumb("down", t`Bad answer`));
	draw();
	return node;
}

/** What readers of a workspace sent. */
export function received(uid) {
	const node = el("section", el("h2", "What readers say")),
		list = el("div");
	const route = at`/chats/${uid}/feedback`;
	if (!session.rights?.feedback) {
		node.append(
			empty(
				"Readers cannot rate answers",
				"Below each answer there can be two thumbs. What they send is kept on this host alone.",
				session.can("experimental.update") && button("Let them rate", () => attempt(list, enable)),
			),
			list,
		);
		return node;
	}
	node.append(list);
	async function enable() {
		await call("PATCH", "/experimental-features", { feedback: true });
		await session.load();
		renew();
	}
	async function remove(f) {
		if (!(await confirmed("Delete this rating?", "The question and the answer go with it. This cannot be undone."))) return;
		await call("DELETE", `${route}${at`/${f.id}`}`);
		tell("Deleted.");
		await draw(0);
	}
	const card = (f) =>
		el(
			"article",
			{ class: "card" },
			el("h3", { class: `thumbs ${f.rating === "up" ? "good" : "bad"}` }, el("span", { class: f.rating }, icon("thumb")), " ", f.question),
			f.reason && el("p", f.reason),
			el("details", el("summary", "The answer"), pre(f.answer)),
			el(
				"details",
				el("summary", t`What the model saw`),
				...f.searches.flatMap((s) => [soft([s.indexUid, s.q, s.filter].filter(Boolean).join(" · ")), pre(s.text)]),
				f.searches.length === 0 && soft("It searched nothing."),
			),
			soft([time(f.at), ...f.files].join(" · ")),
			buttons(session.can("chatsSettings.update") && button("Delete", () => attempt(list, () => remove(f)), "danger")),
		);
	async function draw(offset) {
		const page = await call("GET", `${route}?limit=10&offset=${offset}`);
		list.replaceChildren(
			...(page.total === 0
				? [empty("Nothing yet", "Readers have two thumbs below each answer.")]
				: [
						...page.results.map(card),
						pager(offset, page.results.length, page.total, 10, "ratings", (to) => attempt(list, () => draw(to))),
						buttons(button("Save the good ones for parley eval", async () => download("questions.ndjson", await (await request("GET", `${route}/export`)).blob()))),
					]),
		);
	}
	attempt(list, () => draw(0));
	return node;
}
