// The console: which view is shown, the theme, the keyboard, and the key.
import { key, sent, unreached } from "./api.js";
import { ask, begin, sidebar } from "./ask.js";
import { documents } from "./documents.js";
import { button, byId, confirmed, copyButton, count, el, empty, field, icon, problem, select, show, soft, table } from "./dom.js";
import { language, languages, t } from "./i18n.js";
import { search } from "./search.js";
import { session } from "./session.js";
import { start } from "./start.js";
import { drafts, talks } from "./talks.js";

/** @typedef {(root: HTMLElement, path: string[], left: AbortSignal) => Promise<void>} Draw draws a view; left aborts when another is shown */

/**
 * @typedef {object} View
 * @property {string} title
 * @property {boolean} [admin] it is for whoever runs the service
 * @property {Draw} draw
 * @property {string[]} needs actions of the key
 */

/** A view whose module is loaded once it is shown: few go there. */
const later =
	(name) =>
	async (...shown) =>
		(await import(`./${name}.js`).catch(unreached))[name](...shown);

/** The views; those of the group Administration are behind one entry. */
const views = {
	ask: { title: t`Ask`, draw: ask, needs: ["chatCompletions", "search"] },
	search: { title: t`Search`, draw: search, needs: ["search"] },
	documents: { title: t`Documents`, draw: documents, needs: ["documents.get"] },
	start: { title: t`Overview`, admin: true, draw: start, needs: [] },
	workspaces: { title: t`Workspaces`, admin: true, draw: later("workspaces"), needs: ["chats.get", "chatsSettings.get"] },
	plugins: { title: t`Plugins`, admin: true, draw: later("plugins"), needs: ["plugins.get"] },
	indexes: { title: t`Indexes`, admin: true, draw: later("indexes"), needs: ["indexes.get"] },
	tasks: { title: t`Tasks`, admin: true, draw: later("tasks"), needs: ["tasks.get"] },
	keys: { title: t`Keys`, admin: true, draw: later("keys"), needs: ["keys.get"] },
	cluster: { title: t`Cluster`, admin: true, draw: later("cluster"), needs: ["metrics.get"] },
	usage: { title: t`Usage`, admin: true, draw: later("usage"), needs: ["stats.get"] },
	telemetry: { title: t`Telemetry`, admin: true, draw: later("telemetry"), needs: ["telemetry.get"] },
};

const header = /** @type {HTMLElement} */ (document.querySelector("header"));
const nav = byId("nav");
const menu = byId("menu");
const main = byId("main");
const talksList = byId("talks");
const signOut = byId("key");

/** Whether this host serves the description of its API as a page. */
const described = fetch("../docs", { method: "HEAD" }).then(
	(r) => r.ok,
	() => false,
);

/** Lists the views that the key may use. */
function drawNav(shown, docs) {
	const may = Object.entries(views).filter(([, v]) => session.can(...v.needs));
	const entry = ([name, v]) =>
		el("a", { href: `#/${name}`, "data-view": name, class: v.admin && "sub", "aria-current": name === shown && "page" }, v.admin ? "" : icon(name), v.title);
	const inside = Boolean(views[shown].admin);
	nav.replaceChildren(
		...may.filter(([, v]) => !v.admin).map(entry),
		el("a", { href: "#/start", class: inside && "open" }, icon("admin"), t`Administration`),
		...(inside ? may.filter(([, v]) => v.admin).map(entry) : []),
		inside && docs ? el("a", { href: "../docs", class: "sub" }, t`API reference`) : "",
	);
	talksList.hidden = shown !== "ask";
	if (!talksList.hidden && !talksList.firstChild) sidebar(talksList);
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
	leave.abort();
	leave = new AbortController();
	const { signal } = leave;
	header.classList.remove("open");
	menu.setAttribute("aria-expanded", "false");
	const root = el("div");
	main.replaceChildren(soft(t`Loading…`));
	main.setAttribute("aria-busy", "true");
	try {
		if (known !== key.get()) {
			await session.load();
			known = key.get();
		}
		const name = Object.hasOwn(views, wanted) ? wanted : session.can(...views.ask.needs) ? "ask" : "start";
		const v = views[name];
		const docs = await described;
		if (signal.aborted) return;
		drawNav(name, docs);
		document.title = `${v.title} · Parley`;
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
		root.append(problem(err), el("p", button(t`Try again`, route)));
	} finally {
		if (!signal.aborted) main.removeAttribute("aria-busy");
	}
}

for (const [id, text] of [
	["menu", t`Menu`],
	["theme", t`Theme`],
	["requests", t`Requests`],
	["help", t`Shortcuts`],
	["key", t`Sign out`],
])
	byId(id).replaceChildren(text);

const theme = localStorage.getItem("parley-theme");
if (theme) document.documentElement.dataset.theme = theme;
byId("theme").addEventListener("click", () => {
	const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	const next = now === "dark" ? "light" : "dark";
	document.documentElement.dataset.theme = next;
	localStorage.setItem("parley-theme", next);
});

menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(header.classList.toggle("open"))));

signOut.addEventListener("click", async () => {
	const kept = (await talks.list()).length;
	if (kept > 0 && (await confirmed(t`Delete your conversations, too?`, t`${kept} are kept in this browser. Whoever uses it next can read them.`, t`Delete them`, t`Keep them`)))
		await talks.clear();
	key.forget();
	sessionStorage.clear();
	localStorage.removeItem(drafts.place);
	location.hash = "";
	location.reload();
});

const shortcuts = [
	["Enter", t`send the question`],
	["Shift + Enter", t`break the line`],
	["↑", t`change the last question, in an empty box`],
	["Esc", t`stop the answer, or close what is open`],
	["/", t`go to the question or the search box`],
	["n", t`begin a new conversation`],
	["?", t`show this list`],
];
const showShortcuts = () =>
	show(
		t`Shortcuts`,
		table(
			[t`Key`, t`What it does`],
			shortcuts.map(([k, what]) => [el("kbd", k), what]),
			t`Shortcuts`,
		),
		soft(t`Letters work where nothing is typed.`),
		field(t`Language`, tongue),
	);
const tongue = select(languages, language);
tongue.addEventListener("change", () => {
	localStorage.setItem("parley-language", tongue.value);
	location.reload();
});
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

const closeMenus = (but) => {
	for (const m of document.querySelectorAll("details.menu[open]")) if (m !== but) m.removeAttribute("open");
};
addEventListener("click", (e) => {
	const at = e.target instanceof Element ? e.target : null;
	closeMenus(at?.closest("button") ? null : at?.closest("details.menu"));
});

addEventListener("keydown", (e) => {
	if (e.key === "Escape") {
		const open = document.querySelector("details.menu[open]");
		closeMenus(null);
		if (open?.contains(document.activeElement)) open.querySelector("summary")?.focus();
	}
	if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
	if (e.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
	if (e.key === "?") showShortcuts();
	if (e.key === "n" && session.can(...views.ask.needs)) {
		begin();
		e.preventDefault();
	}
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
	if (e.newURL) scrollTo(0, 0); // at once, for those who are quick
	await route();
	const now = document.activeElement; // a view, or somebody meanwhile, may have chosen another place
	if (now === document.body || (now === before && !main.contains(now))) main.focus({ preventScroll: true });
});
route();
