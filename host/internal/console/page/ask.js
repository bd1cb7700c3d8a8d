// A conversation with a workspace. It is kept in the browser only.
import { asCode, asCurl, call, events, request } from "./api.js";
import { copyButton, count, counted, el, empty, json, problem, show, size } from "./dom.js";
import { Growing, markdown } from "./markdown.js";

const place = "parley-conversation";
const draftPlace = "parley-draft";
const reports = ["searchProgress", "searchSources"].map((name) => ({ type: "function", function: { name } }));

/** @typedef {{role: string, content: string}} Message */

/**
 * What an answer brought beside its text.
 * @typedef {Object} Account
 * @property {any[]} searches
 * @property {any[]} documents
 * @property {any} usage
 * @property {any} failed
 * @property {number} first milliseconds to the first word; 0: there was none
 */

/**
 * Reads the stream of one answer.
 * @param {Response} response
 * @param {(text: string) => void} write
 * @param {(asked: any) => void} searching
 * @returns {Promise<Account>}
 */
async function read(response, write, searching) {
  const began = performance.now();
  const account = { searches: /** @type {any[]} */ ([]), documents: /** @type {any[]} */ ([]), usage: null, failed: /** @type {any} */ (null), first: 0 };
  await events(response, (data) => {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data);
    if (chunk.error) {
      account.failed = chunk.error;
      return;
    }
    account.usage = chunk.usage ?? account.usage;
    const delta = chunk.choices?.[0]?.delta ?? {};
    for (const { function: f } of delta.tool_calls ?? []) {
      if (f?.name === "searchProgress") {
        const asked = JSON.parse(JSON.parse(f.arguments).function_arguments || "{}");
        account.searches.push(asked);
        searching(asked);
      } else if (f?.name === "searchSources") account.documents.push(...JSON.parse(f.arguments).documents);
    }
    if (delta.content) {
      account.first ||= performance.now() - began;
      write(delta.content);
    }
  });
  return account;
}

/** @param {any[]} documents what the model was given, with the passages of each */
function seen(documents) {
  const bytes = new TextEncoder().encode(JSON.stringify(documents.map((d) => d._passages ?? d))).length;
  return [
    el("p", { class: "soft" }, `${counted(documents.length, "document", "documents")}, about ${size(bytes)} of text.`),
    ...documents.map((d) => {
      const { _passages, ...rest } = d;
      return el(
        "article",
        { class: "card" },
        ...(_passages ?? []).flatMap((/** @type {any} */ p) => [el("h3", {}, p.title ?? ""), el("p", { class: "soft" }, p.text ?? "")]),
        el("details", {}, el("summary", {}, "The document"), json(rest)),
      );
    }),
  ];
}

