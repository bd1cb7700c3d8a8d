// The plugins that run: what each is, what it may reach, and how it does.
import { call } from "./api.js";
import { count, el, json, show } from "./dom.js";

/** @param {HTMLElement} root */
export async function plugins(root) {
  root.append(el("h1", {}, "Plugins"), el("p", { class: "soft" }, "Every provider of answers and every collector of figures is a WebAssembly plugin. It has no files, no sockets and no keys: it describes a request, and the service sends it, only to the addresses listed."));
  const answer = await call("GET", "/plugins");
  const list = answer.results ?? answer.plugins ?? [];
  if (list.length === 0) root.append(el("p", {}, "No plugin runs. Install one with ", el("code", {}, "parley plugin install FILE"), "."));
  for (const p of list) {
    const reach = p.grants?.http ?? [];
    root.append(el("article", { class: "card" },
      el("h2", {}, `${p.name} ${p.version}`), el("p", {}, p.source ? `Answers the source ${p.source}. ` : "Collects figures. ", `State: ${p.state}.`),
      el("p", {}, reach.length > 0 ? `May reach: ${reach.join(", ")}` : "Reaches no address."),
      el("p", { class: "soft" }, `${count(p.calls ?? 0)} calls${Object.keys(p.faults ?? {}).length > 0 ? `, faults: ${Object.entries(p.faults).map(([kind, n]) => `${n} ${kind}`).join(", ")}` : ", no faults"}`),
      p.sha256 ? el("p", { class: "hint" }, `sha256 ${p.sha256}`) : null,
      el("p", { class: "buttons" }, el("button", { type: "button", onclick: () => show(`${p.name} ${p.version}`, json(p)) }, "All figures"))));
  }
}
