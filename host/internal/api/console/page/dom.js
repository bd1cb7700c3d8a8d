// Small helpers for the page's elements. Texts only ever become text nodes.

/** @typedef {Node|string|null|undefined|false} Part of what an element holds; what is no node and no text is left out */

/**
 * Gives a node its attributes, if the first is an object, and children. on… are listeners; true sets a bare attribute.
 * @template {Element} T
 * @param {T} node
 * @param {any[]} content
 * @returns {T}
 */
function build(node, content) {
	const left = (v) => v === undefined || v === null || v === false;
	const attributes = content[0]?.constructor === Object ? content.shift() : {};
	for (const [key, value] of Object.entries(attributes)) {
		if (left(value)) continue;
		if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
		else if (key === "value") /** @type {any} */ (node).value = value;
		else node.setAttribute(key, value === true ? "" : String(value));
	}
	if (node instanceof HTMLButtonElement && !("type" in attributes)) node.type = "button"; // not what sends a form
	node.append(...content.filter((c) => !left(c)));
	return node;
}

/** Makes an element of attributes and children. @param {...any} content @returns {any} */
export const el = (name, ...content) => build(document.createElement(name), content);

/** Makes an element of a drawing. */
export const svg = (name, ...content) => build(document.createElementNS("http://www.w3.org/2000/svg", name), content);

/** The shapes of the icons, in a square of 24. */
const shapes = {
	ask: "M4 4h16v12h-8l-5 4v-4H4z",
	search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21",
	documents: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
	thumb: "M4 11h3v9H4zM7 11l4-8q3 0 3 3l-1 4h5q2 0 2 2l-2 7q0 1-2 1H7",
	admin: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
};
/** A small drawing beside a text. @param {keyof typeof shapes} name */
export const icon = (name) => svg("svg", { viewBox: "0 0 24 24", width: 18, height: 18, class: "icon", "aria-hidden": "true" }, svg("path", { d: shapes[name] }));

/** An element of the page itself. @returns {any} */
export const byId = (id) => document.getElementById(id);

const numbers = new Intl.NumberFormat();
export const count = (n) => numbers.format(n);

export const counted = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

/** @param {number} n bytes */
export function size(n) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
	return `${count(Number(n.toFixed(1)))} ${units[i]}`;
}

/** @param {string|null|undefined} iso */
export const time = (iso) => (iso ? new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "");

/** Shows content in the dialog. */
export function show(title, ...content) {
	const dialog = byId("show");
	byId("show-title").replaceChildren(title);
	byId("show-body").replaceChildren(el("div", ...content));
	if (!dialog.open) dialog.showModal();
}

/** Closes what show has opened. */
export const hide = () => byId("show").close();

/**
 * Asks once before something goes; resolves to whether it shall.
 * @param {string} title names what goes
 * @param {string} consequence says whether it can be undone
 * @param {string} [yes] what the buttons say
 * @param {string} [no]
 * @returns {Promise<boolean>}
 */
export function confirmed(title, consequence, yes = "Delete", no = "Cancel") {
	const dialog = byId("confirm");
	byId("confirm-title").replaceChildren(title);
	byId("confirm-body").replaceChildren(el("p", consequence));
	byId("confirm-yes").replaceChildren(yes);
	byId("confirm-no").replaceChildren(no);
	dialog.returnValue = "no"; // what Esc leaves
	dialog.showModal();
	return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
}

let quiet = 0;
/** Says for a while, in the corner, what was done. */
export function tell(text) {
	const corner = byId("told");
	corner.hidePopover();
	corner.showPopover(); // above a dialog that is open
	corner.replaceChildren(text);
	clearTimeout(quiet);
	quiet = setTimeout(() => corner.hidePopover(), 5000);
}

/** Says what went wrong, in the API's own words and with its link. */
export function problem(err) {
	const link = /^https?:/.test(err?.link) && el("a", { href: err.link, rel: "noopener", target: "_blank" }, "What it means");
	return el("p", { class: "bad", role: "alert" }, err?.message ?? String(err), link && " ", link);
}