/** @param {HTMLElement} root @param {string[]} path @param {AbortSignal} left */
export async function ask(root, path, left) {
  root.append(el("h1", {}, "Ask"));
  const uids = (await call("GET", "/chats?limit=1000")).results.map((/** @type {any} */ w) => w.uid);
  if (uids.length === 0) {
    root.append(
      empty(
        "No workspace yet",
        "A workspace says which model answers, and from which indexes.",
        el("a", { class: "button main", href: "#/workspaces" }, "Make a workspace"),
      ),
    );
    return;
  }
  const workspace = el("select", {}, ...uids.map((/** @type {string} */ u) => el("option", { value: u }, u)));
  workspace.value = uids.includes(path[0])
    ? path[0]
    : uids.includes(localStorage.getItem("parley-workspace"))
      ? localStorage.getItem("parley-workspace")
      : uids[0];
  const model = el("input", { value: localStorage.getItem("parley-model") ?? "", placeholder: "as the workspace says" });
  const turns = el("div", { "aria-live": "polite" });
  const box = el("textarea", {
    rows: 3,
    placeholder: "Ask a question about your documents",
    "aria-label": "Question",
    value: sessionStorage.getItem(draftPlace) ?? "",
  });
  const send = el("button", { class: "main", type: "submit" }, "Ask");
  const stop = el("button", { type: "button", hidden: true }, "Stop");
  const clear = el("button", { type: "button" }, "New conversation");
  const save = el("button", { type: "button" }, "Save as JSON");
  const form = el(
    "form",
    { class: "compose" },
    box,
    el("div", { class: "buttons" }, send, stop, clear, save, el("span", { class: "soft" }, "Ctrl or Cmd + Enter sends. Conversations stay in this browser.")),
  );
  root.append(
    el("div", { class: "row" }, el("label", { class: "field" }, "Workspace", workspace), el("label", { class: "field" }, "Model", model)),
    turns,
    form,
  );

  /** @type {Message[]} */
  let talk = JSON.parse(sessionStorage.getItem(place) ?? "[]");
  const keep = () => sessionStorage.setItem(place, JSON.stringify(talk));
  let running = /** @type {AbortController|null} */ (null);
  /** @type {(index: string, id: string) => Promise<void>} */
  const cite = async (index, id) => {
    try {
      show(`${index}/${id}`, json(await call("GET", `/indexes/${encodeURIComponent(index)}/documents/${encodeURIComponent(id)}`)));
    } catch (err) {
      show(`${index}/${id}`, problem(err));
    }
  };

  /** @param {number} at the place of the question in talk */
  const questionCard = (at) =>
    el(
      "section",
      { class: "card turn user", "aria-label": "Question" },
      el("p", {}, talk[at].content),
      el(
        "p",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => edit(at) }, "Edit"),
        el("button", { type: "button", onclick: () => repeat(at) }, "Ask again"),
      ),
    );
  function redraw() {
    if (talk.length === 0) {
      turns.replaceChildren(
        empty(
          "Ask what your documents know",
          "The answer quotes them and names its places; you can look at all that the model was given. A question may build on the ones before.",
        ),
      );
      return;
    }
    turns.replaceChildren(
      ...talk.map((m, i) =>
        m.role === "user" ? questionCard(i) : el("section", { class: "card turn assistant", "aria-label": "Answer" }, markdown(m.content, cite)),
      ),
    );
  }
  /** @param {number} at */
  function edit(at) {
    if (running) return;
    box.value = talk[at].content;
    talk = talk.slice(0, at);
    keep();
    redraw();
    box.focus();
  }
  /** @param {number} at */
  function repeat(at) {
    if (running) return;
    const question = talk[at].content;
    talk = talk.slice(0, at);
    redraw();
    answer(question);
  }

  /** @param {string} question */
  async function answer(question) {
    localStorage.setItem("parley-model", model.value);
    localStorage.setItem("parley-workspace", workspace.value);
    const uid = workspace.value;
    const route = `/chats/${encodeURIComponent(uid)}/chat/completions`;
    talk.push({ role: "user", content: question });
    keep();
    const body = { model: model.value || "any", messages: [...talk], stream: true, stream_options: { include_usage: true }, tools: reports };
    if (talk.length === 1) turns.replaceChildren();
    const searches = el("ul", { class: "searches" }),
      text = el("div", { class: "busy" }),
      foot = el("p", { class: "buttons" });
    const card = el("section", { class: "card turn assistant", "aria-label": "Answer", "aria-busy": "true" }, searches, text, foot);
    turns.append(questionCard(talk.length - 1), card);
    card.scrollIntoView({ block: "nearest" });
    send.disabled = true;
    stop.hidden = false;
    running = new AbortController();
    const growing = new Growing(text, cite);
    /** @type {Account|null} */
    let account = null;
    let failed = null,
      stopped = false;
    try {
      account = await read(
        await request("POST", route, { body, signal: running.signal }),
        (more) => growing.add(more),
        (asked) =>
          searches.append(el("li", {}, `Searched ${asked.indexUid ?? "all indexes"} for “${asked.q ?? ""}”${asked.filter ? ` where ${asked.filter}` : ""}`)),
      );
      failed = account.failed;
    } catch (err) {
      stopped = running.signal.aborted;
      failed = stopped ? null : err;
    }
    running = null;
    text.classList.remove("busy");
    card.removeAttribute("aria-busy");
    growing.end();
    if (failed) card.append(problem(failed));
    if (growing.text) {
      talk.push({ role: "assistant", content: growing.text });
      localStorage.setItem("parley-asked", "yes");
    } else {
      talk.pop();
      if (!box.value) box.value = question; // nothing that was typed is lost
    }
    keep();
    const documents = account?.documents ?? [];
    if (documents.length > 0)
      foot.append(el("button", { type: "button", onclick: () => show("What the model saw", ...seen(documents)) }, `What the model saw (${documents.length})`));
    foot.append(
      copyButton("Copy as curl", () => asCurl("POST", route, body)),
      copyButton("Python", () => asCode("python", uid, body)),
      copyButton("JavaScript", () => asCode("javascript", uid, body)),
    );
    const facts = [];
    if (stopped) facts.push("stopped");
    if (account?.first) facts.push(`${count(Math.round(account.first))} ms to the first word`);
    if (account?.usage) facts.push(`${count(account.usage.total_tokens)} tokens`);
    if (account && account.searches.length > 0) facts.push(counted(account.searches.length, "search", "searches"));
    foot.append(el("span", { class: "soft" }, facts.join(", ")));
    send.disabled = false;
    stop.hidden = true;
    if (!left.aborted) box.focus();
  }

  left.addEventListener("abort", () => running?.abort());
  stop.addEventListener("click", () => running?.abort());
  clear.addEventListener("click", () => {
    running?.abort();
    talk = [];
    keep();
    redraw();
    box.focus();
  });
  save.addEventListener("click", () => {
    const link = el("a", {
      href: URL.createObjectURL(new Blob([JSON.stringify({ workspace: workspace.value, messages: talk }, null, 2)], { type: "application/json" })),
      download: "conversation.json",
    });
    link.click();
    URL.revokeObjectURL(link.getAttribute("href") ?? "");
  });
  box.addEventListener("input", () => sessionStorage.setItem(draftPlace, box.value));
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", (/** @type {Event} */ e) => {
    e.preventDefault();
    const question = box.value.trim();
    if (!question || running) return;
    box.value = "";
    sessionStorage.removeItem(draftPlace);
    answer(question);
  });
  redraw();
  box.focus();
}
