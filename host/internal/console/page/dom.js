// Small helpers for the page's elements. Texts only ever become text nodes.

/**
 * Sets attributes of a node and appends its children.
 * @template {Element} T
 * @param {T} node
 * @param {Record<string, any>} attributes on… are listeners, true sets a bare attribute
 * @param {(Node|string|null|undefined|false)[]} children
 * @returns {T}
 */
function build(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled" || key === "hidden") /** @type {any} */ (node)[key] = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

/**
 * Makes an element.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export const el = (name, attributes = {}, ...children) => build(document.createElement(name), attributes, children);

/**
 * Makes an element of a drawing.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|null|undefined|false)} children
 */
export const svg = (name, attributes = {}, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const numbers = new Intl.NumberFormat();
/** @param {number} n */
export const count = (n) => numbers.format(n);

/** @param {number} n @param {string} one @param {string} many */
export const counted = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

/** @param {number} n bytes */
export function size(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${numbers.format(i === 0 ? n : Number(n.toFixed(1)))} ${units[i]}`;
}

/** @param {string|null|undefined} iso */
export const time = (iso) => (iso ? new Date(iso).toLocaleString() : "");

/**
 * Shows content in the dialog.
 * @param {string} title
 * @param {...(Node|string|null)} content
 */
export function show(title, ...content) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("show"));
  document.getElementById("show-title")?.replaceChildren(title);
  document.getElementById("show-body")?.replaceChildren(...content.filter((c) => c !== null));
  if (!dialog.open) dialog.showModal();
}

/**
 * Asks once before something goes; resolves to whether it shall.
 * @param {string} title names what goes
 * @param {string} consequence says whether it can be undone
 * @param {string} [yes] what the button says
 * @returns {Promise<boolean>}
 */
export function confirmed(title, consequence, yes = "Delete") {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("confirm"));
  document.getElementById("confirm-title")?.replaceChildren(title);
  document.getElementById("confirm-body")?.replaceChildren(el("p", {}, consequence));
  document.getElementById("confirm-yes")?.replaceChildren(yes);
  dialog.returnValue = "no"; // what Esc leaves
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
}

let quiet = 0;
/**
 * Says for a while, in the corner, what was done.
 * @param {string} text
 */
export function tell(text) {
  document.getElementById("told")?.replaceChildren(text);
  clearTimeout(quiet);
  quiet = setTimeout(() => document.getElementById("told")?.replaceChildren(), 5000);
}

/**
 * Says what went wrong, in the API's own words and with its link.
 * @param {any} err
 */
export function problem(err) {
  const link = err?.link && /^https?:\/\//.test(err.link) ? el("a", { href: err.link, rel: "noopener", target: "_blank" }, "What it means") : null;
  return el("p", { class: "bad", role: "alert" }, err?.message ?? String(err), link ? " " : null, link);
}

/** @param {any} value */
export const json = (value) => el("pre", { tabindex: 0 }, JSON.stringify(value, null, 2));

/**
 * What stands where there is nothing yet: why, and what to do.
 * @param {string} title
 * @param {string} text
 * @param {...Node} actions
 */
export const empty = (title, text, ...actions) =>
  el("div", { class: "empty" }, el("h2", {}, title), el("p", { class: "soft" }, text), actions.length > 0 && el("p", { class: "buttons" }, ...actions));

/**
 * A control with its label and a sentence of help.
 * @param {string} label
 * @param {Element} control
 * @param {string} [help]
 */
export function field(label, control, help) {
  const id = `help-${++fields}`;
  if (help) control.setAttribute("aria-describedby", id);
  return el("label", { class: "field" }, label, control, help ? el("span", { class: "hint", id }, help) : null);
}
let fields = 0;

/**
 * @param {(string|[string, string])[]} heads a pair has the class of its column
 * @param {Node[]} rows
 * @param {string} caption read to those who do not see the table
 */
export const table = (heads, rows, caption) =>
  el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      { class: "list" },
      el(
        "thead",
        {},
        el("tr", {}, ...heads.map((h) => (typeof h === "string" ? el("th", { scope: "col" }, h) : el("th", { scope: "col", class: h[1] }, h[0])))),
      ),
      el("tbody", {}, ...rows),
    ),
  );

/**
 * A button that copies a text.
 * @param {string} label
 * @param {() => string} text
 */
export const copyButton = (label, text) => el("button", { type: "button", onclick: () => copy(text()) }, label);

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch {
    show("Copy this", el("pre", { tabindex: 0 }, text)); // the browser gives the clipboard to secure pages only
  }
}

/**
 * Tabs of which one is shown at a time.
 * @param {[string, () => Node][]} tabs
 */
export function tabbed(tabs) {
  const body = el("div", { role: "tabpanel" });
  const bar = el("div", { class: "tabs", role: "tablist" });
  const pick = (/** @type {number} */ at) => {
    for (const [i, b] of [...bar.children].entries()) {
      b.setAttribute("aria-selected", String(i === at));
      b.tabIndex = i === at ? 0 : -1;
    }
    body.setAttribute("aria-label", tabs[at][0]);
    body.replaceChildren(tabs[at][1]());
  };
  for (const [i, [title]] of tabs.entries()) bar.append(el("button", { type: "button", role: "tab", onclick: () => pick(i) }, title));
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const at = ([...bar.children].indexOf(/** @type {Element} */ (document.activeElement)) + step + tabs.length) % tabs.length;
    pick(at);
    /** @type {HTMLElement} */ (bar.children[at]).focus();
  });
  pick(0);
  return el("div", {}, bar, body);
}

/**
 * A text with the stretches between two marks highlighted.
 * @param {string} text
 * @param {string} from
 * @param {string} to
 */
export function highlighted(text, from, to) {
  const out = document.createDocumentFragment();
  for (const [i, part] of text.split(from).entries()) {
    const end = i === 0 ? -1 : part.indexOf(to);
    if (end < 0) out.append(part);
    else out.append(el("mark", {}, part.slice(0, end)), part.slice(end + to.length));
  }
  return out;
}
