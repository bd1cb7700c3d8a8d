// Workspaces: which provider answers, with which model, from which indexes.
import { asCurl, call } from "./api.js";
import { confirmed, copyButton, el, empty, field, problem, show, tabbed, tell } from "./dom.js";
import { changes, diff, label } from "./indexes.js";
import { session } from "./session.js";

/** What the fields of a provider's account mean. @type {Record<string, string>} */
const account = {
  baseUrl: "Address of the service; empty: the provider's own.",
  apiKey: "The key of your account there. It is kept sealed and is never shown whole again.",
  orgId: "Organization, where the account has several.",
  projectId: "Project, where the account has several.",
  deploymentId: "Name of the deployment, for Azure.",
  apiVersion: "Version of the API, for Azure.",
};

/** @type {Record<string, string>} */
const prompts = {
  system: "What the model is told before each conversation.",
  searchDescription: "What the model is told the search does.",
  searchQParam: "What it is told of the words to look for.",
  searchFilterParam: "What it is told of filters.",
  searchIndexUidParam: "What it is told of choosing an index.",
};

/** @param {HTMLElement} root @param {string[]} path */
export async function workspaces(root, path) {
  return path[0] ? one(root, path[0]) : all(root);
}

/** @param {HTMLElement} root */
async function all(root) {
  root.append(
    el("h1", {}, "Workspaces"),
    el(
      "p",
      { class: "lead" },
      "A workspace says which provider and model answer, from which indexes, and what the model is told. Clients of /v1 name it as their model.",
    ),
  );
  const uids = (await call("GET", "/chats?limit=1000")).results.map((/** @type {any} */ w) => w.uid);
  if (session.can("chatsSettings.update")) {
    const name = el("input", { required: true, pattern: "[A-Za-z0-9_\\-]+", placeholder: "support" });
    const form = el("form", { class: "row" }, field("Name", name), el("button", { class: "main", type: "submit" }, "New workspace"));
    form.addEventListener("submit", (/** @type {Event} */ e) => {
      e.preventDefault();
      location.hash = `#/workspaces/${encodeURIComponent(name.value)}`;
    });
    root.append(form);
  }
  if (uids.length === 0) {
    root.append(empty("No workspace yet", "Name one above. Its settings come next."));
    return;
  }
  const settings = await Promise.all(uids.map((/** @type {string} */ u) => call("GET", `/chats/${encodeURIComponent(u)}/settings`)));
  root.append(
    el(
      "div",
      { class: "cards" },
      ...uids.map((/** @type {string} */ u, /** @type {number} */ i) =>
        el(
          "article",
          { class: "card" },
          el("h3", {}, el("a", { href: `#/workspaces/${encodeURIComponent(u)}` }, u)),
          el("p", { class: "soft" }, `${settings[i].source ?? "no provider"}${settings[i].defaultModel ? `, ${settings[i].defaultModel}` : ""}`),
          el("p", { class: "hint" }, settings[i].indexUids ? `Indexes: ${settings[i].indexUids.join(", ") || "none"}` : "All indexes"),
          el("p", {}, el("a", { class: "button", href: `#/ask/${encodeURIComponent(u)}` }, "Ask")),
        ),
      ),
    ),
  );
}

