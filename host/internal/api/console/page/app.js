// The console: which view is shown, the theme, the keyboard, and the key.
import { key, sent } from "./api.js";
import { ask } from "./ask.js";
import { cluster } from "./cluster.js";
import { documents } from "./documents.js";
import { button, byId, copyButton, count, el, empty, linked, problem, show, soft, table } from "./dom.js";
import { indexes } from "./indexes.js";
import { keys } from "./keys.js";
import { plugins } from "./plugins.js";
import { search } from "./search.js";
import { session } from "./session.js";
import { start } from "./start.js";
import { tasks } from "./tasks.js";
import { telemetry } from "./telemetry.js";
import { usage } from "./usage.js";
import { workspaces } from "./workspaces.js";

/** @typedef {(root: HTMLElement, path: string[], left: AbortSignal) => Promise<void>} Draw draws a view; left aborts when another is shown */

/**
 * @typedef {object} View
 * @property {string} title
 * @property {string} group
 * @property {Draw} draw
 * @property {string[]} needs actions of the key
 */

const views = {
	start: { title: "Start", group: "Use", draw: start, needs: [] },
	ask: { title: "Ask", group: "Use", draw: ask, needs: ["chatCompletions", "search"] },
	search: { title: "Search", group: "Use", draw: search, needs: ["search"] },
	documents: { title: "Documents", group: "Content", draw: documents, needs: ["documents.get"] },
	indexes: { title: "Indexes", group: "Content", draw: indexes, needs: ["indexes.get"] },
	tasks: { title: "Tasks", group: "Content", draw: tasks, needs: ["tasks.get"] },
	workspaces: { title: "Workspaces", group: "Answers", draw: workspaces, needs: ["chats.get", "chatsSettings.get"] },
	plugins: { title: "Plugins", group: "Answers", draw: plugins, needs: ["plugins.get"] },
	keys: { title: "Keys", group: "Service", draw: keys, needs: ["keys.get"] },
	cluster: { title: "Cluster", group: "Service", draw: cluster, needs: ["metrics.get"] },
	usage: { title: "Usage", group: "Service", draw: usage, needs: ["stats.get"] },
	telemetry: { title: "Telemetry", group: "Service", draw: telemetry, needs: ["telemetry.get"] },
};

const header = /** @type {HTMLElement} */ (document.querySelector("header"));
const nav = byId("nav");
const menu = byId("menu");
const main = byId("main");
const signOut = byId("key");

/** Whether this host serves the description of its API as a page. */
const described = fetch("../docs", { method: "HEAD" }).then(
	(r) => r.ok,
	() => false,
);

/** Lists the views that the key may use.
 * @param {boolean} docs there is a page about the API
 */
function drawNav(docs) {
	nav.replaceChildren();
	let group = "";
	for (const [name, v] of Object.entries(views)) {
		if (!session.can(...v.needs)) continue;
		if (v.group !== group) nav.append(el("h2", v.group));
		group = v.group;
		nav.append(el("a", { href: `#/${name}`, "data-view": name }, v.title));
	}
	if (docs) nav.append(linked("API reference", "../docs"));
	signOut.hidden = !key.get();
}

let leave = new AbortController();
let known = /** @type {string|null} */ (null); // the key that session knows of

/** Shows the view that the address names. */
async function route() {
	const [wanted, ...path] = location.hash
		.replace(/^#\/?/, "")
		.split("/")
		.map((p) => {
			try {
				return decodeURIComponent(p);
			} catch {
				return p;
			}
		});
	const name = Object.hasOwn(views, wanted) ? wanted : "start";
	const v = views[name];
	leave.abort();
	leave = new AbortController();
	const { signal } = leave;
	document.title = `${v.title} · Parley`;
	header.classList.remove("open");
	menu.setAttribute("aria-expanded", "false");
	const root = el("div");
	main.replaceChildren(soft("Loading…"));
	try {
		if (known !== key.get()) {
			await session.load();
			known = key.get();
		}
		drawNav(await described);
		for (const a of nav.querySelectorAll("a")) {
			if (a.dataset.view === name) a.setAttribute("aria-current", "page");
		}
		if (signal.aborted) return;
		main.replaceChildren(root);
		if (!session.can(...v.needs)) {
			const lacks = v.needs.filter((n) => !session.can(n));
			root.append(el("h1", v.title), empty("Not with this key", `It lacks: ${lacks.join(", ")}. Whoever holds the master key can make one that has it.`));
			return;
		}
		await v.draw(root, path, signal);
	} catch (err) {
		if (signal.aborted) return;
		main.replaceChildren(root);
		root.append(problem(err), el("p", button("Try again", route)));
	}
}

const theme = localStorage.getItem("parley-theme");
if (theme) document.documentElement.dataset.theme = theme;
byId("theme").addEventListener("click", () => {
	const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	const next = now === "dark" ? "light" : "dark";
	document.documentElement.dataset.theme = next;
	localStorage.setItem("parley-theme", next);
});

menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(header.classList.toggle("open"))));

signOut.addEventListener("click", () => {
	key.forget();
	sessionStorage.clear();
	location.hash = "";
	location.reload();
});

const shortcuts = [
	["/", "go to the search box or the question"],
	["?", "show this list"],
	["Ctrl or Cmd + Enter", "send the question"],
	["Esc", "close what is open"],
];
const showShortcuts = () => show("Shortcuts", table(["Key", "What it does"], shortcuts, "Shortcuts"));
byId("help").addEventListener("click", showShortcuts);
byId("requests").addEventListener("click", () =>
	show(
		"What this page asked",
		soft("The page uses the public API alone: what it did last, as commands for a shell. $PARLEY_KEY stands for your key."),
		table(
			["Request", ["Status", "number"], ["Time", "number"], ""],
			sent.map((s) => [`${s.method} ${s.path}`, String(s.status), `${count(Math.round(s.ms))} ms`, copyButton("Copy", s.curl)]),
			"Requests",
		),
	),
);

addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
	if (e.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
	if (e.key === "?") showShortcuts();
	if (e.key === "/") {
		const box = main.querySelector("input[type=search], textarea");
		if (box instanceof HTMLElement) {
			box.focus();
			e.preventDefault();
		}
	}
});

addEventListener("hashchange", async (e) => {
	const before = document.activeElement;
	if (e.newURL) scrollTo(0, 0); // at once: whoever is quick has gone on once a view is drawn
	await route();
	const now = document.activeElement; // a view, or somebody meanwhile, may have chosen another place
	if (now === document.body || (now === before && !main.contains(now))) main.focus({ preventScroll: true });
});
route();
