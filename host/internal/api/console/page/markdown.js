// Shows Markdown. It sets text: nothing becomes markup. Each character is looked at a bounded number of times: what is
// within something is read again by one level, of which there are few, and what has no end is looked for once.
import { button, copyButton, el, pre } from "./dom.js";
import { t } from "./i18n.js";

/**
 * What names in a text lead to.
 * @typedef {object} Cite
 * @property {(index: string, id: string) => void} open shows a document
 * @property {(n: number) => {title: string, look: () => void}|null} source a numbered source; null: there is none of that number
 */

const deepest = 8; // quotes and lists within each other; and as many of emphasis

const fenceMark = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const headingMark = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const ruleMark = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const quoteMark = /^ {0,3}> ?/;
const itemMark = /^( *)([-*+]|\d{1,9}[.)])(?: +|$)/;
const rowRule = /^ *\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *$/;
const fromMark = /^— /; // where a quote is from

const begins = (line) => fenceMark.test(line) || headingMark.test(line) || ruleMark.test(line) || quoteMark.test(line) || itemMark.test(line) || line.startsWith("|");

/** A block of code, with a button that copies it. */
export const code = (text, language = "") =>
	el(
		"div",
		{ class: "code" },
		el(
			"div",
			{ class: "top" },
			el("span", language),
			copyButton(t`Copy`, () => text),
		),
		pre(el("code", text)),
	);

export const markdown = (text, cite) => blocks(text.split("\n"), cite, 0);

function blocks(lines, cite, depth) {
	const out = document.createDocumentFragment();
	let i = 0;
	while (i < lines.length) {
		const line = lines[i];
		if (line.trim() === "") {
			i++;
			continue;
		}
		const fence = fenceMark.exec(line);
		if (fence) {
			const from = ++i;
			while (i < lines.length && !closes(lines[i], fence[1])) i++;
			out.append(code(lines.slice(from, i++).join("\n"), fence[2].trim().split(" ")[0]));
			continue;
		}
		const heading = headingMark.exec(line);
		if (heading) {
			out.append(el(`h${Math.min(heading[1].length + 2, 6)}`, inline(heading[2] ?? "", cite)));
			i++;
		} else if (ruleMark.test(line)) {
			out.append(el("hr"));
			i++;
		} else if (quoteMark.test(line) && depth < deepest) {
			const from = i;
			while (i < lines.length && quoteMark.test(lines[i])) i++;
			const within = lines.slice(from, i).map((l) => l.replace(quoteMark, ""));
			out.append(el("blockquote", blocks(within, cite, depth + 1)));
		} else if (itemMark.test(line) && depth < deepest) i = list(lines, i, out, cite, depth);
		else if (line.startsWith("|") || (line.includes("|") && rowRule.test(lines[i + 1] ?? "") && lines[i + 1].includes("|"))) i = rows(lines, i, out, cite);
		else if (depth > 0 && fromMark.test(line)) {
			out.append(el("p", { class: "from" }, inline(line, cite)));
			i++;
		} else {
			const from = i++;
			while (i < lines.length && lines[i].trim() !== "" && !begins(lines[i]) && !(depth > 0 && fromMark.test(lines[i]))) i++;
			const p = el("p");
			for (let at = from; at < i; at++) {
				p.append(inline(lines[at].trim(), cite));
				if (at + 1 < i) p.append(lines[at].endsWith("  ") ? el("br") : " ");
			}
			out.append(p);
		}
	}
	return out;
}

/** Whether a line ends a fence. */
const closes = (line, mark) => {
	const end = line.trim();
	return end.length >= mark.length && end[0] === mark[0] && end === mark[0].repeat(end.length);
};

/** Draws the list that begins at line i; returns where it ends. */
function list(lines, i, out, cite, depth) {
	const [, indent, mark] = /** @type {RegExpExecArray} */ (itemMark.exec(lines[i]));
	const ordered = /\d/.test(mark);
	const node = ordered ? el("ol", { start: Number.parseInt(mark, 10) }) : el("ul");
	out.appendChild(node);
	while (i < lines.length) {
		const item = itemMark.exec(lines[i]);
		if (!item || item[1].length > indent.length + 3 || item[1].length < indent.length || /\d/.test(item[2]) !== ordered) break;
		const within = [lines[i].slice(item[0].length)];
		let blank = false;
		for (i++; i < lines.length; i++) {
			const l = lines[i];
			const spaces = l.length - l.trimStart().length;
			const inside = spaces >= item[1].length + 2;
			if (l.trim() === "") blank = true;
			else if (inside || (!blank && !begins(l) && !fromMark.test(l))) blank = false;
			else break;
			within.push(l.slice(Math.min(spaces, item[0].length)));
		}
		while (within.length > 1 && within[within.length - 1].trim() === "") within.pop();
		const content = blocks(within, cite, depth + 1);
		const [first] = content.children;
		if (first?.tagName === "P") first.replaceWith(...first.childNodes);
		node.append(el("li", content));
	}
	return i;
}