/** @param {HTMLElement} root @param {string} uid */
async function one(root, uid) {
  const chat = `/chats/${encodeURIComponent(uid)}`,
    route = `${chat}/settings`;
  root.append(el("p", {}, el("a", { href: "#/workspaces" }, "← Workspaces")), el("h1", {}, uid));
  const [before, plugins, indexes] = await Promise.all([
    call("GET", route).catch((err) => {
      if (err.code === "chat_not_found") return null;
      throw err;
    }),
    session.can("plugins.get") ? call("GET", "/plugins").then((p) => p.results) : [],
    session.can("indexes.get") ? call("GET", "/indexes?limit=1000").then((p) => p.results) : [],
  ]);
  if (!before) root.append(el("p", { class: "notice" }, "This workspace is made when its settings are saved."));
  const now = before ?? {};
  const sources = [...new Set([...plugins.map((/** @type {any} */ p) => p.source), now.source].filter(Boolean))];
  const source = el("select", {}, el("option", { value: "" }, "none"), ...sources.map((s) => el("option", { value: s }, s)));
  source.value = now.source ?? (sources.includes("extract") && !before ? "extract" : "");
  const about = el("p", { class: "hint" });
  const offered = el("datalist", { id: "models" });
  const model = el("input", { value: now.defaultModel ?? "", placeholder: "clients must name one", list: "models" });
  const asked = el("p", { class: "hint", role: "status" });
  // The provider is asked once, when somebody is about to choose.
  let listed = false;
  async function list() {
    if (listed || !before || !session.can("chatsSettings.get")) return;
    listed = true;
    asked.replaceChildren("Asking the provider for its models…");
    try {
      const { results } = await call("GET", `${chat}/models`);
      offered.replaceChildren(...results.map((/** @type {any} */ m) => el("option", { value: m.id })));
      asked.replaceChildren(results.length > 0 ? `${results.length} models of the provider can be chosen.` : "The provider names no models.");
    } catch (err) {
      const { code, message } = /** @type {any} */ (err);
      asked.replaceChildren(code === "unimplemented_chat_models" ? "" : `The provider did not list its models: ${message}`);
    }
  }
  model.addEventListener("focus", list);
  const chosen = new Set(now.indexUids ?? []);
  const every = el("input", { type: "checkbox", checked: !now.indexUids });
  const boxes = indexes.map((/** @type {any} */ x) =>
    el("label", { class: "check" }, el("input", { type: "checkbox", value: x.uid, checked: chosen.has(x.uid), disabled: every.checked }), x.uid),
  );
  every.addEventListener("change", () => {
    for (const b of boxes) b.firstChild.disabled = every.checked;
  });
  const inputs = Object.fromEntries(
    Object.keys(account).map((name) => [
      name,
      el("input", {
        type: name === "apiKey" ? "password" : "text",
        autocomplete: "off",
        value: name === "apiKey" ? "" : (now[name] ?? ""),
        placeholder: name === "apiKey" ? (now.apiKey ?? "none") : "",
      }),
    ]),
  );
  const texts = Object.fromEntries(
    Object.keys(prompts).map((name) => [name, el("textarea", { rows: name === "system" ? 10 : 3, value: now.prompts?.[name] ?? "" })]),
  );
  const accountFields = el("div", { class: "form" });
  const options = el("div", { class: "form" });
  /** @type {Map<string, () => any>} */
  let optionReads = new Map();
  function drawAccount() {
    const plugin =
      plugins.find((/** @type {any} */ p) => p.source === source.value && p.use !== false) ?? plugins.find((/** @type {any} */ p) => p.source === source.value);
    about.replaceChildren(
      !source.value
        ? ""
        : plugin
          ? `Plugin ${plugin.name} ${plugin.version}. ${plugin.grants?.http?.length ? `It may reach ${plugin.grants.http.join(", ")}.` : "It reaches no address: it quotes the best passages and uses no model."}`
          : "No plugin for this source is loaded.",
    );
    const quotes = plugin && !plugin.grants?.http?.length && !plugin.grants?.secrets?.length;
    accountFields.replaceChildren(...(quotes ? [] : Object.entries(account).map(([name, help]) => field(label(name), inputs[name], help))));
    optionReads = new Map();
    options.replaceChildren(...Object.entries(plugin?.options ?? {}).map(([name, o]) => option(name, o, now.options?.[name], optionReads)));
  }
  source.addEventListener("change", drawAccount);
  drawAccount();
  const text = el("textarea", { rows: 24, spellcheck: "false", "aria-label": "Settings as JSON", value: JSON.stringify(now, null, 2) });
  let shown = "Form";

  /** What the form asks to change. An empty field resets what was set. */
  function patched() {
    if (shown === "JSON") return changes(now, JSON.parse(text.value));
    /** @type {Record<string, any>} */
    const after = {
      source: source.value || null,
      defaultModel: model.value || null,
      indexUids: every.checked
        ? null
        : boxes
            .map((/** @type {any} */ b) => b.firstChild)
            .filter((/** @type {any} */ b) => b.checked)
            .map((/** @type {any} */ b) => b.value),
    };
    for (const name of Object.keys(account)) if (name !== "apiKey") after[name] = inputs[name].value || null;
    const patch = changes({ indexUids: null, defaultModel: null, ...Object.fromEntries(Object.keys(account).map((n) => [n, null])), ...now }, after);
    if (inputs.apiKey.value) patch.apiKey = inputs.apiKey.value;
    const told = Object.fromEntries(
      Object.entries(texts)
        .filter(([name, box]) => box.value !== (now.prompts?.[name] ?? ""))
        .map(([name, box]) => [name, box.value || null]),
    );
    if (Object.keys(told).length > 0) patch.prompts = told;
    const set = Object.fromEntries(
      [...optionReads].map(([name, read]) => [name, read()]).filter(([name, v]) => v !== undefined && v !== (now.options?.[name] ?? null)),
    );
    if (Object.keys(set).length > 0) patch.options = set;
    return patch;
  }
  const said = el("div", { role: "status" });
  async function save() {
    try {
      const patch = patched();
      if (Object.keys(patch).length === 0 && before) {
        said.replaceChildren(el("p", { class: "soft" }, "Nothing is changed."));
        return;
      }
      await call("PATCH", route, patch);
      tell("Saved.");
      dispatchEvent(new HashChangeEvent("hashchange"));
    } catch (err) {
      said.replaceChildren(problem(err));
    }
  }
  async function test() {
    said.replaceChildren(el("p", { class: "soft" }, "Asking the provider for one word…"));
    try {
      const res = await call("POST", `${chat}/test`, model.value ? { model: model.value } : {});
      said.replaceChildren(
        el("p", { class: res.ok === false ? "bad" : "good" }, res.message ?? (res.ok === false ? "The provider did not answer." : "The provider answers.")),
      );
    } catch (err) {
      said.replaceChildren(problem(err));
    }
  }
  const preview = () => {
    try {
      const patch = patched();
      const hidden = patch.apiKey ? { ...patch, apiKey: "…" } : patch;
      show(
        "What will change",
        Object.keys(patch).length > 0 ? diff(now, hidden) : el("p", {}, "Nothing."),
        el(
          "p",
          { class: "buttons" },
          copyButton("Copy as curl", () => asCurl("PATCH", route, hidden)),
        ),
      );
    } catch (err) {
      said.replaceChildren(problem(err));
    }
  };
  root.append(
    tabbed([
      [
        "Form",
        () => {
          shown = "Form";
          return el(
            "div",
            { class: "form" },
            field("Provider", source, "The service that answers, through a plugin. “extract” needs no account and no model."),
            about,
            accountFields,
            options,
            field("Model", model, "What is asked when a client names the workspace alone."),
            offered,
            asked,
            el(
              "fieldset",
              {},
              el("legend", {}, "Indexes that may be searched"),
              el("label", { class: "check" }, every, "All, also those to come"),
              el("div", { class: "checks" }, ...boxes),
            ),
            el(
              "details",
              {},
              el("summary", {}, "What the model is told"),
              el("div", { class: "form" }, ...Object.entries(prompts).map(([name, help]) => field(label(name), texts[name], `${help} Empty: the default.`))),
            ),
          );
        },
      ],
      [
        "JSON",
        () => {
          shown = "JSON";
          return text;
        },
      ],
    ]),
    said,
    session.can("chatsSettings.update")
      ? el(
          "p",
          { class: "buttons" },
          el("button", { type: "button", class: "main", onclick: save }, "Save"),
          el("button", { type: "button", onclick: preview }, "Show changes"),
          before ? el("button", { type: "button", onclick: test }, "Test the provider") : null,
          before && session.can("chats.delete") ? el("button", { type: "button", class: "danger", onclick: remove }, "Delete workspace") : null,
        )
      : el("p", { class: "soft" }, "This key may read these settings, not change them."),
  );

  async function remove() {
    if (!(await confirmed(`Delete the workspace ${uid}?`, "Its settings and its provider's key go. Indexes and documents stay. This cannot be undone.")))
      return;
    try {
      await call("DELETE", chat).catch((err) => {
        if (err instanceof SyntaxError) return null;
        throw err;
      }); // an answer without a body
      tell("Deleted.");
      location.hash = "#/workspaces";
    } catch (err) {
      said.replaceChildren(problem(err));
    }
  }
}

