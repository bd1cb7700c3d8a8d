// API keys, and tenant tokens that are made in the browser.
import { call } from "./api.js";
import { confirmed, copyButton, el, empty, field, problem, show, table, tell, time } from "./dom.js";
import { session } from "./session.js";

/** What a narrow key is for. @type {[string, string[], string][]} */
const purposes = [
  ["Search", ["search"], "Safe in a web page."],
  ["Ask and search", ["search", "chatCompletions"], "For chat clients. Limit what it may spend."],
  ["Add and delete documents", ["documents.*", "indexes.create", "tasks.get"], "For what keeps an index in step."],
  ["Read everything but keys", ["*.get", "search"], "For dashboards and looking around."],
  ["Manage indexes", ["indexes.*", "documents.*", "settings.*", "tasks.*", "stats.get"], "For those who run a collection."],
  ["Everything", ["*"], "As strong as the master key, but it can be deleted."],
];

/** @param {HTMLElement} root */
export async function keys(root) {
  root.append(
    el("h1", {}, "Keys"),
    el(
      "p",
      { class: "lead" },
      "A key says what its holder may do, on which indexes and workspaces, until when. All keys derive from the master key, which stays with whoever runs the service.",
    ),
  );
  let page;
  try {
    page = await call("GET", "/keys?limit=1000");
  } catch (err) {
    if (/** @type {any} */ (err).code !== "missing_master_key") throw err;
    root.append(
      empty(
        "This service is open",
        "It has no master key, so everybody who reaches it may do everything. Start it with a master key, and keys can be made here.",
      ),
    );
    return;
  }
  const list = el("div");
  if (session.can("keys.create")) root.append(wizard());
  root.append(el("h2", {}, "Keys of this service"), list, el("h2", {}, "Tenant tokens"), tenant(page.results));
  list.append(
    table(
      ["Name", "May", "Indexes", "Until", ""],
      page.results.map((/** @type {any} */ k) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, k.name ?? "unnamed", k.description ? el("div", { class: "hint" }, k.description) : null),
          el("td", {}, k.actions.join(", ")),
          el("td", {}, k.indexes.join(", ")),
          el("td", {}, k.expiresAt ? time(k.expiresAt) : "no end"),
          el(
            "td",
            {},
            el(
              "span",
              { class: "buttons" },
              k.key ? copyButton("Copy", () => k.key) : null,
              session.can("keys.delete") ? el("button", { type: "button", class: "danger", onclick: () => remove(k) }, "Delete") : null,
            ),
          ),
        ),
      ),
      "Keys",
    ),
  );

  /** @param {any} k */
  async function remove(k) {
    if (!(await confirmed(`Delete the key ${k.name ?? k.uid}?`, "Whoever uses it is refused from now on. This cannot be undone."))) return;
    try {
      await call("DELETE", `/keys/${k.uid}`).catch((err) => {
        if (err instanceof SyntaxError) return null;
        throw err;
      }); // an answer without a body
      tell("Deleted.");
      dispatchEvent(new HashChangeEvent("hashchange"));
    } catch (err) {
      list.before(problem(err));
    }
  }
}

/** A form for a key that may do little. */
function wizard() {
  const name = el("input", { required: true, placeholder: "Web page" });
  const purpose = el("select", {}, ...purposes.map(([title], i) => el("option", { value: i }, title)));
  const help = el("p", { class: "hint" });
  const indexes = el("input", { value: "*", required: true }),
    workspaces = el("input", { value: "*", required: true });
  const until = el("input", { type: "date", min: new Date().toISOString().slice(0, 10) });
  const wrong = el("div");
  const tellPurpose = () => help.replaceChildren(`${purposes[purpose.value][2]} Actions: ${purposes[purpose.value][1].join(", ")}.`);
  purpose.addEventListener("change", tellPurpose);
  tellPurpose();
  const split = (/** @type {string} */ text) =>
    text
      .split(",")
      .map((s) => s.trim())
      .filter(Boolean);
  const form = el(
    "form",
    { class: "form" },
    el("div", { class: "row" }, field("Name", name), field("What may it do?", purpose), field("Until", until, "Empty: no end.")),
    help,
    el(
      "div",
      { class: "row" },
      field("On which indexes?", indexes, "Names or beginnings with *, separated by commas."),
      field("In which workspaces?", workspaces, "For asking. Likewise."),
    ),
    wrong,
    el("p", { class: "buttons" }, el("button", { class: "main", type: "submit" }, "Make the key")),
  );
  form.addEventListener("submit", async (/** @type {Event} */ e) => {
    e.preventDefault();
    try {
      const made = await call("POST", "/keys", {
        name: name.value,
        actions: purposes[purpose.value][1],
        indexes: split(indexes.value),
        workspaces: split(workspaces.value),
        expiresAt: until.value ? `${until.value}T00:00:00Z` : null,
      });
      dispatchEvent(new HashChangeEvent("hashchange"));
      show(
        "The new key",
        el("p", {}, "Copy it now, and hand it over by a safe way."),
        el("pre", { tabindex: 0 }, made.key),
        el(
          "p",
          { class: "buttons" },
          copyButton("Copy", () => made.key),
        ),
      );
    } catch (err) {
      wrong.replaceChildren(problem(err));
    }
  });
  return el("section", { class: "card" }, el("h2", {}, "A narrow key"), form);
}

