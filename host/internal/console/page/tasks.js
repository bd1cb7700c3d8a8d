// What the service is doing and did: writes are tasks, one after the other.
import { call, finished } from "./api.js";
import { confirmed, count, counted, el, empty, json, problem, show, table, tell, time } from "./dom.js";
import { session } from "./session.js";

const states = ["enqueued", "processing", "succeeded", "failed", "canceled"];

/** @param {HTMLElement} root @param {string[]} _path @param {AbortSignal} left */
export async function tasks(root, _path, left) {
  const status = el("select", {}, el("option", { value: "" }, "any"), ...states.map((s) => el("option", { value: s }, s)));
  const index = el("input", { placeholder: "any" });
  const list = el("div"),
    batch = el("div", { role: "status" }),
    wrong = el("div"),
    foot = el("p", { class: "buttons" });
  root.append(
    el("h1", {}, "Tasks"),
    el("p", { class: "lead" }, "Each change of documents, settings and indexes is a task. Tasks are done one after the other; the list renews itself."),
    el(
      "div",
      { class: "row" },
      el("label", { class: "field" }, "State", status),
      el("label", { class: "field" }, "Index", index),
      session.can("tasks.delete") ? el("button", { type: "button", onclick: forget }, "Forget finished tasks") : null,
    ),
    wrong,
    batch,
    list,
    foot,
  );
  let from = /** @type {number|null} */ (null); // the newest task of the page; null: of all

  async function draw() {
    const query = new URLSearchParams({ limit: "30" });
    if (status.value) query.set("statuses", status.value);
    if (index.value.trim()) query.set("indexUids", index.value.trim());
    if (from !== null) query.set("from", String(from));
    const [page, batches] = await Promise.all([
      call("GET", `/tasks?${query}`, undefined, left),
      call("GET", "/batches?statuses=processing&limit=1", undefined, left),
    ]);
    wrong.replaceChildren();
    drawBatch(batches.results[0]);
    list.replaceChildren(
      page.results.length === 0
        ? empty("No task", status.value || index.value ? "None is in this state for this index." : "Adding documents makes the first one.")
        : table(["Task", "What", "Index", "State", "Since", ""], page.results.map(row), "Tasks"),
    );
    foot.replaceChildren(
      el("button", { type: "button", disabled: from === null, onclick: () => go(null) }, "Newest"),
      el("button", { type: "button", disabled: page.next === null, onclick: () => go(page.next) }, "Older"),
      el("span", { class: "soft" }, counted(page.total, "task", "tasks")),
    );
  }
  /** @param {any} b */
  function drawBatch(b) {
    const steps = b?.progress?.steps ?? [];
    batch.replaceChildren(
      ...(b
        ? [
            el(
              "div",
              { class: "card" },
              el("h3", {}, `Batch ${b.uid} is under way: ${counted(b.stats?.totalNbTasks ?? 0, "task", "tasks")}`),
              el("progress", { max: 100, value: b.progress?.percentage ?? 0, "aria-label": "Progress" }),
              ...steps.map((/** @type {any} */ s) => el("p", { class: "hint" }, `${s.currentStep}: ${count(s.finished)} of ${count(s.total)}`)),
            ),
          ]
        : []),
    );
  }
  /** @param {any} t */
  function row(t) {
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, String(t.uid)),
      el("td", {}, t.type),
      el("td", {}, t.indexUid ?? ""),
      el(
        "td",
        {},
        el("span", { class: t.status === "failed" ? "tag bad" : t.status === "succeeded" ? "tag good" : "tag" }, t.status),
        t.error ? el("div", { class: "hint" }, t.error.message) : null,
      ),
      el("td", {}, time(t.startedAt ?? t.enqueuedAt)),
      el(
        "td",
        {},
        el(
          "span",
          { class: "buttons" },
          el("button", { type: "button", onclick: () => details(t) }, "Details"),
          session.can("tasks.cancel") && (t.status === "enqueued" || t.status === "processing")
            ? el("button", { type: "button", onclick: () => cancel(t.uid) }, "Cancel")
            : null,
        ),
      ),
    );
  }
  /** @param {any} t */
  const details = (t) => show(`Task ${t.uid}`, t.error ? problem(Object.assign(new Error(t.error.message), t.error)) : null, json(t));
  /** @param {number|null} to */
  const go = (to) => {
    from = to;
    again();
  };
  const again = () =>
    draw().catch((err) => {
      if (!left.aborted) wrong.replaceChildren(problem(err));
    });
  /** @param {number} uid */
  async function cancel(uid) {
    try {
      await call("POST", `/tasks/cancel?uids=${uid}`);
      await draw();
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  }
  async function forget() {
    if (!(await confirmed("Forget all finished tasks?", "What they did stays. Only their entries go, for good.", "Forget"))) return;
    try {
      await finished((await call("DELETE", "/tasks?statuses=succeeded,failed,canceled")).taskUid);
      tell("Forgotten.");
      await draw();
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  }
  status.addEventListener("change", () => go(null));
  index.addEventListener("change", () => go(null));
  await draw();
  const renewal = setInterval(() => {
    if (document.visibilityState === "visible" && !document.querySelector("dialog[open]")) again();
  }, 2000);
  left.addEventListener("abort", () => clearInterval(renewal));
}
