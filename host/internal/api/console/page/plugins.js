// The plugins that run: what each is, what it may reach, and how it does.
import { call, request } from "./api.js";
import {
	addresses,
	attempt,
	button,
	buttons,
	confirmed,
	count,
	counted,
	el,
	empty,
	field,
	form,
	heading,
	hint,
	json,
	select,
	show,
	size,
	soft,
	submit,
	table,
	tell,
	time,
} from "./dom.js";
import { session } from "./session.js";

/** What a state means. */
const states = { ready: "runs", open: "rests after faults", retiring: "ends its last answers", refused: "refused", unlisted: "not installed" };

export async function plugins(root) {
	root.append(
		...heading(
			"Plugins",
			"Providers of answers, guards of conversations and collectors of figures are WebAssembly plugins. They have no files, sockets or keys: the service sends what they ask for, to the listed addresses alone. Fuel counts the instructions of a call.",
		),
	);
	const wrong = el("div"),
		adding = el("div"),
		list = el("div");
	const reload = () =>
		attempt(wrong, async () => {
			await call("POST", "/plugins/reload");
			tell("The directory was read.");
			await draw();
		});
	if (session.can("plugins.reload")) root.append(buttons(button("Look at the plugin directory again", reload)));
	root.append(adding, wrong, list);
	async function draw() {
		wrong.replaceChildren();
		const { results, changeable, problems } = await call("GET", "/plugins");
		const change = changeable && session.can("plugins.update") ? draw : null;
		adding.replaceChildren(...(problems ?? []).map((p) => el("p", { class: "bad" }, p)), ...(change ? [addForm(change)] : []));
		const of = (kind) => results.filter((p) => p.kind === kind);
		if (results.length === 0)
			list.replaceChildren(empty("No plugin runs", "Install one from a file, a URL or a registry on the machine of this service:", el("code", "parley plugin install FILE")));
		else
			list.replaceChildren(
				...[
					["provider", "Providers"],
					["guard", "Guards"],
					["collector", "Collectors"],
				]
					.filter(([kind]) => of(kind).length > 0)
					.flatMap(([kind, title]) => [el("h2", title), ...of(kind).map((p) => card(p, results, change))]),
			);
	}
	await draw();
}

/**
 * Has the service look at a plugin, or install it.
 * @param {"diff"|"install"} act
 * @param {string|File[]} from where the service finds it, or its file with its signature
 * @param {any} [wish]
 */
async function send(act, from, wish) {
	if (typeof from === "string") return call("POST", `/plugins/${act}`, act === "diff" ? { new: from } : { source: from, ...wish });
	const files = new FormData();
	for (const f of from) files.append(f.name.endsWith(".minisig") ? "signature" : "plugin", f, f.name);
	return (await request("POST", `/plugins/${act}/file${wish ? `?${new URLSearchParams(wish)}` : ""}`, { form: files })).json();
}

/** What is asked before a plugin comes: where it is. */
function addForm(done) {
	const source = el("input", {
			name: "source",
			required: true,
			placeholder: "oci://registry.example.com/parley/openai:1.1.0",
			autocomplete: "off",
		}),
		pick = el("input", { type: "file", accept: ".wasm,.minisig", multiple: true }),
		wrong = el("div"),
		look = submit("Look at it", "");
	// The one that was given last counts.
	source.addEventListener("input", () => {
		pick.value = "";
		source.required = true;
	});
	pick.addEventListener("change", () => {
		source.required = !pick.files?.length;
		if (!source.required) source.value = "";
	});
	return form(
		"card",
		wrong,
		async () => {
			wrong.replaceChildren();
			look.disabled = true;
			try {
				const from = source.value.trim() || [...(pick.files ?? [])];
				preview(await send("diff", from), from, done);
			} finally {
				look.disabled = false;
			}
		},
		el("h2", "Install or update"),
		field("Where it is", source, "A place in a registry, a URL of a .wasm file, or a plugin's name where this service knows a registry. Nothing is installed yet."),
		field("Or its file", pick, "A .wasm file, with its .minisig file where this service wants plugins to be signed."),
		buttons(look),
		wrong,
	);
}

/** @param {any} g the grants of a plugin */
const grants = (g) => [
	...(g.http ?? []).map((s) => `send requests to ${addresses([s])}`),
	...(g.secrets ?? []).map((s) => `have ${s} put into them`),
	...(g.auth ?? []).map((s) => `have them signed by ${s}`),
];

/** @param {any} d a comparison of two versions */
const differences = (d) =>
	d.changes.length === 0
		? el("p", "Nothing differs.")
		: table(
				["What", d.old ? `In ${d.old.version}` : "Before", `In ${d.new.version}`],
				d.changes.map((c) => [`${c.group} ${c.path}`, addresses([c.old ?? "–"]), addresses([c.new ?? "–"])]),
				"What differs",
			);

