// The page's only way to the service: its public API, under the key that a person gave.

const place = "parley-key";

export const key = {
  get: () => sessionStorage.getItem(place) ?? localStorage.getItem(place) ?? "",
  /** @param {string} value @param {boolean} stay */
  set(value, stay) {
    this.forget();
    (stay ? localStorage : sessionStorage).setItem(place, value);
  },
  forget() {
    sessionStorage.removeItem(place);
    localStorage.removeItem(place);
  },
};

/**
 * Asks for a key; ends when one was given, or Esc was pressed.
 * @param {string} [why] the last one was refused
 */
function askKey(why = "") {
  document.getElementById("ask-key-why")?.replaceChildren(why);
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("ask-key"));
  const value = /** @type {HTMLInputElement} */ (document.getElementById("key-value"));
  const stay = /** @type {HTMLInputElement} */ (document.getElementById("key-stay"));
  return new Promise((done) => {
    dialog.addEventListener(
      "close",
      () => {
        if (value.value.trim()) key.set(value.value.trim(), stay.checked);
        value.value = "";
        document.getElementById("key")?.toggleAttribute("hidden", !key.get());
        done(undefined);
      },
      { once: true },
    );
    if (!dialog.open) dialog.showModal();
  });
}

/** What the service says of a request that it refuses. */
export class Refused extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.message ?? body?.error?.message ?? `The service answered with status ${status}.`);
    this.status = status;
    this.code = body?.code ?? "";
    this.link = body?.link ?? "";
  }
}

/** Whether the service refuses the key for all it could ask, and not only for one thing that it may not do. */
async function refused() {
  const response = await fetch("/keys/current", { headers: { authorization: `Bearer ${key.get()}` } }).catch(() => null);
  return response?.status === 403;
}

/**
 * Makes one request and returns the response; asks for a key where one is needed.
 * @param {string} method
 * @param {string} path
 * @param {{body?: any, type?: string, form?: FormData, signal?: AbortSignal, accept?: string}} [o] of a form the browser names the type
 * @returns {Promise<Response>}
 */
export async function request(method, path, o = {}) {
  for (let again = 0; ; again++) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (key.get()) headers.authorization = `Bearer ${key.get()}`;
    if (o.body !== undefined) headers["content-type"] = o.type ?? "application/json";
    if (o.accept) headers.accept = o.accept;
    let response;
    try {
      response = await fetch(path, { method, headers, signal: o.signal, body: o.form ?? (o.body === undefined || o.type ? o.body : JSON.stringify(o.body)) });
    } catch (err) {
      if (o.signal?.aborted) throw err;
      throw new Error("The service cannot be reached. Is it running? Nothing that you typed is lost.");
    }
    if (response.ok) return response;
    const body = await response.json().catch(() => null);
    // Two of these at once share the one dialog. What was typed stays in the view.
    if (again < 3 && (body?.code === "missing_authorization_header" || (response.status === 403 && body?.code === "invalid_api_key" && (await refused())))) {
      const had = key.get();
      await askKey(had ? "The service does not know this key, or it has expired. Use another one." : "");
      if (key.get() && key.get() !== had) continue;
    }
    throw new Refused(response.status, body);
  }
}

/**
 * Makes one request and returns the JSON of its answer.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const call = async (method, path, body, signal) => (await request(method, path, { body, signal })).json();

/**
 * The command that does the same, without the key.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 */
export function asCurl(method, path, body) {
  const quote = (/** @type {string} */ s) => `'${s.replaceAll("'", "'\\''")}'`;
  const parts = ["curl", ...(method === "GET" ? [] : ["-X", method]), quote(location.origin + path)];
  if (key.get()) parts.push('-H "authorization: Bearer $PARLEY_KEY"');
  if (body !== undefined) parts.push("-H 'content-type: application/json'", "-d", quote(JSON.stringify(body)));
  return parts.join(" ");
}

/**
 * The same in the official client of a language, for a chat.
 * @param {"python"|"javascript"} language
 * @param {string} workspace
 * @param {any} body
 */
export function asCode(language, workspace, body) {
  const messages = JSON.stringify(body.messages, null, 2);
  const base = JSON.stringify(`${location.origin}/v1`);
  const model = JSON.stringify(workspace);
  return language === "python"
    ? `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url=${base}, api_key=os.environ.get("PARLEY_KEY", "none"))\nanswer = client.chat.completions.create(model=${model}, messages=${messages})\nprint(answer.choices[0].message.content)\n`
    : `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: ${base}, apiKey: process.env.PARLEY_KEY ?? "none" });\nconst answer = await client.chat.completions.create({ model: ${model}, messages: ${messages} });\nconsole.log(answer.choices[0].message.content);\n`;
}

/**
 * Reads a stream of server-sent events; calls on with the data of each.
 * @param {Response} response
 * @param {(data: string) => void} on
 */
export async function events(response, on) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const frames = rest.split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame
        .split("\n")
        .filter((l) => l.startsWith("data:"))
        .map((l) => l.slice(5).trimStart())
        .join("\n");
      if (data) on(data);
    }
  }
}

/**
 * Waits for a task and returns it; tell is called while it runs.
 * @param {number} uid
 * @param {(task: any) => void} [tell]
 */
export async function finished(uid, tell) {
  for (let pause = 100; ; pause = Math.min(2 * pause, 2000)) {
    const task = await call("GET", `/tasks/${uid}`);
    if (task.status !== "enqueued" && task.status !== "processing") return task;
    tell?.(task);
    await new Promise((r) => setTimeout(r, pause));
  }
}

/**
 * Waits for the task of an answer; rejects with its error.
 * @param {any} sent
 */
export async function apply(sent) {
  const task = await finished(sent.taskUid);
  if (task.error) throw Object.assign(new Error(task.error.message), task.error);
  return task;
}
