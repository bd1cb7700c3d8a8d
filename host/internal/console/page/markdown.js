// Shows the Markdown of answers. It only ever sets text: nothing of an answer becomes markup.
import { el } from "./dom.js";

const inline = /(`[^`\n]+`)|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|\[([A-Za-z0-9_-]+)\/([A-Za-z0-9_-]+)\]/g;

/**
 * @param {string} text
 * @param {(index: string, id: string) => void} cite opens a document
 */
function line(text, cite) {
  const out = document.createDocumentFragment();
  let at = 0;
  for (const m of text.matchAll(inline)) {
    out.append(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[1]) out.append(el("code", {}, m[1].slice(1, -1)));
    else if (m[2]) out.append(el("strong", {}, m[2]));
    else if (m[3]) out.append(el("a", { href: m[4], rel: "noopener", target: "_blank" }, m[3]));
    else out.append(el("button", { class: "chip", type: "button", onclick: () => cite(m[5], m[6]) }, `${m[5]}/${m[6]}`));
  }
  out.append(text.slice(at));
  return out;
}

/**
 * @param {string} text
 * @param {(index: string, id: string) => void} cite
 */
export function markdown(text, cite) {
  const out = document.createDocumentFragment();
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; ) {
    const l = lines[i];
    const heading = /^(#{1,6})\s+(.*)/.exec(l);
    if (l.startsWith("```")) {
      const code = [];
      for (i++; i < lines.length && !lines[i].startsWith("```"); i++) code.push(lines[i]);
      i++;
      out.append(el("pre", {}, el("code", {}, code.join("\n"))));
    } else if (heading) {
      out.append(el(`h${Math.min(heading[1].length + 2, 6)}`, {}, line(heading[2], cite)));
      i++;
    } else if (/^\s*([-*]|\d+\.)\s/.test(l)) {
      const list = el(/^\s*\d/.test(l) ? "ol" : "ul");
      for (; i < lines.length && /^\s*([-*]|\d+\.)\s/.test(lines[i]); i++) list.append(el("li", {}, line(lines[i].replace(/^\s*([-*]|\d+\.)\s+/, ""), cite)));
      out.append(list);
    } else if (l.startsWith(">")) {
      const quote = el("blockquote");
      for (; i < lines.length && lines[i].startsWith(">"); i++) quote.append(line(lines[i].replace(/^>\s?/, ""), cite), el("br"));
      out.append(quote);
    } else if (l.startsWith("|")) {
      const table = el("table");
      for (; i < lines.length && lines[i].startsWith("|"); i++) {
        if (/^[|\s:-]+$/.test(lines[i])) continue;
        table.append(el("tr", {}, ...lines[i].split("|").slice(1, -1).map((c) => el("td", {}, line(c.trim(), cite)))));
      }
      out.append(el("div", { class: "scroll" }, table));
    } else if (l.trim() === "") {
      i++;
    } else {
      const p = el("p");
      for (; i < lines.length && lines[i].trim() !== "" && !/^(#{1,6}\s|```|>|\||\s*([-*]|\d+\.)\s)/.test(lines[i]); i++) {
        if (p.childNodes.length) p.append(" ");
        p.append(line(lines[i], cite));
      }
      if (!p.childNodes.length) p.append(line(lines[i++], cite));
      out.append(p);
    }
  }
  return out;
}
