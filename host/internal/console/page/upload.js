// Files that a person drops become documents.
import { call, finished, request } from "./api.js";
import { counted, el, problem } from "./dom.js";

/** @type {Record<string, string>} */
const rows = { json: "application/json", ndjson: "application/x-ndjson", jsonl: "application/x-ndjson", csv: "text/csv" };
const texts = ["md", "mdx", "html", "htm", "txt", "rst", "adoc", "docx", "epub", "pdf"];
const extension = (/** @type {string} */ name) => name.split(".").pop()?.toLowerCase() ?? "";

/**
 * A place to drop files on, or to choose them.
 * @param {() => {index: string, primaryKey?: string}|null} target where they go; null: not yet, and it was said why
 * @param {(index: string) => void} done called once files of an index can be found
 */
export function dropZone(target, done) {
  const pick = el("input", {
    type: "file",
    multiple: true,
    accept: [...Object.keys(rows), ...texts].map((t) => `.${t}`).join(","),
    "aria-label": "Files",
  });
  const state = el("div", { role: "status" });
  const zone = el(
    "div",
    { class: "drop" },
    el("p", {}, el("strong", {}, "Drop files here, or choose them")),
    pick,
    el(
      "p",
      { class: "hint" },
      "Texts: Markdown, HTML, plain text, PDF, DOCX, EPUB. Rows: JSON, NDJSON, CSV. For folders, and to keep them in step: ",
      el("code", {}, "parley documents import PATH --index NAME"),
      ".",
    ),
    state,
  );

  /** @param {File[]} files */
  async function add(files) {
    const to = target();
    if (!to || files.length === 0) return;
    state.replaceChildren();
    const known = files.filter((f) => rows[extension(f.name)] || texts.includes(extension(f.name)));
    for (const f of files) if (!known.includes(f)) state.append(el("p", { class: "bad" }, `${f.name}: its name says no format that is known here.`));
    // Files of rows have a task each; texts share one.
    const written = known.filter((f) => texts.includes(extension(f.name)));
    if (written.length > 0) await send(to.index, written);
    for (const f of known.filter((f) => !written.includes(f))) await send(to.index, [f], to.primaryKey);
    done(to.index);
  }

  /**
   * Sends files that make one task, and waits until their documents can be found.
   * @param {string} index @param {File[]} batch @param {string} [primaryKey]
   */
  async function send(index, batch, primaryKey) {
    const name = batch.length === 1 ? batch[0].name : counted(batch.length, "file", "files");
    const bar = el("progress", { "aria-label": name });
    const line = el("div", {}, el("p", {}, `${name}: sending…`), bar);
    state.append(line);
    try {
      const sent = await (await upload(index, batch, primaryKey)).json();
      const task = await finished(sent.taskUid, (t) =>
        line.replaceChildren(el("p", {}, `${name}: ${t.status === "enqueued" ? "waiting for its turn…" : "indexing…"}`), bar),
      );
      if (task.error) throw Object.assign(new Error(task.error.message), task.error);
      line.replaceChildren(el("p", { class: "good" }, `${name}: ${counted(task.details?.indexedDocuments ?? 0, "document", "documents")} can be found now.`));
      for (const f of sent.files ?? []) if (f.error) line.append(el("p", { class: "bad" }, `${f.path}: ${f.error}`));
    } catch (err) {
      line.replaceChildren(el("p", {}, `${name}:`), problem(err));
    }
  }

  pick.addEventListener("change", () => add([...(pick.files ?? [])]));
  zone.addEventListener("dragover", (/** @type {DragEvent} */ e) => {
    e.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (/** @type {DragEvent} */ e) => {
    e.preventDefault();
    zone.classList.remove("over");
    add([...(e.dataTransfer?.files ?? [])]);
  });
  return zone;
}

/**
 * @param {string} index @param {File[]} batch @param {string} [primaryKey]
 */
function upload(index, batch, primaryKey) {
  const route = `/indexes/${encodeURIComponent(index)}`;
  const type = rows[extension(batch[0].name)];
  if (type) return request("POST", `${route}/documents${primaryKey ? `?primaryKey=${encodeURIComponent(primaryKey)}` : ""}`, { body: batch[0], type });
  const form = new FormData();
  for (const f of batch) form.append("files", f, f.name);
  return request("POST", `${route}/files?source=console`, { form });
}

/**
 * Makes sure that somebody answers from an index: returns a workspace that searches it, a new one where there is none
 * and a provider is there to answer without a model; null where nobody can.
 * @param {string} index
 * @returns {Promise<string|null>}
 */
export async function workspaceFor(index) {
  const chats = (await call("GET", "/chats?limit=1000")).results;
  for (const { uid } of chats) {
    const s = await call("GET", `/chats/${encodeURIComponent(uid)}/settings`);
    if (s.source && (s.indexUids === null || s.indexUids?.includes(index))) return uid;
  }
  const plugins = (await call("GET", "/plugins")).results;
  const quotes = plugins.find((/** @type {any} */ p) => p.source === "extract" && p.state === "ready");
  if (!quotes) return null;
  await call("PATCH", `/chats/${encodeURIComponent(index)}/settings`, { source: "extract", indexUids: [index] });
  return index;
}