/** Does something, and shows in a place what went wrong. */
export async function attempt(where, act) {
	try {
		await act();
	} catch (err) {
		where.replaceChildren(problem(err));
	}
}

/** Has the view that is shown drawn anew. */
export const renew = () => dispatchEvent(new HashChangeEvent("hashchange"));

/** A view's title, and behind a question mark what it is about. */
export const heading = (title, about) => [el("div", { class: "head" }, el("h1", title), el("details", el("summary", { "aria-label": `About: ${title}` }, "?"), el("p", about)))];

/** A button that does something. @param {string} [kind] its class */
export const button = (label, act, kind) => el("button", { class: kind, onclick: act }, label);

/** The button that sends a form. @param {string} [kind] its class */
export const submit = (label, kind = "main") => el("button", { class: kind, type: "submit" }, label);

/** A row of buttons. */
export const buttons = (...content) => el("p", { class: "buttons" }, ...content);

/** A row of fields. */
export const row = (...content) => el("div", { class: "row" }, ...content);

/** A link to a view. @param {string} [kind] its class */
export const linked = (label, href, kind) => el("a", { href, class: kind }, label);

/** A small text that explains. */
export const hint = (...content) => el("p", { class: "hint" }, ...content);

/** A text that is less loud than others. */
export const soft = (...content) => el("p", { class: "soft" }, ...content);

/**
 * A form. What goes wrong when it is sent is shown in a place.
 * @param {string} kind its class
 * @param {Element} where
 * @param {() => Promise<any>} send
 * @param {...Part} content
 */
export const form = (kind, where, send, ...content) =>
	el(
		"form",
		{
			class: kind,
			onsubmit: (e) => {
				e.preventDefault();
				attempt(where, send);
			},
		},
		...content,
	);

/** A text as it is; the keyboard can scroll it. */
export const pre = (text) => el("pre", { tabindex: 0 }, text);

export const json = (value) => pre(JSON.stringify(value, null, 2));

/** What can be done that is not done often, behind a button. */
export const menu = (label, ...content) => el("details", { class: "menu" }, el("summary", { "aria-label": label, title: label }, "⋯"), el("div", ...content));

/** What stands where there is nothing yet: why, and what to do. @param {...(Node|false)} actions */
export const empty = (title, text, ...actions) => el("div", { class: "empty" }, el("h2", title), soft(text), actions.length > 0 && buttons(...actions));

/** A control with its label and a sentence of help. */
export function field(label, control, help) {
	const id = `help-${++fields}`;
	if (help) control.setAttribute("aria-describedby", id);
	return el("label", { class: "field" }, label, control, help && el("span", { class: "hint", id }, help));
}
let fields = 0;

/** Where the name of an index or a workspace is typed. */
export const named = (more) => el("input", { required: true, pattern: "[A-Za-z0-9_\\-]+", ...more });

/** A choice of one. @param {(string|string[])[]|Record<string, string>} choices values, or each with what is shown of it @param {string} [chosen] */
export function select(choices, chosen) {
	const node = el("select");
	for (const c of Array.isArray(choices) ? choices : Object.entries(choices)) {
		const [value, text = value] = [c].flat();
		node.append(el("option", { value }, text));
	}
	if (chosen !== undefined) node.value = chosen;
	return node;
}

/** The orders that an index knows. @param {any} settings of the index @param {string} none what it is without one @param {string} [chosen] */
export const orders = (settings, none, chosen) =>
	select(
		[
			["", none],
			...(settings?.sortableAttributes ?? []).flatMap((a) => [
				[`${a}:asc`, `${a}, rising`],
				[`${a}:desc`, `${a}, falling`],
			]),
		],
		chosen,
	);

/**
 * A table whose first column names its rows.
 * @param {any[]} heads a pair has the class of its column
 * @param {(Node|string|null)[][]} rows
 * @param {string} caption read to those who do not see the table
 */