/**
 * A field for an option that a plugin declares.
 * @param {string} name @param {any} o its rules @param {any} value @param {Map<string, () => any>} reads
 */
function option(name, o, value, reads) {
  const help = [o.description, o.required ? "Needed." : "", o.default !== undefined ? `Default: ${o.default}.` : ""].filter(Boolean).join(" ");
  if (o.enum || o.type === "boolean") {
    const values = o.enum ?? [true, false];
    const box = el(
      "select",
      {},
      el("option", { value: "" }, "default"),
      ...values.map((/** @type {any} */ v) => el("option", { value: String(v) }, String(v))),
    );
    box.value = value === undefined || value === null ? "" : String(value);
    reads.set(name, () => values.find((/** @type {any} */ v) => String(v) === box.value) ?? null);
    return field(label(name), box, help);
  }
  const number = o.type === "integer" || o.type === "number";
  const box = el("input", {
    type: o.secret ? "password" : number ? "number" : "text",
    min: o.minimum,
    max: o.maximum,
    autocomplete: "off",
    value: o.secret ? "" : (value ?? ""),
    placeholder: o.secret ? (value ?? "none") : "",
  });
  reads.set(name, () => (box.value === "" ? (o.secret ? undefined : null) : number ? Number(box.value) : box.value));
  return field(label(name), box, help);
}
