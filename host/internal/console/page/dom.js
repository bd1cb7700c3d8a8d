// Small helpers for the page's elements. Texts only ever become text nodes.

/**
 * Makes an element.
 * @param {string} name
 * @param {Record<string, any>} [with_] attributes; on… are listeners, true sets a bare attribute
 * @param {...(Node|string|null|undefined)} children
 * @returns {HTMLElement}
 */
export function el(name, with_ = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(with_)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled") /** @type {any} */ (node)[key] = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

const numbers = new Intl.NumberFormat();
/** @param {number} n */
export const count = (n) => numbers.format(n);

/** @param {string} iso */
export const time = (iso) => (iso ? new Date(iso).toLocaleString() : "");

/**
 * Shows a value in the dialog.
 * @param {string} title
 * @param {...(Node|string)} content
 */
export function show(title, ...content) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("show"));
  document.getElementById("show-title")?.replaceChildren(title);
  document.getElementById("show-body")?.replaceChildren(...content);
  dialog.showModal();
}

/**
 * Says what went wrong, in the API's own words and with its link.
 * @param {any} err
 */
export function problem(err) {
  const link = err?.link && /^https?:\/\//.test(err.link) ? el("a", { href: err.link, rel: "noopener", target: "_blank" }, " What it means") : null;
  return el("p", { class: "bad", role: "alert" }, err?.message ?? String(err), link);
}

/** @param {any} value */
export const json = (value) => el("pre", {}, JSON.stringify(value, null, 2));

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
