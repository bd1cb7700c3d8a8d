// Add documents, look at them, delete them.
import { call, finished, request } from "./api.js";
import { count, el, json, problem, show } from "./dom.js";

/** @type {Record<string, string>} */
const types = { json: "application/json", ndjson: "application/x-ndjson", jsonl: "application/x-ndjson", csv: "text/csv" };

/** @param {HTMLElement} root @param {string[]} path */
export async function documents(root, path) {
  root.append(el("h1", {}, "Documents"));
  const uids = (await call("GET", "/indexes?limit=1000")).results.map((/** @type {any} */ x) => x.uid);
  const uid = /** @type {HTMLInputElement} */ (el("input", { list: "indexes", value: path[0] ?? uids[0] ?? "notes", required: true, pattern: "[A-Za-z0-9_\\-]+" }));
  const primaryKey = /** @type {HTMLInputElement} */ (el("input", { placeholder: "found in the first document" }));
  const pick = /** @type {HTMLInputElement} */ (el("input", { type: "file", multiple: true, accept: Object.keys(types).map((t) => `.${t}`).join(","), id: "files" }));
  const state = el("div", { role: "status" });
  const drop = el("div", { class: "drop" }, el("p", {}, el("label", { for: "files" }, "Drop files of documents here, or choose them: JSON, NDJSON or CSV.")), pick,
    el("p", { class: "hint" }, "For folders of Markdown, HTML, PDF and others run ", el("code", {}, "parley documents import PATH --index NAME"), "."));
  const list = el("div");
  root.append(el("datalist", { id: "indexes" }, ...uids.map((/** @type {string} */ u) => el("option", { value: u }))),
    el("div", { class: "row" }, el("label", {}, "Index", uid), el("label", {}, "Field that holds the id", primaryKey), el("button", { type: "button", onclick: () => browse(0) }, "Show")), drop, state, list);

  /** @param {FileList|null} files */
  async function add(files) {
    for (const file of files ?? []) {
      const row = el("p", {}, `${file.name}: sending…`);
      state.append(row);
      const type = types[file.name.split(".").pop()?.toLowerCase() ?? ""];
      try {
        if (!type) throw new Error("The name says no format of documents: JSON, NDJSON or CSV.");
        const query = primaryKey.value ? `?primaryKey=${encodeURIComponent(primaryKey.value)}` : "";
        const sent = await (await request("POST", `/indexes/${encodeURIComponent(uid.value)}/documents${query}`, { body: file, type })).json();
        const task = await finished(sent.taskUid, (t) => row.replaceChildren(`${file.name}: ${t.status}…`));
        if (task.error) throw Object.assign(new Error(task.error.message), task.error);
        row.replaceChildren(`${file.name}: ${count(task.details?.indexedDocuments ?? 0)} documents can be found now.`);
      } catch (err) {
        row.replaceChildren(`${file.name}: `, problem(err));
      }
    }
    await browse(0);
  }
  pick.addEventListener("change", () => add(pick.files));
  drop.addEventListener("dragover", (e) => { e.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (e) => { e.preventDefault(); drop.classList.remove("over"); add(e.dataTransfer?.files ?? null); });

  const size = 20;
  /** @param {number} offset */
  async function browse(offset) {
    if (!uid.value) return;
    const route = `/indexes/${encodeURIComponent(uid.value)}`;
    try {
      const [page, info] = await Promise.all([call("GET", `${route}/documents?offset=${offset}&limit=${size}`), call("GET", route)]);
      const pk = info.primaryKey;
      list.replaceChildren(el("h2", {}, `${count(page.total)} documents in ${uid.value}`), ...page.results.map((/** @type {any} */ d) => el("article", { class: "card" },
        el("strong", {}, String(d[pk])), el("p", { class: "soft" }, JSON.stringify(d).slice(0, 300)), el("p", { class: "buttons" },
          el("button", { type: "button", onclick: () => show(String(d[pk]), json(d)) }, "Open"),
          el("button", { type: "button", onclick: () => remove(String(d[pk]), offset) }, "Delete")))),
        el("p", { class: "buttons" },
          el("button", { type: "button", disabled: offset === 0, onclick: () => browse(Math.max(0, offset - size)) }, "Before"),
          el("button", { type: "button", disabled: offset + size >= page.total, onclick: () => browse(offset + size) }, "Next")));
    } catch (err) {
      list.replaceChildren(/** @type {any} */ (err).code === "index_not_found" ? el("p", { class: "soft" }, "This index is made by the first documents that you add.") : problem(err));
    }
  }
  /** @param {string} id @param {number} offset */
  async function remove(id, offset) {
    if (!confirm(`Delete document ${id} of ${uid.value}? This cannot be undone.`)) return;
    try {
      const sent = await call("DELETE", `/indexes/${encodeURIComponent(uid.value)}/documents/${encodeURIComponent(id)}`);
      await finished(sent.taskUid);
      await browse(offset);
    } catch (err) {
      state.replaceChildren(problem(err));
    }
  }
  await browse(0);
}
