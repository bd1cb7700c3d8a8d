// The page's only way to the service: its public API, under the key that a person gave.

import { byId } from "./dom.js";

const place = "parley-key";

export const key = {
	get: () => sessionStorage.getItem(place) ?? localStorage.getItem(place) ?? "",
	set(value, stay) {
		this.forget();
		(stay ? localStorage : sessionStorage).setItem(place, value);
	},
	forget() {
		sessionStorage.removeItem(place);
		localStorage.removeItem(place);
	},
};

/** Asks for a key; ends when one was given, or Esc was pressed. @param {string} [why] the last one was refused */
function askKey(why = "") {
	byId("ask-key-why").replaceChildren(why);
	const dialog = byId("ask-key");
	const value = byId("key-value");
	const stay = byId("key-stay");
	return new Promise((done) => {
		dialog.addEventListener("submit", () => key.set(value.value.trim(), stay.checked), { once: true });
		dialog.addEventListener(
			"close",
			() => {
				value.value = "";
				byId("key").toggleAttribute("hidden", !key.get());
				done(undefined);
			},
			{ once: true },
		);
		if (!dialog.open) dialog.showModal();
	});
}

/** What the service says of a request that it refuses. */
export class Refused extends Error {
	constructor(status, body) {
		super(body?.message ?? body?.error?.message ?? `The service answered with status ${status}.`);
		this.status = status;
		this.code = body?.code ?? "";
		this.link = body?.link ?? "";
	}
}

/** Says that nothing came. @returns {never} */
export function unreached() {
	throw new Error("The service cannot be reached. Is it running? Nothing that you typed is lost.");
}

/** Whether the service refuses the key altogether. */
async function refused() {
	const response = await fetch("/keys/current", { headers: { authorization: `Bearer ${key.get()}` } }).catch(() => null);
	return response?.status === 403;
}

/** Settings whose values are not shown again. */
export const secrets = new Set(["apiKey"]);

/**
 * What this page asked, each path once, the newest first.
 * @type {{method: string, path: string, status: number, ms: number, curl: () => string}[]}
 */
export const sent = [];

/**
 * What a request has beside its path. The browser names the type of a form; progress gets the part that was sent.
 * @typedef {{body?: any, type?: string, form?: FormData, signal?: AbortSignal, progress?: (part: number) => void}} Content
 */

/**
 * fetch, for a body whose sending is to be seen.
 * @param {string} method @param {string} path @param {Record<string, string>} headers @param {(part: number) => void} progress
 * @returns {Promise<Response>}
 */
const upload = (method, path, headers, body, progress) =>
	new Promise((done, fail) => {
		const x = new XMLHttpRequest();
		x.open(method, path);
		for (const [name, value] of Object.entries(headers)) x.setRequestHeader(name, value);
		x.upload.onprogress = (e) => progress(e.loaded / e.total);
		x.onload = () => done(new Response(x.responseText, { status: x.status }));
		x.onerror = fail;
		x.send(body);
	});

/**
 * Makes one request and returns the response; asks for a key where one is needed.
 * @param {string} method
 * @param {string} path
 * @param {Content} [o]
 * @returns {Promise<Response>}
 */
export async function request(method, path, o = {}) {
	for (let again = 0; ; again++) {
		const headers = {};
		const had = key.get();
		if (had) headers.authorization = `Bearer ${had}`;
		if (o.body !== undefined) headers["content-type"] = o.type ?? "application/json";
		const began = performance.now();
		let response;
		try {
			const body = o.form ?? (o.body === undefined || o.type ? o.body : JSON.stringify(o.body));
			response = await (o.progress ? upload(method, path, headers, body, o.progress) : fetch(path, { method, headers, body, signal: o.signal }));
		} catch (err) {
			if (o.signal?.aborted) throw err;
			unreached();
		}
		const before = sent.findIndex((s) => s.method === method && s.path === path);
		sent.splice(before < 0 ? 30 : before, 1);
		sent.unshift({ method, path, status: response.status, ms: performance.now() - began, curl: () => asCurl(method, path, o) });
		if (response.ok) return response;
		const body = await response.json().catch(() => null);
		// Two of these at once share one dialog and one key. What was typed stays in the view.
		if (again < 3 && (body?.code === "missing_authorization_header" || (response.status === 403 && body?.code === "invalid_api_key" && (had !== key.get() || (await refused()))))) {
			if (had === key.get()) await askKey(had ? "The service does not know this key, or it has expired. Use another one." : "");
			if (key.get() && key.get() !== had) continue;
		}
		throw new Refused(response.status, body);
	}
}

