// Add documents, look at them, change them, delete them.
import { apply, call } from "./api.js";
import { confirmed, count, counted, el, empty, field, json, problem, show, tell } from "./dom.js";
import { session } from "./session.js";
import { dropZone } from "./upload.js";

const size = 20; // documents a page

/** @param {HTMLElement} root @param {string[]} path */
export async function documents(root, path) {
  root.append(el("h1", {}, "Documents"));
  const uids = (await call("GET", "/indexes?limit=1000")).results.map((/** @type {any} */ x) => x.uid);
  const uid = el("input", { list: "indexes", value: path[0] ?? uids[0] ?? "notes", required: true, pattern: "[A-Za-z0-9_\\-]+" });
  const primaryKey = el("input", { placeholder: "found in the first row" });
  const filter = el("input", { placeholder: "all documents" });
  const list = el("div"),
    state = el("div", { role: "status" });
  root.append(
    el("datalist", { id: "indexes" }, ...uids.map((/** @type {string} */ u) => el("option", { value: u }))),
    el("div", { class: "row" }, field("Index", uid), session.can("documents.add") ? field("Field with the id, for rows", primaryKey) : null),
  );
  if (session.can("documents.add")) {
    root.append(
      dropZone(
        () => {
          if (!uid.reportValidity()) return null;
          return { index: uid.value, primaryKey: primaryKey.value || undefined };
        },
        () => browse(0),
      ),
    );
  }
  const form = el(
    "form",
    { class: "row" },
    el("div", { class: "grow" }, field("Filter", filter)),
    el("button", { type: "submit" }, "Show"),
    session.can("documents.delete") ? el("button", { type: "button", class: "danger", onclick: removeFiltered }, "Delete these") : null,
  );
  root.append(el("h2", {}, "Browse"), form, state, list);
  form.addEventListener("submit", (/** @type {Event} */ e) => {
    e.preventDefault();
    browse(0);
  });
  uid.addEventListener("change", () => browse(0));

  const route = () => `/indexes/${encodeURIComponent(uid.value)}`;
  /** @param {number} offset */
  async function browse(offset) {
    if (!uid.value) return;
    state.replaceChildren();
    try {
      const [page, info] = await Promise.all([
        call("POST", `${route()}/documents/fetch`, { offset, limit: size, filter: filter.value || undefined }),
        call("GET", route()),
      ]);
      if (page.total === 0) {
        list.replaceChildren(empty("No documents", filter.value ? "None meets the filter." : "Drop files above to add some."));
        return;
      }
      list.replaceChildren(
        el("p", { class: "soft" }, `${counted(page.total, "document", "documents")}; ${count(offset + 1)} to ${count(offset + page.results.length)} shown.`),
        ...page.results.map((/** @type {any} */ d) => row(d, info.primaryKey, offset)),
        el(
          "p",
          { class: "buttons" },
          el("button", { type: "button", disabled: offset === 0, onclick: () => browse(Math.max(0, offset - size)) }, "Previous"),
          el("button", { type: "button", disabled: offset + size >= page.total, onclick: () => browse(offset + size) }, "Next"),
        ),
      );
    } catch (err) {
      list.replaceChildren(
        /** @type {any} */ (err).code === "index_not_found" ? empty("A new index", "The first documents that you add make it.") : problem(err),
      );
    }
  }
  /** @param {any} d @param {string} pk @param {number} offset */
  function row(d, pk, offset) {
    const id = String(d[pk]);
    const rest = Object.entries(d)
      .filter(([k]) => k !== pk)
      .map(([k, v]) => `${k}: ${typeof v === "string" ? v : JSON.stringify(v)}`)
      .join(" · ");
    return el(
      "article",
      { class: "card" },
      el("h3", {}, id),
      el("p", { class: "soft" }, rest.length > 300 ? `${rest.slice(0, 300)}…` : rest),
      el(
        "p",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => show(id, json(d)) }, "Open"),
        session.can("documents.add") ? el("button", { type: "button", onclick: () => edit(d, pk, offset) }, "Edit") : null,
        session.can("documents.delete") ? el("button", { type: "button", class: "danger", onclick: () => remove(id, offset) }, "Delete") : null,
      ),
    );
  }
  /** @param {any} d @param {string} pk @param {number} offset */
  function edit(d, pk, offset) {
    const text = el("textarea", { rows: 18, "aria-label": "Document as JSON", spellcheck: "false", value: JSON.stringify(d, null, 2) });
    const wrong = el("div");
    const save = async () => {
      try {
        const changed = JSON.parse(text.value);
        if (String(changed[pk]) !== String(d[pk])) throw new Error(`The id (${pk}) must stay ${d[pk]}: a document with another id is another document.`);
        await apply(await call("POST", `${route()}/documents`, [changed]));
        /** @type {HTMLDialogElement} */ (document.getElementById("show")).close();
        tell("Saved.");
        await browse(offset);
      } catch (err) {
        wrong.replaceChildren(problem(err));
      }
    };
    show(`Edit ${d[pk]}`, text, wrong, el("p", { class: "buttons" }, el("button", { type: "button", class: "main", onclick: save }, "Save")));
  }
  /** @param {string} id @param {number} offset */
  async function remove(id, offset) {
    if (!(await confirmed(`Delete document ${id} of ${uid.value}?`, "This cannot be undone."))) return;
    try {
      await apply(await call("DELETE", `${route()}/documents/${encodeURIComponent(id)}`));
      tell("Deleted.");
      await browse(offset);
    } catch (err) {
      state.replaceChildren(problem(err));
    }
  }
  async function removeFiltered() {
    if (!filter.value) {
      state.replaceChildren(problem(new Error("Write a filter first. All documents of an index are deleted under Indexes.")));
      return;
    }
    try {
      const { total } = await call("POST", `${route()}/documents/fetch`, { limit: 0, filter: filter.value });
      if (
        !(await confirmed(
          `Delete ${counted(total, "document", "documents")} of ${uid.value}?`,
          `All that meet the filter ${filter.value}. This cannot be undone.`,
        ))
      )
        return;
      const task = await apply(await call("POST", `${route()}/documents/delete`, { filter: filter.value }));
      tell(`${counted(task.details?.deletedDocuments ?? 0, "document", "documents")} deleted.`);
      await browse(0);
    } catch (err) {
      state.replaceChildren(problem(err));
    }
  }
  await browse(0);
}
