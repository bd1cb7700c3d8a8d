// The console: which view is shown, the theme, and the key.
import { key } from "./api.js";
import { problem } from "./dom.js";
import { ask } from "./ask.js";
import { documents } from "./documents.js";
import { plugins } from "./plugins.js";
import { search } from "./search.js";
import { start } from "./start.js";
import { tasks } from "./tasks.js";

/** @type {Record<string, [string, (root: HTMLElement, path: string[], left: AbortSignal) => Promise<void>]>} */
const views = {
  start: ["Start", start],
  ask: ["Ask", ask],
  search: ["Search", search],
  documents: ["Documents", documents],
  tasks: ["Tasks", tasks],
  plugins: ["Plugins", plugins],
};

const nav = /** @type {HTMLElement} */ (document.getElementById("nav"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
for (const [name, [title]] of Object.entries(views)) {
  const a = document.createElement("a");
  a.href = `#/${name}`;
  a.textContent = title;
  nav.append(a);
}

let leave = new AbortController();

async function route() {
  const [name, ...path] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const [title, view] = views[name] ?? views.start;
  leave.abort();
  leave = new AbortController();
  document.title = `${title} · Parley`;
  for (const a of nav.children) a.toggleAttribute("aria-current", a.textContent === title);
  const root = document.createElement("div");
  main.replaceChildren(root);
  document.getElementById("key")?.toggleAttribute("hidden", !key.get());
  try {
    await view(root, path, leave.signal);
  } catch (err) {
    if (!leave.signal.aborted) root.append(problem(err));
  }
}

const theme = localStorage.getItem("parley-theme");
if (theme) document.documentElement.dataset.theme = theme;
document.getElementById("theme")?.addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark" || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("parley-theme", dark ? "light" : "dark");
});
document.getElementById("key")?.addEventListener("click", () => {
  key.forget();
  location.reload();
});
addEventListener("hashchange", route);
addEventListener("keydown", (e) => {
  if (e.key === "/" && !(e.target instanceof HTMLElement && /INPUT|TEXTAREA|SELECT/.test(e.target.tagName))) {
    const box = main.querySelector("input[type=search], textarea");
    if (box instanceof HTMLElement) {
      box.focus();
      e.preventDefault();
    }
  }
});
route();
