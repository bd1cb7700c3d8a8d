// Files that a person drops become documents.
import { call, finished, request } from "./api.js";
import { counted, el, problem } from "./dom.js";

/** @type {Record<string, string>} */
const rows = { json: "application/json", ndjson: "application/x-ndjson", jsonl: "application/x-ndjson", csv: "text/csv" };
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
    accept: Object.keys(rows)
      .map((t) => `.${t}`)
      .join(","),
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
      "JSON, NDJSON or CSV. For folders of Markdown, HTML, PDF and others: ",
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
    const known = files.filter((f) => rows[extension(f.name)]);
    for (const f of files) if (!known.includes(f)) state.append(el("p", { class: "bad" }, `${f.name}: no known format by its name.`));
    for (const f of known) await send(to.index, f, to.primaryKey);
    done(to.index);
  }

  /**
   * Sends a file and waits until its documents can be found.
   * @param {string} index @param {File} file @param {string} [primaryKey]
   */
  async function send(index, file, primaryKey) {
    const bar = el("progress", { "aria-label": file.name });
    const line = el("div", {}, el("p", {}, `${file.name}: sending…`), bar);
    state.append(line);
    const say = (/** @type {string} */ text) => line.replaceChildren(el("p", {}, `${file.name}: ${text}`), bar);
    try {
      const query = primaryKey ? `?primaryKey=${encodeURIComponent(primaryKey)}` : "";
      const response = await request("POST", `/indexes/${encodeURIComponent(index)}/documents${query}`, { body: file, type: rows[extension(file.name)] });
      const task = await finished((await response.json()).taskUid, (t) => say(t.status === "enqueued" ? "waiting for its turn…" : "indexing…"));
      if (task.error) throw Object.assign(new Error(task.error.message), task.error);
      line.replaceChildren(
        el("p", { class: "good" }, `${file.name}: ${counted(task.details?.indexedDocuments ?? 0, "document", "documents")} can be found now.`),
      );
    } catch (err) {
      line.replaceChildren(el("p", {}, `${file.name}:`), problem(err));
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