/**
 * Makes one request and returns the JSON of its answer; null where there is none.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function call(method, path, body, signal) {
	const response = await request(method, path, { body, signal });
	return response.status === 204 ? null : response.json();
}

/** A path of the API with values in it, each encoded. */
export const at = (parts, ...values) => parts.reduce((path, part, i) => path + encodeURIComponent(values[i - 1]) + part);

/** @param {string} text for a shell */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that does the same, without the key. @param {string} method @param {string} path @param {Content} [o] */
export function asCurl(method, path, { body, type, form } = {}) {
	const parts = ["curl", ...(method === "GET" ? [] : ["-X", method]), quoted(location.origin + path)];
	if (key.get()) parts.push('-H "authorization: Bearer $PARLEY_KEY"');
	if (body !== undefined) parts.push("-H", quoted(`content-type: ${type ?? "application/json"}`));
	if (body instanceof File) parts.push("--data-binary", quoted(`@${body.name}`));
	else if (body !== undefined) parts.push("-d", quoted(JSON.stringify(body, (name, value) => (value && secrets.has(name) ? "…" : value))));
	for (const [name, value] of form ?? []) parts.push("-F", quoted(`${name}=@${/** @type {File} */ (value).name}`));
	return parts.join(" ");
}

/** The same in the official client of a language, for a chat. @param {"python"|"javascript"} language */
export function asCode(language, workspace, body) {
	const messages = JSON.stringify(body.messages, null, 2);
	const base = JSON.stringify(`${location.origin}/v1`);
	const model = JSON.stringify(workspace);
	return language === "python"
		? `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url=${base}, api_key=os.environ.get("PARLEY_KEY", "none"))\nanswer = client.chat.completions.create(model=${model}, messages=${messages})\nprint(answer.choices[0].message.content)\n`
		: `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: ${base}, apiKey: process.env.PARLEY_KEY ?? "none" });\nconst answer = await client.chat.completions.create({ model: ${model}, messages: ${messages} });\nconsole.log(answer.choices[0].message.content);\n`;
}

/** Calls on with the data of each server-sent event. @param {(data: string) => void} on */
export async function events(response, on) {
	const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
	const decoder = new TextDecoder();
	let rest = "",
		began = performance.now();
	for (;;) {
		const { done, value } = await reader.read().catch((err) => {
			throw err.name === "AbortError" ? err : new Error("The connection broke off before the answer was whole. Is the service running? Ask again.");
		});
		if (done) return;
		rest += decoder.decode(value, { stream: true });
		const frames = rest.split("\n\n");
		rest = frames.pop() ?? "";
		for (const frame of frames) {
			const data = [...frame.matchAll(/^data: ?(.*)/gm)].map((m) => m[1]).join("\n");
			if (data) on(data);
			if (performance.now() - began < 16) continue;
			await new Promise((r) => setTimeout(r)); // the page draws and answers meanwhile
			began = performance.now();
		}
	}
}

/** Waits for a task and returns it; tell is called while it runs. @param {(task: any) => void} [tell] */
export async function finished(uid, tell) {
	for (let pause = 100; ; pause = Math.min(2 * pause, 2000)) {
		const task = await call("GET", `/tasks/${uid}`);
		if (task.status !== "enqueued" && task.status !== "processing") return task;
		tell?.(task);
		await new Promise((r) => setTimeout(r, pause));
	}
}

/** Waits for the task of an answer; rejects with its error. */
export async function apply(sent) {
	const task = await finished(sent.taskUid);
	if (task.error) throw task.error;
	return task;
}
