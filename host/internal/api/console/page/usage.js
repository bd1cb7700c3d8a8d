// What the service was asked and what it took, since it started.
import { call, request } from "./api.js";
import { bars, figure } from "./chart.js";
import { attempt, button, count, el, empty, heading, renew, size, table } from "./dom.js";
import { session } from "./session.js";

/** Reads the text form of Prometheus: samples by name. @returns {Map<string, {labels: Record<string, string>, value: number}[]>} */
function samples(text) {
	const all = new Map();
	for (const line of text.split("\n")) {
		const m = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
		if (!m) continue;
		const labels = Object.fromEntries([...(m[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, k, v]) => [k, v.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c))]));
		if (!all.has(m[1])) all.set(m[1], []);
		all.get(m[1]).push({ labels, value: Number(m[3]) });
	}
	return all;
}

export async function usage(root, _path, left) {
	root.append(...heading("Usage", "What was asked and what it took, since this service started. A token is a piece of a word; providers charge by them."));
	const budgets = await call("GET", "/usage", undefined, left).catch(() => null);
	const stats = await call("GET", "/stats", undefined, left);
	const documents = Object.values(stats.indexes).reduce((n, x) => n + x.numberOfDocuments, 0);
	const cards = el("div", { class: "cards figures" }),
		wrong = el("div");
	cards.append(figure(count(documents), "documents"), figure(size(stats.databaseSize ?? 0), "on disk"));
	root.append(cards);
	if (budgets) drawBudgets(root, budgets);
	if (!session.can("metrics.get")) {
		root.append(empty("More with another key", "The figures of requests need the action metrics.get."));
		return;
	}
	let all;
	try {
		all = samples(await (await request("GET", "/metrics", { signal: left })).text());
	} catch (err) {
		if (err.code !== "feature_not_enabled") throw err;
		root.append(
			empty(
				"The figures of requests are off",
				"Switch on the feature “metrics” to see requests, chats, searches and tokens here.",
				session.can("experimental.update") && button("Switch it on", () => attempt(wrong, enable), "main"),
				wrong,
			),
		);
		return;
	}
	const sum = (name) => (all.get(name) ?? []).reduce((n, s) => n + s.value, 0);
	const by = (name, key) => {
		const out = new Map();
		for (const s of all.get(name) ?? []) out.set(key(s.labels), (out.get(key(s.labels)) ?? 0) + s.value);
		return [...out].filter(([name, n]) => name && n > 0);
	};
	const mean = (name) => (sum(`${name}_count`) > 0 ? `${count(Math.round((1000 * sum(`${name}_sum`)) / sum(`${name}_count`)))} ms` : "–");
	cards.append(
		figure(count(sum("parley_http_requests_total")), "requests"),
		figure(count(sum("parley_chat_answers_total")), "answers"),
		figure(count(sum("parley_search_duration_seconds_count")), "searches"),
		figure(mean("parley_chat_first_word_seconds"), "to the first word, on average"),
		figure(count(sum("parley_chat_tokens_total")), "tokens"),
	);
	/** @type {[string, string, (l: Record<string, string>) => string][]} */
	const charts = [
		["Answers by workspace", "parley_chat_answers_total", (l) => `${l.workspace}: ${l.outcome}`],
		["Tokens by workspace", "parley_chat_tokens_total", (l) => `${l.workspace}: ${l.kind}`],
		["Tokens by model", "parley_chat_tokens_total", (l) => `${l.model}: ${l.kind}`],
		["Failures of answers", "parley_chat_failures_total", (l) => `${l.source}: ${l.kind}`],
		["Requests by route", "parley_http_requests_total", (l) => `${l.method} ${l.route}`],
		["Requests that were refused or failed", "parley_http_requests_total", (l) => (/^[45]/.test(l.status) ? `${l.status} ${l.method} ${l.route}` : "")],
	];
	for (const [title, name, key] of charts) root.append(bars(title, by(name, key)));

	async function enable() {
		await call("PATCH", "/experimental-features", { metrics: true });
		renew();
	}
}

/** @param {any} budgets the answer of GET /usage */
function drawBudgets(root, budgets) {
	for (const [title, rows] of [
		["Workspaces", budgets.workspaces],
		["Keys", budgets.keys],
	]) {
		const used = rows.filter((r) => r.current.requests + r.current.refused > 0);
		if (used.length === 0) continue;
		root.append(
			el("h2", `${title}: this period`),
			table(
				["", ["Requests", "number"], ["Prompt tokens", "number"], ["Answer tokens", "number"], ["Refused", "number"]],
				used.map((r) => [r.uid, ...[r.current.requests, r.current.promptTokens, r.current.completionTokens, r.current.refused].map(count)]),
				title,
			),
		);
	}
}
