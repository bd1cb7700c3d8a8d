// The sources of an answer: cards beside it, and the file of one at its place.
import { at, call } from "./api.js";
import { counted, el, json, problem, show, soft, titleOf } from "./dom.js";
import { t } from "./i18n.js";
import { markdown } from "./markdown.js";
import { session } from "./session.js";

/** A passage that a model was given. @typedef {{n: number, name: string, heading: string, text: string, url: string, asked: string, index: string, doc: any}} Source */

/** The passages of an answer's searches by number, each once. @returns {Source[]} */
export function sourcesOf(m) {
	/** @type {Map<number, Source>} */
	const found = new Map();
	for (const s of m.searches ?? []) {
		for (const doc of s.documents ?? []) {
			for (const p of doc._passages ?? []) {
				if (!p.source || found.has(p.source)) continue;
				const [file, ...below] = (p.name || p.title || "").split(" › ");
				const heading = below.join(" › ");
				found.set(p.source, { n: p.source, name: file || t`Source ${p.source}`, heading, text: p.text, url: p.url, asked: s.asked.q ?? "", index: s.asked.indexUid ?? "", doc });
			}
		}
	}
	return [...found.values()].sort((a, b) => a.n - b.n);
}

/** The numbers that an answer names. @returns {Set<number>} */
export const namedIn = (content) => new Set([...content.matchAll(/\[(\d{1,4}(?:, ?\d{1,4}){0,20})\]/g)].flatMap((m) => m[1].split(",").map(Number)));

/** Whether the service said to the model that what was found does not answer. */
const poor = (m) =>
	(m.searches ?? []).every((s) => {
		try {
			return (s.documents ?? []).length === 0 || Boolean(JSON.parse(s.text ?? "").note);
		} catch {
			return false;
		}
	});

const common = new Set(
	"the and for are was has had not but can you all any its our out did about through what when where which whose with from that this these those does have will would there their your into make made some more most than then they were been being how why who was der die das den dem des ist und mit für von auf wie was wer wann wenn welche welcher wird werden sind eine einen einem einer nicht oder aber auch mein meine dein kann mich dich sich über unter".split(
		" ",
	),
);

