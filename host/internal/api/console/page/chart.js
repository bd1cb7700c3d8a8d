// Charts, drawn as SVG. Each has its figures in a table beside it.
import { beginning, count, el, soft, svg, table } from "./dom.js";

/** A figure, and what it counts. @param {string|Node} what */
export const figure = (value, what) => el("article", { class: "card" }, el("p", { class: "figure" }, value), soft(what));

/** Bars with their values, the largest first. @param {string} title @param {[string, number][]} values @param {(n: number) => string} [as] how a value is written */
export function bars(title, values, as = count) {
	const shown = values.toSorted((a, b) => b[1] - a[1]).slice(0, 12);
	if (shown.length === 0) return el("section", { class: "card" }, el("h3", title), soft("Nothing yet."));
	const most = shown[0][1];
	// Bars are parts of the width, so it fits a phone.
	const drawing = svg(
		"svg",
		{ class: "chart", height: 40 * shown.length, "aria-hidden": "true" },
		...shown.flatMap(([name, n], i) => [
			svg("text", { y: 40 * i + 14 }, `${beginning(name, 39)}: ${as(n)}`),
			svg("rect", { y: 40 * i + 20, width: `${Math.max(0.5, (100 * n) / most)}%`, height: 10, rx: 3 }),
		]),
	);
	return el(
		"section",
		{ class: "card" },
		el("h3", title),
		drawing,
		el(
			"details",
			el("summary", "As a table"),
			table(
				["", ["Value", "number"]],
				values.map(([name, n]) => [name, as(n)]),
				title,
			),
		),
	);
}
