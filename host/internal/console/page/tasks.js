// What the service is doing and did: writes are tasks, one after the other.
import { call } from "./api.js";
import { el, json, problem, show, time } from "./dom.js";

/** @param {HTMLElement} root @param {string[]} _path @param {AbortSignal} left */
export async function tasks(root, _path, left) {
  const status = /** @type {HTMLSelectElement} */ (el("select", {}, el("option", { value: "" }, "any"), ...["enqueued", "processing", "succeeded", "failed", "canceled"].map((s) => el("option", { value: s }, s))));
  const table = el("table"), wrong = el("div");
  root.append(el("h1", {}, "Tasks"), el("p", { class: "soft" }, "Each change of documents, settings and indexes is a task. The list renews itself."), el("div", { class: "row" }, el("label", {}, "State", status)), wrong, el("div", { class: "scroll" }, table));
  async function draw() {
    const page = await call("GET", `/tasks?limit=50${status.value ? `&statuses=${status.value}` : ""}`, undefined, left);
    wrong.replaceChildren();
    table.replaceChildren(el("tr", {}, ...["Task", "Type", "Index", "State", "Enqueued", ""].map((h) => el("th", {}, h))), ...page.results.map((/** @type {any} */ t) => el("tr", {},
      el("td", {}, String(t.uid)), el("td", {}, t.type), el("td", {}, t.indexUid ?? ""),
      el("td", { class: t.status === "failed" ? "bad" : "" }, t.status, t.error ? el("div", { class: "hint" }, t.error.message) : null), el("td", {}, time(t.enqueuedAt)),
      el("td", {}, el("button", { type: "button", onclick: () => show(`Task ${t.uid}`, json(t)) }, "Details"),
        t.status === "enqueued" || t.status === "processing" ? el("button", { type: "button", onclick: () => cancel(t.uid) }, "Cancel") : null))));
    if (page.results.length === 0) table.replaceChildren(el("tr", {}, el("td", {}, "No task in this state.")));
  }
  /** @param {number} uid */
  async function cancel(uid) {
    try {
      await call("POST", `/tasks/cancel?uids=${uid}`);
      await draw();
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  }
  status.addEventListener("change", () => draw().catch((err) => wrong.replaceChildren(problem(err))));
  await draw();
  const again = setInterval(() => { if (document.visibilityState === "visible") draw().catch((err) => { if (!left.aborted) wrong.replaceChildren(problem(err)); }); }, 2000);
  left.addEventListener("abort", () => clearInterval(again));
}
