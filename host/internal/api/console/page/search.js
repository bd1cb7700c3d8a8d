// Search as you type. Each key pressed ends the search before.
import { asCurl, at, call } from "./api.js";
import {
	beginning,
	button,
	buttons,
	copyButton,
	count,
	counted,
	el,
	empty,
	field,
	heading,
	highlighted,
	hint,
	json,
	linked,
	orders,
	problem,
	quoted,
	row,
	select,
	show,
	soft,
	table,
	titleOf,
} from "./dom.js";
import { session } from "./session.js";
import { file, place } from "./sources.js";

const from = "\u{e000}",
	to = "\u{e001}"; // marks that no text has
const step = 20; // hits that come at a time

/** What each rule of the ranking looks at. */
const rules = {
	words: "How many of the words the document has.",
	typo: "How few letters differ.",
	proximity: "How near the words are to each other.",
	attribute: "How early in the list of searchable attributes the words are.",
	wordPosition: "How early in the attribute the words are.",
	exactness: "How much of the text is just what was typed.",
	vectorSort: "How near the meaning is.",
	sort: "The order that was asked for.",
};

/** @param {any} details of one hit's score */
const explained = (details) =>
	Object.keys(details ?? {}).length === 0
		? [soft("No words were asked for, so all documents are equal.")]
		: [
				soft("The rules count in this order; each score goes from 0 to 1."),
				table(
					["Rule", ["Score", "number"], "What it looks at"],
					Object.entries(details)
						.sort((a, b) => (a[1].order ?? 0) - (b[1].order ?? 0))
						.map(([name, d]) => [name, (d.score ?? d.similarity)?.toLocaleString() ?? "", rules[name.replace(/Rank$|:.*/, "")] ?? "A rule of this index."]),
					"Score by rule",
				),
			];

/** A search is part of its view's address, so that it can be sent. */
const address = (index, asked) => {
	const query = new URLSearchParams(Object.entries(asked).filter(([, v]) => v));
	return `#/search/${encodeURIComponent(index)}${query.size ? `/${encodeURIComponent(String(query))}` : ""}`;
};