export function table(heads, rows, caption) {
	const columns = heads.map((h) => (Array.isArray(h) ? h : [h]));
	return el(
		"div",
		{ class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
		el(
			"table",
			el("thead", el("tr", ...columns.map(([title, kind]) => el("th", { scope: "col", class: kind }, title)))),
			el(
				"tbody",
				...rows.map((cells) => el("tr", ...cells.map((c, i) => (i === 0 ? el("th", { scope: "row", class: columns[0][1] }, c) : el("td", { class: columns[i][1] }, c))))),
			),
		),
	);
}

/**
 * Says which part of a list is shown, and leads to the others.
 * @param {number} offset @param {number} shown @param {number} total @param {number} step rows a page
 * @param {string} what in the plural
 * @param {(offset: number) => void} go
 */
export const pager = (offset, shown, total, step, what, go) =>
	buttons(
		total > step && el("button", { disabled: offset === 0, onclick: () => go(Math.max(0, offset - step)) }, "Previous"),
		total > step && el("button", { disabled: offset + shown >= total, onclick: () => go(offset + step) }, "Next"),
		el("span", { class: "soft" }, `${what} ${count(Math.min(offset + 1, total))} to ${count(offset + shown)} of ${count(total)}`),
	);

/** A button that copies a text. @param {() => string} text */
export const copyButton = (label, text) => button(label, () => copy(text()));

async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		tell("Copied.");
	} catch {
		show("Copy this", pre(text)); // the browser gives the clipboard to secure pages only
	}
}

/** What a document calls itself, if it does. */
export const titleOf = (d) => ["title", "name", "headline", "subject"].map((name) => d[name]).find((v) => v && typeof v === "string");

/** A text as a filter writes it. */
export const quoted = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** "baseUrl" as people write it. */
export const label = (name) =>
	name
		.replace(/[A-Z]+/g, (c) => ` ${c.toLowerCase()}`)
		.replace(/\b(api|url|id|uid)\b/g, (c) => c.toUpperCase())
		.replace(/^./, (c) => c.toUpperCase());

/** Addresses that a plugin may reach, as people say them. @param {string[]} list of its manifest */
export const addresses = (list) =>
	list.map((a) => a.replace(/^\$\{baseUrl\??\}$/, "the address that its workspace names").replace(/\$\{(\w+)\??\}/g, (_, name) => name.toUpperCase())).join(", ");

/** The beginning of a text that may be long. @param {number} most characters */
export const beginning = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** Saves a text as a file of the reader's. */
export function download(name, content) {
	const link = el("a", { href: URL.createObjectURL(new Blob([content])), download: name });
	link.click();
	URL.revokeObjectURL(link.href);
}

/** Tabs of which one is shown at a time. @param {[string, () => Node][]} tabs @param {Element} [wrong] where it is said why a tab cannot be left */
export function tabbed(tabs, wrong) {
	const body = el("div", { role: "tabpanel" });
	const bar = el("div", { class: "tabs", role: "tablist" });
	const pick = (at) => {
		const content = tabs[at][1]();
		for (const [i, b] of [...bar.children].entries()) {
			b.setAttribute("aria-selected", String(i === at));
			b.tabIndex = i === at ? 0 : -1;
		}
		body.setAttribute("aria-label", tabs[at][0]);
		body.replaceChildren(content);
	};
	const go = async (at) => {
		await attempt(wrong ?? body, async () => pick(at));
		/** @type {HTMLElement} */ (bar.querySelector("[aria-selected=true]")).focus();
	};
	for (const [i, [title]] of tabs.entries()) bar.append(el("button", { role: "tab", onclick: () => go(i) }, title));
	bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
		if (step) go(([...bar.children].indexOf(/** @type {Element} */ (document.activeElement)) + step + tabs.length) % tabs.length);
	});
	pick(0);
	return el("div", bar, body);
}

/** A text with the stretches between two marks highlighted. */
export function highlighted(text, from, to) {
	const out = document.createDocumentFragment();
	for (const [i, part] of text.split(from).entries()) {
		const end = i === 0 ? -1 : part.indexOf(to);
		if (end < 0) out.append(part);
		else out.append(el("mark", part.slice(0, end)), part.slice(end + to.length));
	}
	return out;
}