/** Draws the table that begins at line i; returns where it ends. */
function rows(lines, i, out, cite) {
	/** @type {string[][]} */
	const all = [];
	const from = i;
	for (; i < lines.length && (i === from ? true : lines[i].includes("|")) && lines[i].trim() !== ""; i++) if (!rowRule.test(lines[i])) all.push(cells(lines[i]));
	const [heads = [], ...rest] = all;
	const row = (name, row) => el("tr", ...heads.map((_, at) => el(name, inline(row[at] ?? "", cite))));
	out.appendChild(
		el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t`Table` }, el("table", el("thead", row("th", heads)), el("tbody", ...rest.map((r) => row("td", r))))),
	);
	return i;
}

/** @param {string} line of a table */
function cells(line) {
	const out = [""];
	let ticks = false;
	for (let i = 0; i < line.length; i++) {
		const c = line[i];
		if (c === "`") ticks = !ticks;
		if (c === "\\" && line[i + 1] === "|") out[out.length - 1] += line[++i];
		else if (c === "|" && !ticks) out.push("");
		else out[out.length - 1] += c;
	}
	if (out[0].trim() === "") out.shift();
	if (out.at(-1)?.trim() === "") out.pop();
	return out.map((c) => c.trim());
}

const word = /[\p{L}\p{N}_]/u;
const mark = /[*_~]/;
const names = { "**": "strong", __: "strong", "~~": "del", "*": "em", _: "em" };

