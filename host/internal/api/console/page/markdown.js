// Shows the Markdown of answers. It sets text: nothing becomes markup.
import { button, el, pre, table } from "./dom.js";

// Bounded, so that a long answer takes time in proportion.
const inline =
	/(`[^`\n]+`)|\*\*([^*\n]+)\*\*|\[([^[\]\n]{1,1000})\]\((https?:\/\/[^\s)]{1,2000}|#[^\s)]{0,200})\)|\[([A-Za-z0-9_-]{1,400})\/([A-Za-z0-9_-]{1,512})\]|(?<![\w*])[*_](?=\S)([^*_\n]+)[*_](?![\w*])/g;

/** @typedef {(index: string, id: string) => void} Cite */

/** @param {string} text @param {Cite} cite */
function line(text, cite) {
	const out = document.createDocumentFragment();
	let at = 0;
	for (const m of text.matchAll(inline)) {
		out.append(text.slice(at, m.index));
		at = m.index + m[0].length;
		if (m[1]) out.append(el("code", m[1].slice(1, -1)));
		else if (m[2]) out.append(el("strong", m[2]));
		else if (m[3] && m[4].startsWith("#"))
			out.append(m[3]); // a place in a page that is not this one
		else if (m[3]) out.append(link(m[3], m[4], cite));
		else if (m[7]) out.append(el("em", m[7]));
		else out.append(button(`${m[5]}/${m[6]}`, () => cite(m[5], m[6]), "chip"));
	}
	out.append(text.slice(at));
	return out;
}

/** @param {string} text @param {string} to @param {Cite} cite */
function link(text, to, cite) {
	const own = to.startsWith(`${location.origin}/`) ? /\/indexes\/([^/]+)\/documents\/([^/?#]+)$/.exec(to) : null;
	return own ? button(text, () => cite(decodeURIComponent(own[1]), decodeURIComponent(own[2])), "chip") : el("a", { href: to, rel: "noopener", target: "_blank" }, text);
}

const item = /^\s*([-*]|\d+\.)\s+/;
const special = /^(#{1,6}\s|```|>|\||\s*([-*]|\d+\.)\s)/;

/** @param {string} text @param {Cite} cite */
export function markdown(text, cite) {
	const out = document.createDocumentFragment();
	const lines = text.split("\n");
	let i = 0;
	const take = (belongs) => {
		const from = i;
		while (i < lines.length && belongs(lines[i])) i++;
		return lines.slice(from, i);
	};
	while (i < lines.length) {
		const l = lines[i];
		const heading = /^(#{1,6})\s+(.*)/.exec(l);
		if (l.startsWith("```")) {
			i++;
			out.append(pre(el("code", take((c) => !c.startsWith("```")).join("\n"))));
			i++;
		} else if (heading) {
			out.append(el(`h${Math.min(heading[1].length + 2, 6)}`, line(heading[2], cite)));
			i++;
		} else if (item.test(l)) {
			const list = el(/^\s*\d/.test(l) ? "ol" : "ul");
			for (const entry of take((c) => item.test(c))) list.append(el("li", line(entry.replace(item, ""), cite)));
			out.append(list);
		} else if (l.startsWith(">")) {
			const quote = el("blockquote");
			for (const q of take((c) => c.startsWith(">"))) quote.append(line(q.replace(/^>\s?/, ""), cite), el("br"));
			out.append(quote);
		} else if (l.startsWith("|")) {
			const rows = take((c) => c.startsWith("|")).filter((c) => !/^[|\s:-]+$/.test(c));
			const [heads = [], ...cells] = rows.map((r) =>
				r
					.split("|")
					.slice(1, -1)
					.map((c) => line(c.trim(), cite)),
			);
			out.append(table(heads, cells, "Table"));
		} else if (l.trim() === "") {
			i++;
		} else {
			const [first, ...rest] = [lines[i++], ...take((c) => c.trim() !== "" && !special.test(c))];
			const p = el("p", line(first, cite));
			for (const more of rest) p.append(" ", line(more, cite));
			out.append(p);
		}
	}
	return out;
}

/** An answer that grows. Only the paragraph under way is drawn anew. */
export class Growing {
	constructor(into, cite) {
		this.into = into;
		this.cite = cite;
		this.text = "";
		this.from = 0; // where the paragraph under way begins in text
		this.shown = 0; // how much of text is in the page
		this.tail = document.createTextNode("");
		this.last = el("p", this.tail);
		this.waiting = false;
		into.replaceChildren(this.last);
	}

	add(more) {
		this.text += more;
		if (this.waiting) return;
		this.waiting = true;
		requestAnimationFrame(() => this.draw());
	}

	draw() {
		this.waiting = false;
		if (!this.last.isConnected) return;
		const end = this.text.lastIndexOf("\n\n");
		// An open fence keeps its blank lines.
		if (end > this.from && (this.text.slice(this.from, end).match(/^```/gm) ?? []).length % 2 === 0) {
			this.last.before(markdown(this.text.slice(this.from, end), this.cite));
			this.from = end + 2;
			this.shown = this.from;
			this.tail.data = "";
		}
		this.tail.appendData(this.text.slice(this.shown));
		this.shown = this.text.length;
	}

	/** Draws what is left. */
	end() {
		this.last.replaceWith(markdown(this.text.slice(this.from), this.cite));
	}
}
