// Charts, drawn as SVG. Each has its figures in a table beside it.
import { count, el, svg, table } from "./dom.js";

/**
 * Bars with their values, the largest first.
 * @param {string} title
 * @param {[string, number][]} values
 * @param {(n: number) => string} [as] how a value is written
 */
export function bars(title, values, as = count) {
  const shown = values.toSorted((a, b) => b[1] - a[1]).slice(0, 12);
  const most = Math.max(1, ...shown.map(([, n]) => n));
  const height = 28,
    left = 220,
    width = 640;
  const drawing = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height * shown.length}`, "aria-hidden": "true" },
    ...shown.flatMap(([name, n], i) => [
      svg("text", { x: left - 8, y: i * height + 18, "text-anchor": "end" }, name.length > 32 ? `${name.slice(0, 31)}…` : name),
      svg("rect", { x: left, y: i * height + 4, width: Math.max(1, ((width - left - 90) * n) / most), height: height - 10, rx: 3 }),
      svg("text", { x: left + ((width - left - 90) * n) / most + 6, y: i * height + 18 }, as(n)),
    ]),
  );
  return el(
    "section",
    { class: "card" },
    el("h3", {}, title),
    shown.length === 0 ? el("p", { class: "soft" }, "Nothing yet.") : drawing,
    shown.length === 0
      ? null
      : el(
          "details",
          {},
          el("summary", {}, "As a table"),
          table(
            ["", ["Value", "number"]],
            values.map(([name, n]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, as(n)))),
            title,
          ),
        ),
  );
}
