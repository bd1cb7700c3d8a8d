// A conversation with a workspace. It is kept in the browser only.
import { asCurl, call, events, request } from "./api.js";
import { el, json, problem, show } from "./dom.js";
import { markdown } from "./markdown.js";

const place = "parley-conversation";
const reports = ["searchProgress", "searchSources"].map((name) => ({ type: "function", function: { name } }));

/** @param {HTMLElement} root @param {string[]} path @param {AbortSignal} left */
export async function ask(root, path, left) {
  root.append(el("h1", {}, "Ask"));
  const uids = (await call("GET", "/chats?limit=1000")).results.map((/** @type {any} */ w) => w.uid);
  if (uids.length === 0) {
    root.append(el("p", {}, "There is no workspace yet. A workspace says which model answers, and from which indexes. Run ", el("code", {}, "parley quickstart"), " or send ", el("code", {}, "PATCH /chats/{name}/settings"), "."));
    return;
  }
  const workspace = /** @type {HTMLSelectElement} */ (el("select", {}, ...uids.map((/** @type {string} */ u) => el("option", { value: u }, u))));
  if (uids.includes(path[0])) workspace.value = path[0];
  const model = /** @type {HTMLInputElement} */ (el("input", { value: localStorage.getItem("parley-model") ?? "any" }));
  const turns = el("div", { "aria-live": "polite" });
  const box = /** @type {HTMLTextAreaElement} */ (el("textarea", { rows: 3, placeholder: "Ask a question about your documents", "aria-label": "Question" }));
  const send = /** @type {HTMLButtonElement} */ (el("button", { class: "main", type: "submit" }, "Ask"));
  const stop = el("button", { type: "button", hidden: true }, "Stop");
  const clear = el("button", { type: "button" }, "New conversation");
  const form = el("form", {}, box, el("p", { class: "buttons" }, send, stop, clear));
  root.append(el("div", { class: "row" }, el("label", {}, "Workspace", workspace), el("label", {}, "Model", model)), turns, form);

  /** @type {{role: string, content: string}[]} */
  let talk = JSON.parse(sessionStorage.getItem(place) ?? "[]");
  const keep = () => sessionStorage.setItem(place, JSON.stringify(talk));
  const cite = async (/** @type {string} */ index, /** @type {string} */ id) => {
    try {
      show(`${index}/${id}`, json(await call("GET", `/indexes/${encodeURIComponent(index)}/documents/${encodeURIComponent(id)}`)));
    } catch (err) {
      show(`${index}/${id}`, problem(err));
    }
  };
  const turn = (/** @type {string} */ role, /** @type {Node|string} */ ...content) => {
    const card = el("section", { class: `card turn ${role}`, "aria-label": role === "user" ? "Question" : "Answer" }, ...content);
    turns.append(card);
    return card;
  };
  const redraw = () => {
    turns.replaceChildren();
    for (const m of talk) turn(m.role, m.role === "user" ? el("p", {}, m.content) : markdown(m.content, cite));
  };
  redraw();
  clear.addEventListener("click", () => { talk = []; keep(); redraw(); box.focus(); });

  let running = /** @type {AbortController|null} */ (null);
  left.addEventListener("abort", () => running?.abort());
  stop.addEventListener("click", () => running?.abort());
  box.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) /** @type {HTMLFormElement} */ (form).requestSubmit(); });
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const question = box.value.trim();
    if (!question || running) return;
    localStorage.setItem("parley-model", model.value);
    const messages = [...talk, { role: "user", content: question }];
    const route = `/chats/${encodeURIComponent(workspace.value)}/chat/completions`;
    const body = { model: model.value || "any", messages, stream: true, tools: reports };
    turn("user", el("p", {}, question));
    const searches = el("ul", { class: "soft" });
    const answer = el("div", { class: "busy" });
    const foot = el("p", { class: "buttons soft" });
    const card = turn("assistant", searches, answer, foot);
    box.value = "";
    send.disabled = true;
    stop.hidden = false;
    running = new AbortController();
    const began = performance.now();
    let first = 0, text = "", drawn = false, usage = /** @type {any} */ (null), failed = /** @type {any} */ (null);
    const saw = /** @type {any[]} */ ([]);
    const draw = () => { drawn = false; if (running) answer.textContent = text; };
    try {
      await events(await request("POST", route, { body, signal: running.signal }), (data) => {
        if (data === "[DONE]") return;
        const chunk = JSON.parse(data);
        if (chunk.error) { failed = chunk.error; return; }
        usage = chunk.usage ?? usage;
        const delta = chunk.choices?.[0]?.delta ?? {};
        for (const c of delta.tool_calls ?? []) {
          const f = c.function ?? {};
          if (f.name === "searchProgress") {
            const asked = JSON.parse(JSON.parse(f.arguments).function_arguments || "{}");
            searches.append(el("li", {}, `Searched ${asked.indexUid ?? ""} for “${asked.q ?? ""}”${asked.filter ? ` where ${asked.filter}` : ""}`));
          } else if (f.name === "searchSources") saw.push(...JSON.parse(f.arguments).sources);
        }
        if (delta.content) {
          first ||= performance.now();
          text += delta.content;
          if (!drawn) { drawn = true; requestAnimationFrame(draw); }
        }
      });
    } catch (err) {
      failed = running?.signal.aborted ? null : err;
    }
    running = null;
    answer.classList.remove("busy");
    answer.replaceChildren(markdown(text, cite));
    if (failed) card.append(problem(failed));
    if (text) { talk = [...messages, { role: "assistant", content: text }]; keep(); } else box.value = question;
    if (saw.length) foot.append(el("button", { type: "button", onclick: () => show("What the model saw", ...saw.map((d) => json(d))) }, `What the model saw (${saw.length})`));
    foot.append(el("button", { type: "button", onclick: () => navigator.clipboard.writeText(asCurl("POST", route, body)) }, "Copy as curl"));
    if (first) foot.append(`${Math.round(first - began)} ms to the first word${usage ? `, ${usage.total_tokens} tokens` : ""}`);
    send.disabled = false;
    stop.hidden = true;
    box.focus();
  });
  box.focus();
}
