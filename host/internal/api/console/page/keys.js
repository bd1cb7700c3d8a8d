// API keys, and tenant tokens that are made in the browser.
import { at, call } from "./api.js";
import {
	attempt,
	button,
	buttons,
	confirmed,
	copyButton,
	counted,
	el,
	empty,
	field,
	form,
	heading,
	pager,
	pre,
	problem,
	renew,
	row,
	select,
	show,
	soft,
	submit,
	table,
	tell,
	time,
} from "./dom.js";
import { session } from "./session.js";

/** What a narrow key is for. @type {[string, string[], string][]} */
const purposes = [
	["Search", ["search"], "Safe in a web page."],
	["Ask and search", ["search", "chatCompletions"], "For chat clients. Limit what it may spend."],
	["Add and delete documents", ["documents.*", "indexes.create", "tasks.get"], "For what keeps an index in step."],
	["Read everything but keys", ["*.get", "search"], "For dashboards and looking around."],
	["Manage indexes", ["indexes.*", "documents.*", "settings.*", "tasks.*", "stats.get"], "For those who run a collection."],
	["Everything", ["*"], "As strong as the master key, but it can be deleted."],
];

export async function keys(root) {
	root.append(...heading("Keys", "A key says what its holder may do, on which indexes and workspaces, until when. All derive from the master key of whoever runs the service."));
	const step = 50,
		wrong = el("div"),
		list = el("div"),
		tokens = el("div");
	async function draw(offset) {
		const page = await call("GET", `/keys?limit=${step}&offset=${offset}`);
		list.replaceChildren(
			table(
				["Name", "May", "Indexes", "Until", ""],
				page.results.map((k) => [
					el("div", k.name ?? "unnamed", k.description && el("div", { class: "hint" }, k.description)),
					k.actions.join(", "),
					k.indexes.join(", "),
					k.expiresAt ? time(k.expiresAt) : "no end",
					el(
						"span",
						{ class: "buttons" },
						k.key && copyButton("Copy", () => k.key),
						session.can("keys.delete") && button("Delete", () => attempt(wrong, () => remove(k)), "danger"),
					),
				]),
				"Keys",
			),
			page.total > step ? pager(offset, page.results.length, page.total, step, "keys", (to) => attempt(wrong, () => draw(to))) : "",
		);
		tokens.replaceChildren(tenant(page.results));
	}
	try {
		await draw(0);
	} catch (err) {
		if (err.code !== "missing_master_key") throw err;
		root.append(empty("This service is open", "It has no master key, so everybody who reaches it may do everything. Start it with a master key, and keys can be made here."));
		return;
	}
	root.append(session.can("keys.create") ? wizard() : "", el("h2", "Keys of this service"), wrong, list, el("h2", "Tenant tokens"), tokens);

	async function remove(k) {
		if (!(await confirmed(`Delete the key ${k.name ?? k.uid}?`, "Whoever uses it is refused from now on. This cannot be undone."))) return;
		await call("DELETE", at`/keys/${k.uid}`);
		tell("Deleted.");
		renew();
	}
}

/** A form for a key that may do little. */
function wizard() {
	const name = el("input", { required: true, placeholder: "Web page" });
	const purpose = select(purposes.map(([title]) => title));
	const help = el("p", { class: "hint" });
	const indexes = el("input", { value: "*", required: true }),
		workspaces = el("input", { value: "*", required: true });
	const until = el("input", { type: "date", min: new Date().toISOString().slice(0, 10) });
	const wrong = el("div");
	const actions = () => purposes[purpose.selectedIndex][1];
	const tellPurpose = () => help.replaceChildren(`${purposes[purpose.selectedIndex][2]} Actions: ${actions().join(", ")}.`);
	purpose.addEventListener("change", tellPurpose);
	tellPurpose();
	const split = (text) => text.split(/[\s,]+/).filter(Boolean);
	return el(
		"section",
		{ class: "card" },
		el("h2", "Give access"),
		form(
			"form",
			wrong,
			async () => {
				const made = await call("POST", "/keys", {
					name: name.value,
					actions: actions(),
					indexes: split(indexes.value),
					workspaces: split(workspaces.value),
					expiresAt: until.value ? `${until.value}T00:00:00Z` : null,
				});
				renew();
				show("The new key", el("p", "Copy it now, and hand it over by a safe way."), pre(made.key), buttons(copyButton("Copy", () => made.key)));
			},
			row(field("Name", name), field("What may it do?", purpose), field("Until", until, "Empty: no end.")),
			help,
			row(field("On which indexes?", indexes, "Names or beginnings with *, separated by commas."), field("In which workspaces?", workspaces, "For asking. Likewise.")),
			wrong,
			buttons(submit("Make the key")),
		),
	);
}

const base64url = (bytes) =>
	btoa(String.fromCharCode(...bytes))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");

/**
 * Signs a tenant token, a JWT that narrows a key. The service is not asked.
 * @param {string} uid @param {string} value the key's @param {number|undefined} until seconds
 */
async function sign(uid, value, rules, until) {
	const text = new TextEncoder();
	const head = base64url(text.encode(JSON.stringify({ alg: "HS256", typ: "JWT" })));
	const claims = base64url(text.encode(JSON.stringify({ apiKeyUid: uid, searchRules: rules, exp: until })));
	const secret = await crypto.subtle.importKey("raw", text.encode(value), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
	const signature = await crypto.subtle.sign("HMAC", secret, text.encode(`${head}.${claims}`));
	return `${head}.${claims}.${base64url(new Uint8Array(signature))}`;
}

function tenant(all) {
	const able = all.filter((k) => k.key && (k.actions.includes("*") || k.actions.includes("search")));
	const text = soft("A tenant token gives one of your users the part of an index that is theirs. It is signed with a key, here in the browser, and ends when that key does.");
	const why = !crypto.subtle
		? "The browser signs only on pages of https or of this computer. Your own server can sign them with any JWT library."
		: able.length === 0 && "It takes the value of a key that may search, and this key may not read values: sign in with the master key.";
	if (why) return el("div", text, el("p", { class: "notice" }, why));
	const key = select(able.map((k) => k.name ?? k.uid));
	const index = el("input", { value: able[0].indexes[0] ?? "*", required: true });
	const filter = el("input", { placeholder: "user = 42", required: true });
	const until = el("input", { type: "datetime-local" });
	const out = el("div");
	return el(
		"div",
		text,
		form(
			"",
			out,
			async () => {
				const k = able[key.selectedIndex];
				const token = await sign(k.uid, k.key, { [index.value]: { filter: filter.value } }, until.value ? Date.parse(until.value) / 1000 : undefined);
				out.replaceChildren(pre(token), buttons(copyButton("Copy", () => token)));
				if (index.value.includes("*")) return;
				// The token asks, and not the key of this page.
				const response = await fetch(at`/indexes/${index.value}/search`, {
					method: "POST",
					headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
					body: JSON.stringify({ limit: 3 }),
				});
				const seen = await response.json();
				out.append(response.ok ? el("p", `It sees ${counted(seen.estimatedTotalHits, "document", "documents")} of ${index.value}.`) : problem(seen));
			},

			row(field("Key", key), field("Index", index), el("div", { class: "grow" }, field("Only documents that meet", filter)), field("Until", until, "Empty: as long as the key.")),
			buttons(submit("Make the token and try it")),
		),
		out,
	);
}