const base64url = (/** @type {Uint8Array} */ bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/**
 * Signs a tenant token: a JWT that narrows a key to what its rules say. It is made here; the service is not asked.
 * @param {string} uid @param {string} value the key's @param {any} rules @param {number|undefined} until seconds
 */
async function sign(uid, value, rules, until) {
  const text = new TextEncoder();
  const head = base64url(text.encode(JSON.stringify({ alg: "HS256", typ: "JWT" })));
  const claims = base64url(text.encode(JSON.stringify({ apiKeyUid: uid, searchRules: rules, exp: until })));
  const secret = await crypto.subtle.importKey("raw", text.encode(value), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", secret, text.encode(`${head}.${claims}`));
  return `${head}.${claims}.${base64url(new Uint8Array(signature))}`;
}

/** @param {any[]} all */
function tenant(all) {
  const able = all.filter((k) => k.key && (k.actions.includes("*") || k.actions.includes("search")));
  const text = el(
    "p",
    { class: "soft" },
    "A tenant token gives one of your users the part of an index that is theirs. It is signed with a key, here in the browser, and ends when that key does.",
  );
  if (!crypto.subtle)
    return el(
      "div",
      {},
      text,
      el("p", { class: "notice" }, "The browser signs only on pages of https or of this computer. Your own server can sign them with any JWT library."),
    );
  if (able.length === 0)
    return el(
      "div",
      {},
      text,
      el("p", { class: "notice" }, "It takes the value of a key that may search, and this key may not read values: sign in with the master key."),
    );
  const key = el("select", {}, ...able.map((k, i) => el("option", { value: i }, k.name ?? k.uid)));
  const index = el("input", { value: able[0].indexes[0] ?? "*", required: true });
  const filter = el("input", { placeholder: "user = 42", required: true });
  const until = el("input", { type: "datetime-local" });
  const out = el("div");
  const form = el(
    "form",
    {},
    el(
      "div",
      { class: "row" },
      field("Key", key),
      field("Index", index),
      el("div", { class: "grow" }, field("Only documents that meet", filter)),
      field("Until", until, "Empty: as long as the key."),
    ),
    el("p", { class: "buttons" }, el("button", { class: "main", type: "submit" }, "Make the token and try it")),
  );
  form.addEventListener("submit", async (/** @type {Event} */ e) => {
    e.preventDefault();
    out.replaceChildren();
    try {
      const k = able[key.value];
      const token = await sign(
        k.uid,
        k.key,
        { [index.value]: { filter: filter.value } },
        until.value ? Math.floor(new Date(until.value).getTime() / 1000) : undefined,
      );
      out.append(
        el("pre", { tabindex: 0 }, token),
        el(
          "p",
          { class: "buttons" },
          copyButton("Copy", () => token),
        ),
      );
      if (index.value.includes("*")) return;
      const response = await fetch(`/indexes/${encodeURIComponent(index.value)}/search`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ limit: 3 }),
      });
      const seen = await response.json();
      out.append(
        response.ok ? el("p", {}, `It sees ${seen.estimatedTotalHits} documents of ${index.value}.`) : problem(Object.assign(new Error(seen.message), seen)),
      );
    } catch (err) {
      out.append(problem(err));
    }
  });
  return el("div", {}, text, form, out);
}