export async function search(root, path, left) {
	root.append(...heading("Search", "Hits come while you type. The address holds the search, so it can be sent."));
	const uids = await session.indexes();
	if (uids.length === 0 && session.can("indexes.get")) {
		root.append(empty("No index yet", "An index is a collection of documents that can be searched.", linked("Add documents", "#/documents", "button main")));
		return;
	}
	const uid = path[0] || uids[0] || "";
	const asked = new URLSearchParams(path[1]);
	const index = uids.length > 0 ? select(uids.includes(uid) ? uids : [uid, ...uids], uid) : el("input", { value: uid, placeholder: "its name" });
	index.addEventListener("change", () => {
		location.hash = address(index.value, {});
	});
	const q = el("input", { type: "search", placeholder: "Type words", value: asked.get("q") ?? "" });
	const settings = uid && session.can("settings.get") ? await call("GET", at`/indexes/${uid}/settings`).catch(() => null) : null;
	const filter = el("input", { placeholder: "year > 2000 AND genre = Drama", value: asked.get("filter") ?? "" });
	const sort = orders(settings, "by relevance", asked.get("sort") ?? "");
	const [embedder] = Object.keys(settings?.embedders ?? {});
	const ratio = el("input", { type: "range", min: 0, max: 1, step: 0.05, value: 0.5 });
	const wrong = el("div"),
		facets = el("div", { class: "row" }),
		figures = el("p", { class: "soft", role: "status" }),
		hits = el("div"),
		more = el("p", { class: "buttons" });
	root.append(
		row(field("Index", index), el("div", { class: "grow" }, field("Words", q))),
		row(
			el(
				"div",
				{ class: "grow" },
				field("Filter", filter, settings && !settings.filterableAttributes?.length ? "No attribute of this index can be filtered by yet: choose some under Indexes." : undefined),
				wrong,
			),
			sort.options.length > 1 && field("Order", sort),
			embedder && field("Words or meaning", ratio, "Left: the words alone. Right: the meaning alone."),
		),
		facets,
		figures,
		hits,
		more,
	);

	let running = new AbortController();
	left.addEventListener("abort", () => running.abort());
	/** Searches anew, or for the hits after those that are shown. */
	async function run(offset = 0) {
		running.abort();
		if (!index.value) return;
		running = new AbortController();
		const { signal } = running;
		const body = {
			q: q.value,
			filter: filter.value || undefined,
			sort: sort.value ? [sort.value] : undefined,
			facets: offset ? undefined : ["*"],
			offset: offset || undefined,
			limit: step,
			attributesToHighlight: ["*"],
			attributesToCrop: ["*"],
			cropLength: 40,
			highlightPreTag: from,
			highlightPostTag: to,
			showRankingScore: true,
			showRankingScoreDetails: true,
			hybrid: embedder && q.value && Number(ratio.value) > 0 ? { embedder, semanticRatio: Number(ratio.value) } : undefined,
		};
		const route = at`/indexes/${index.value}/search`;
		try {
			const res = await call("POST", route, body, signal);
			history.replaceState(null, "", address(index.value, { q: q.value, filter: filter.value, sort: sort.value }));
			wrong.replaceChildren();
			filter.removeAttribute("aria-invalid");
			const shown = offset + res.hits.length;
			figures.replaceChildren(
				`${counted(res.estimatedTotalHits, "hit", "hits")} in ${count(res.processingTimeMs)} ms `,
				copyButton("Copy as curl", () => asCurl("POST", route, { body })),
			);
			if (!offset) {
				facets.replaceChildren(
					...Object.entries(res.facetDistribution ?? {})
						.slice(0, 6)
						.map(([name, values]) => facet(name, values)),
				);
				hits.replaceChildren();
			}
			hits.append(...res.hits.map(hit));
			more.replaceChildren(shown < res.estimatedTotalHits && res.hits.length > 0 ? button("More hits", () => run(shown)) : "");
			if (shown === 0)
				hits.append(empty("Nothing found", filter.value ? "No document has these words and meets the filter." : "No document has these words. Fewer words find more."));
		} catch (err) {
			if (signal.aborted) return;
			const { code, message } = err;
			wrong.replaceChildren(problem(err));
			if (code !== "invalid_search_filter") return;
			filter.setAttribute("aria-invalid", "true");
			const column = Number(/ at column (\d+)/.exec(message)?.[1]);
			if (column) wrong.prepend(el("pre", filter.value.slice(0, column - 1), el("mark", filter.value.slice(column - 1) || " "))); // under the place
		}
	}
	function facet(name, values) {
		const entries = Object.entries(values);
		const pick = select([["", `any of ${count(entries.length)}`], ...entries.slice(0, 100).map(([v, n]) => [v, `${beginning(v, 80)} (${count(n)})`])]);
		pick.addEventListener("change", () => {
			const part = `${name} = ${quoted(pick.value)}`;
			filter.value = filter.value ? `(${filter.value}) AND ${part}` : part;
			run();
		});
		return field(name, pick);
	}
	function hit(h) {
		const { _formatted, _rankingScore, _rankingScoreDetails, ...whole } = h;
		const shown = _formatted ?? whole;
		const title = titleOf(shown);
		const headings = Array.isArray(shown.headings) ? shown.headings : [];
		const text = (v) => highlighted(beginning(typeof v === "string" ? v : JSON.stringify(v), 2000), from, to);
		const rows = (list) => el("div", { class: "scroll" }, el("table", ...list.map(([name, v]) => el("tr", el("th", { scope: "row" }, beginning(name, 80)), el("td", text(v))))));
		const all = Object.entries(shown).filter(([, v]) => v !== null && v !== "" && v !== title);
		// Of a passage of a file its text is what counts; of another document, the fields that have the words.
		const passage = typeof whole.path === "string" && typeof whole.text === "string";
		const matched = all.filter(([, v]) => JSON.stringify(v).includes(from));
		const body = passage ? el("p", text(shown.text)) : rows((matched.length > 0 ? matched : all).slice(0, 3));
		return el(
			"article",
			{ class: "card" },
			(title || headings.length > 0) && el("h2", text([title, ...headings].filter(Boolean).join(" › "))),
			passage && hint(text(shown.path), place(whole) && ` · ${place(whole)}`),
			body,
			el("details", el("summary", "All fields"), rows(all)),
			buttons(
				passage && session.can("documents.get") ? button("Open the file", () => file(index.value, whole)) : button("Whole document", () => show("Document", json(whole))),
				button(`Score ${count(_rankingScore)}`, () => show("Why this document is here", ...explained(_rankingScoreDetails))),
			),
		);
	}
	for (const input of [q, filter]) input.addEventListener("input", () => run());
	for (const input of [sort, ratio]) input.addEventListener("change", () => run());
	q.focus();
	await run();
}