/** The words of a question that say what it is about. */
const words = (question) => [...new Set((question.toLocaleLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((w) => w.length > 2 && !common.has(w)))];

/** Marks the words of a question in what a node has. */
export function marked(node, question) {
	const wanted = words(question);
	const same = (w) =>
		wanted.some(
			(x) => w === x || (Math.min(w.length, x.length) > 3 && Math.abs(w.length - x.length) < 4 && w.startsWith(x.slice(0, Math.max(4, Math.min(w.length, x.length) - 1)))),
		);
	if (wanted.length === 0) return node;
	const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
	const all = [];
	while (texts.nextNode()) all.push(/** @type {Text} */ (texts.currentNode));
	for (const text of all) {
		const parts = text.data.split(/([\p{L}\p{N}]+)/u);
		if (!parts.some((p, i) => i % 2 && same(p.toLocaleLowerCase()))) continue;
		text.replaceWith(...parts.map((p, i) => (i % 2 && same(p.toLocaleLowerCase()) ? el("mark", p) : p)));
	}
	return node;
}

/** A passage without the signs of its Markdown. */
const plain = (text) =>
	text
		.replace(/^ *(?:```.*|~~~.*|[|:\s-]+)$/gm, "")
		.replace(/^[#>\s*+-]+/gm, "")
		.replace(/[`*|]+/g, " ")
		.replace(/\s+/g, " ")
		.trim();

/** Where in its file a document is. */
export const place = (d) => (d.page ? (d.pageEnd ? t`pages ${d.page}–${d.pageEnd}` : t`page ${d.page}`) : d.line ? t`line ${d.line}` : "");

const card = (s) =>
	el(
		"button",
		{ class: "source", onclick: () => look(s) },
		el("span", { class: "top" }, el("b", el("span", { class: "n" }, String(s.n)), el("bdi", s.name)), el("small", place(s.doc))),
		s.heading && el("small", el("bdi", s.heading)),
		marked(el("span", { class: "passage" }, plain(s.text.slice(0, 2000)).slice(0, 400)), s.asked),
	);

/** Shows a source: its file at the place, or the document that it is of. */
export function look(s) {
	const title = s.heading ? `${s.name} › ${s.heading}` : s.name;
	const passage = el("section", { class: "here" }, soft([t`What the model got`, place(s.doc)].filter(Boolean).join(" · ")), marked(el("div", markdown(s.text, nothing)), s.asked));
	const page = /^https?:/.test(s.url ?? "") && el("p", el("a", { href: s.url, rel: "noopener", target: "_blank" }, t`Open its page`));
	const whole = (d) => el("details", el("summary", t`The whole document`), json(d));
	if (!s.doc.path || !s.index || !session.can("documents.get")) show(title, passage, page, whole(s.doc));
	else file(s.index, s.doc, { title, passage, page, whole: whole(s.doc), asked: s.asked });
}

const nothing = { open: () => {}, source: () => null };

/**
 * Shows a file as it was read, and goes to one of its passages.
 * @param {string} index @param {{path: string, group?: string, id?: string}} d a document of it
 * @param {{title?: string, passage?: Node, page?: Node|false, whole?: Node, asked?: string}} [o] what is shown where it cannot be read, and the words that are marked
 */
export async function file(index, d, o = {}) {
	const title = o.title ?? d.path;
	show(title, o.passage, o.page, soft(t`Reading the file…`));
	try {
		const path = d.path.split("/").map(encodeURIComponent).join("/");
		const f = await call("GET", `${at`/indexes/${index}/files/`}${path}${d.group ? at`?source=${d.group}` : ""}`);
		/** @type {HTMLElement|null} */
		let here = null;
		const parts = f.passages.map((p) => {
			const own = p.id === d.id;
			const where = [p.headings.join(" › "), place(p)].filter(Boolean).join(" · ");
			const body = el("div", markdown(p.text, nothing));
			const node = el("section", { class: own ? "here" : "" }, where && el("p", { class: "hint" }, where), own && o.asked ? marked(body, o.asked) : body);
			if (own) here = node;
			return node;
		});
		show(title, el("p", { class: "hint" }, `${f.path} · ${counted(f.passages.length, t`passage`, t`passages`)}`), o.page, el("div", { class: "file" }, ...parts), o.whole);
		/** @type {HTMLElement|null} */ (here)?.scrollIntoView({ block: "center" });
	} catch (err) {
		show(title, o.passage, o.page, o.passage ? soft(t`Its file cannot be read with this key, or has changed.`) : problem(err), o.whole);
	}
}

/** Shows a document that an answer names by index and id. */
export async function lookUp(index, id) {
	show(`${index}/${id}`, soft(t`Loading the document…`));
	try {
		const d = await call("GET", at`/indexes/${index}/documents/${id}`);
		show(titleOf(d) ?? `${index}/${id}`, json(d));
	} catch (err) {
		show(`${index}/${id}`, problem(err));
	}
}

/**
 * The cards of the sources of an answer: those that it names, and folded those that it does not. Where nothing
 * that was found answers, there are none.
 * @param {import("./talks.js").Message} m
 */
export function cards(m) {
	const all = sourcesOf(m);
	const numbers = namedIn(m.content);
	const used = all.filter((s) => numbers.has(s.n));
	const others = all.filter((s) => !numbers.has(s.n));
	if (all.length === 0 || (used.length === 0 && poor(m))) return null;
	return el(
		"aside",
		{ class: "sources", "aria-label": t`Sources` },
		used.length > 0 && el("h2", t`Sources`),
		...used.map(card),
		others.length > 0 && el("details", el("summary", used.length > 0 ? t`Found and not used: ${others.length}` : t`Found: ${others.length}`), ...others.map(card)),
	);
}

/** What names in an answer lead to. @param {() => import("./talks.js").Message} message */
export const citing = (message) => ({
	open: lookUp,
	source(n) {
		const s = sourcesOf(message()).find((x) => x.n === n);
		return s ? { title: s.heading ? `${s.name} › ${s.heading}` : s.name, look: () => look(s) } : null;
	},
});