/** The text of a line: code, emphasis, links, and what it names. @param {string} text @param {number} [depth] */
function inline(text, cite, depth = 0) {
	const out = document.createDocumentFragment();
	const endless = new Set(); // marks that have no end in the rest
	let plain = 0; // where the text begins that is not in out yet
	let i = 0;
	const put = (node, to) => {
		out.append(text.slice(plain, i), node);
		plain = i = to;
	};
	while (i < text.length) {
		const c = text[i];
		if (c === "\\" && /[!-/:-@[-`{-~]/.test(text[i + 1] ?? "")) put(text[i + 1], i + 2);
		else if (c === "`") {
			let n = 1;
			while (text[i + n] === "`") n++;
			const ticks = "`".repeat(n);
			const end = endless.has(ticks) ? -1 : text.indexOf(ticks, i + n);
			if (end < 0) {
				endless.add(ticks);
				i += n;
			} else put(el("code", text.slice(i + n, end)), end + n);
		} else if (mark.test(c)) {
			const m = text[i + 1] === c ? c + c : c;
			const end = names[m] && depth < deepest && !endless.has(m) ? ending(text, i, m) : -1;
			if (end < 0) {
				if (end === -2) endless.add(m);
				i += m.length;
			} else put(el(names[m], inline(text.slice(i + m.length, end), cite, depth + 1)), end + m.length);
		} else if (c === "[") {
			const [node, to] = bracket(text, i, cite);
			if (node) put(node, to);
			else i = to;
		} else if (c === "h" && !word.test(text[i - 1] ?? " ") && /^https?:\/\//.test(text.slice(i, i + 8))) {
			let to = i;
			while (to < text.length && !/[\s<>"'`|[\]]/.test(text[to])) to++;
			while (/[.,;:!?)*_]/.test(text[to - 1])) to--;
			put(link(text.slice(i, to), text.slice(i, to), cite), to);
		} else if (c === "<" && /^<br ?\/?>/i.test(text.slice(i, i + 6))) put(el("br"), text.indexOf(">", i) + 1);
		else i++;
	}
	out.append(text.slice(plain));
	return out;
}

/** Where the emphasis that begins at i ends; -1: it is none; -2: nothing ends one from here on. */
function ending(text, i, m) {
	const begin = i + m.length;
	if (!text[begin] || /\s/.test(text[begin]) || (m.length === 1 && word.test(text[i - 1] ?? " "))) return -1;
	let end = begin;
	for (let tries = 0; tries < 3; tries++) {
		end = text.indexOf(m, end + (tries > 0 ? m.length : 0));
		if (end < 0) return tries === 0 ? -2 : -1;
		const whole = m.length > 1 || (text[end + 1] !== m && text[end - 1] !== m && !word.test(text[end + 1] ?? " "));
		if (end > begin && !/\s/.test(text[end - 1]) && whole) return end;
	}
	return -1;
}

/** What a bracket at i says: a link, or the numbers or the name of sources; and where it ends. @returns {[Node|null, number]} */
function bracket(text, i, cite) {
	let end = i + 1;
	while (end < text.length && text[end] !== "]" && text[end] !== "[") end++;
	if (text[end] !== "]" || end === i + 1) return [null, Math.max(end, i + 1)];
	const said = text.slice(i + 1, end);
	if (text[end + 1] === "(") {
		let to = end + 2,
			open = 0;
		for (; to < text.length && !/[\s[\]<>"]/.test(text[to]); to++) {
			if (text[to] === "(") open++;
			if (text[to] === ")" && open-- === 0) break;
		}
		const address = text.slice(end + 2, to);
		if (text[to] !== ")") return [null, end];
		if (/^https?:\/\//.test(address)) return [link(said, address, cite), to + 1];
		if (address.startsWith("#")) return [document.createTextNode(said), to + 1]; // a place in a page that is not this one
		return [null, to];
	}
	if (/^\d{1,4}(?:, ?\d{1,4}){0,20}$/.test(said)) {
		const sources = said.split(",").map((n) => [n.trim(), cite.source(Number(n))]);
		if (sources.some(([, s]) => !s)) return [null, end + 1];
		const group = document.createDocumentFragment();
		for (const [n, s] of sources) group.append(el("button", { class: "chip", title: s.title, "aria-label": `${n}. ${s.title}`, onclick: s.look }, n));
		return [group, end + 1];
	}
	const name = /^([A-Za-z0-9_-]{1,400})\/([A-Za-z0-9_-]{1,512})$/.exec(said);
	return name ? [button(said, () => cite.open(name[1], name[2]), "chip"), end + 1] : [null, end + 1];
}

function link(text, to, cite) {
	const own = to.startsWith(`${location.origin}/`) ? /\/indexes\/([^/]+)\/documents\/([^/?#]+)$/.exec(to) : null;
	return own ? button(text, () => cite.open(decodeURIComponent(own[1]), decodeURIComponent(own[2])), "chip") : el("a", { href: to, rel: "noopener", target: "_blank" }, text);
}

/** An answer that grows. What is whole is drawn once; of the rest only text is added. */
export class Growing {
	constructor(into, cite) {
		this.into = into;
		this.cite = cite;
		this.text = "";
		this.from = 0; // where what is not drawn yet begins in text
		this.shown = 0; // how much of text is in the page
		this.read = 0; // how much of text was looked at, in whole lines
		this.blank = 0; // where the last blank line ends
		this.fence = ""; // the mark of the fence that is open there
		this.waiting = false;
		this.tail = document.createTextNode(""); // in last
		this.last = el("p", this.tail);
		into.replaceChildren(this.last);
	}

	/** Begins an element that text is added to. */
	open(name) {
		this.tail = document.createTextNode("");
		this.last = el(name, this.tail);
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
		let whole = this.from; // up to where it can be drawn
		const parts = () => {
			// What is indented belongs to the item of a list above.
			if (this.blank > whole && this.read < this.text.length && !/\s/.test(this.text[this.read])) whole = this.blank;
		};
		for (let end = this.text.indexOf("\n", this.read); end >= 0; end = this.text.indexOf("\n", this.read)) {
			const line = this.text.slice(this.read, end);
			if (!this.fence) parts();
			const mark = fenceMark.exec(line);
			if (this.fence ? closes(line, this.fence) : mark) {
				whole = this.fence ? end + 1 : this.read; // before it opens, and once it is closed
				this.fence = this.fence || !mark ? "" : mark[1];
			} else if (!this.fence && line.trim() === "") this.blank = end + 1;
			this.read = end + 1;
		}
		if (!this.fence) parts();
		if (whole > this.from) {
			this.last.before(markdown(this.text.slice(this.from, whole), this.cite));
			const before = this.last;
			this.open(this.fence ? "pre" : "p");
			before.replaceWith(this.last);
			this.from = this.shown = whole;
		} else if (this.fence && this.last.tagName === "P") {
			const before = this.last;
			this.open("pre");
			before.replaceWith(this.last);
			this.shown = this.from;
		}
		this.tail.appendData(this.text.slice(this.shown));
		this.shown = this.text.length;
	}

	/** Draws what is left. */
	end() {
		this.last.replaceWith(markdown(this.text.slice(this.from), this.cite));
	}
}