/** Shows what would be installed, and installs it once what it asks for is accepted. */
function preview(d, from, done) {
	const taken = d.owner && d.owner !== d.new.name,
		more = grants(d.widened),
		wrong = el("div"),
		grant = el("input", { type: "checkbox", required: true }),
		place = select({ beside: "only workspaces that name it", takeSource: `all that ${d.owner} answers, with their keys` });
	show(
		`${d.new.name} ${d.new.version}`,
		el("p", d.description ?? ""),
		soft(d.old ? `Compared with ${d.old.version}, which is in use.` : "Nothing of this name runs yet."),
		form(
			"",
			wrong,
			async () => {
				const { change } = await send("install", from, { sha256: d.new.sha256, grant: grant.checked, ...(taken ? { [place.value]: true } : {}) });
				show("Installed", el("p", change.kept ? `${change.name} ${change.version} is there: ${change.kept}` : `${change.name} ${change.use} is in use.`));
				await done();
			},
			more.length > 0
				? el("div", el("p", d.old ? "It asks for more than that one. It may:" : "It may:"), el("ul", ...more.map((m) => el("li", m))))
				: el("p", d.old ? "It asks for nothing more." : "It reaches no address."),
			more.length > 0 && el("label", { class: "check" }, grant, "I accept that"),
			taken && field(`Plugin ${d.owner} answers “${d.source}”. This one answers`, place),
			buttons(submit("Install")),
			wrong,
		),
		el("details", el("summary", `All that differs: ${count(d.changes.length)}`), differences(d)),
	);
}

/** What may be done about the versions of one plugin. */
function versions(p, all, done) {
	const others = all.filter((o) => o.name === p.name && o.version !== p.version && o.locked),
		wrong = el("div");
	const act = (path, body) =>
		attempt(wrong, async () => {
			const { change } = await call("POST", path, body);
			await done();
			tell(change.removed ? `${change.name} ${change.removed.join(", ")} is removed.` : `${change.name} ${change.use} is in use.`);
		});
	const remove = async (plugin, title, then) =>
		(await confirmed(`Remove ${title}?`, `${then} Answers under way end on it. This cannot be undone, but it can be installed again.`, "Remove")) &&
		act("/plugins/remove", { plugin });
	const compare = (o) =>
		attempt(wrong, async () => {
			const d = await call("POST", "/plugins/diff", { old: `${p.name}@${p.version}`, new: `${o.name}@${o.version}` });
			show(`${p.name} ${p.version} and ${o.version}`, differences(d));
		});
	const sure = (title) => confirmed(title, "Answers under way end on the version that they began on. This can be rolled back.", "Change");
	return el(
		"div",
		...others.map((o) =>
			buttons(
				`${o.version} `,
				button(`Compare with ${o.version}`, () => compare(o)),
				button(`Use ${o.version}`, async () => (await sure(`Use ${o.name} ${o.version}?`)) && act("/plugins/pin", { plugin: `${o.name}@${o.version}` })),
				button(`Remove ${o.version}`, () => remove(`${o.name}@${o.version}`, `${o.name} ${o.version}`, "Nothing can be rolled back to it."), "danger"),
			),
		),
		buttons(
			others.length > 0 && button("Roll back", async () => (await sure(`Roll back ${p.name}?`)) && act("/plugins/rollback", { name: p.name })),
			button(
				`Remove ${p.name}`,
				() =>
					remove(
						p.name,
						`${p.name} with all its versions`,
						p.source ? `Workspaces whose provider is “${p.source}” cannot answer.` : p.kind === "guard" ? "Workspaces that name it cannot answer." : "What it counted is kept.",
					),
				"danger",
			),
		),
		wrong,
	);
}

/** @param {(() => Promise<void>)|null} change draws anew what was changed; null: nothing may be */
function card(p, all, change) {
	const reach = p.grants?.http ?? [],
		faults = Object.entries(p.faults ?? {});
	return el(
		"article",
		{ class: "card" },
		el(
			"h3",
			`${p.name} ${p.version} `,
			el("span", { class: p.state === "ready" ? "tag good" : "tag bad" }, states[p.state] ?? p.state),
			" ",
			p.locked && el("span", { class: "tag" }, "pinned"),
		),
		el(
			"p",
			p.source
				? `${p.description || p.source}. `
				: p.kind === "guard"
					? "Sees the texts of workspaces that name it, and may change or block them. "
					: "Counts what happens, and never sees a text. ",
			reach.length > 0 ? `May reach ${addresses(reach)}.` : "Reaches no address.",
			p.grants?.secrets?.length ? ` The service adds ${p.grants.secrets.join(", ")} to its requests; the plugin does not see it.` : "",
		),
		p.error && el("p", { class: "bad" }, p.error),
		p.lastFault &&
			el("p", { class: "bad" }, `Last fault, ${time(p.lastFault.at)}: ${p.lastFault.message}${p.lastFault.workspace ? `, over input of workspace ${p.lastFault.workspace}` : ""}`),
		el(
			"details",
			el("summary", "Change or remove it"),
			...(change && p.locked && p.use
				? [versions(p, all, change)]
				: [soft("On the machine of this service, without a restart: ", el("code", "parley plugin install | pin | rollback | remove"), ".")]),
		),
		el(
			"details",
			el("summary", "Figures"),
			soft(
				[
					counted(p.calls ?? 0, "call", "calls"),
					p.streams ? `${count(p.streams)} answers under way` : "",
					faults.length > 0 ? `faults: ${faults.map(([kind, n]) => `${n} ${kind}`).join(", ")}` : "no faults",
					p.fuelP50 ? `fuel of a call: half take up to ${count(p.fuelP50)}, nearly all up to ${count(p.fuelP99)}` : "",
					p.memory ? `${size(p.memory)} of memory` : "",
				]
					.filter(Boolean)
					.join(" · "),
			),
			p.sha256 && hint(`sha256 ${p.sha256}`),
			buttons(button("All figures", () => show(`${p.name} ${p.version}`, json(p)))),
		),
	);
}
