// The plugins that run: what each is, what it may reach, and how it does.
import { call } from "./api.js";
import { copyButton, count, counted, el, empty, json, problem, show, size, tell } from "./dom.js";
import { session } from "./session.js";

/** What a state means. @type {Record<string, string>} */
const states = { ready: "runs", refused: "refused", resting: "rests after faults", loading: "is being loaded" };

/** @param {HTMLElement} root */
export async function plugins(root) {
  root.append(
    el("h1", {}, "Plugins"),
    el(
      "p",
      { class: "lead" },
      "Every provider of answers and every collector of figures is a WebAssembly plugin. It has no files, no sockets and no keys: it describes a request, and the service sends it, only to the addresses listed. Fuel counts the instructions that a call may spend.",
    ),
  );
  const wrong = el("div"),
    list = el("div");
  if (session.can("plugins.reload"))
    root.append(el("p", { class: "buttons" }, el("button", { type: "button", onclick: reload }, "Look at the plugin directory again")));
  root.append(wrong, list);
  async function reload() {
    try {
      await call("POST", "/plugins/reload");
      tell("The directory was read.");
      await draw();
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  }
  async function draw() {
    wrong.replaceChildren();
    const { results } = await call("GET", "/plugins");
    const of = (/** @type {string} */ kind) => results.filter((/** @type {any} */ p) => p.kind === kind);
    if (results.length === 0)
      list.replaceChildren(
        empty("No plugin runs", "Install one from a file or a URL on the machine of this service:", el("code", {}, "parley plugin install FILE")),
      );
    else
      list.replaceChildren(
        ...[
          ["provider", "Providers"],
          ["collector", "Collectors"],
        ]
          .filter(([kind]) => of(kind).length > 0)
          .flatMap(([kind, title]) => [el("h2", {}, title), ...of(kind).map(card)]),
      );
  }
  await draw();
}

/** @param {any} p */
function card(p) {
  const reach = p.grants?.http ?? [],
    faults = Object.entries(p.faults ?? {});
  return el(
    "article",
    { class: "card" },
    el(
      "h3",
      {},
      `${p.name} ${p.version} `,
      el("span", { class: p.state === "ready" ? "tag good" : "tag bad" }, states[p.state] ?? p.state),
      " ",
      p.locked ? el("span", { class: "tag" }, "pinned") : el("span", { class: "tag" }, "not pinned"),
    ),
    el(
      "p",
      {},
      p.source ? `Answers for workspaces whose provider is “${p.source}”. ` : "Counts what happens, and never sees a text. ",
      reach.length > 0 ? `May reach ${reach.join(", ")}.` : "Reaches no address.",
      p.grants?.secrets?.length ? ` The service adds ${p.grants.secrets.join(", ")} to its requests; the plugin does not see it.` : "",
    ),
    p.reason || p.error ? el("p", { class: "bad" }, p.reason ?? p.error) : null,
    el(
      "p",
      { class: "soft" },
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
    el(
      "details",
      {},
      el("summary", {}, "Change its version"),
      el("p", { class: "soft" }, "On the machine of this service. Nothing is restarted; answers under way end on the version that they began on."),
      ...[
        `parley plugin install FILE-or-URL`,
        `parley plugin pin ${p.name} ${p.version}`,
        `parley plugin rollback ${p.name}`,
        `parley plugin diff ${p.name}`,
      ].map((c) =>
        el(
          "p",
          { class: "buttons" },
          el("code", {}, c),
          copyButton("Copy", () => c),
        ),
      ),
    ),
    p.sha256 ? el("p", { class: "hint" }, `sha256 ${p.sha256}`) : null,
    el("p", { class: "buttons" }, el("button", { type: "button", onclick: () => show(`${p.name} ${p.version}`, json(p)) }, "All figures")),
  );
}
