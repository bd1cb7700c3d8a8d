// Conversations, in this browser's database; where there is none, as long as the page is open.
import { t } from "./i18n.js";

/** A search of an answer: what the model asked, what was found, and the text that it got. @typedef {{id: string, asked: any, documents?: any[], text?: string}} Search */

/** @typedef {{role: string, content: string, workspace?: string, searches?: Search[], facts?: string, id?: string, rated?: string}} Message one of a conversation */

/** @typedef {{id: string, title: string, workspace: string, changed: number}} Head what the list shows of a conversation */

/** @typedef {Head & {model: string, messages: Message[]}} Talk a conversation */

/** @type {Promise<IDBDatabase|null>} */
const opened = new Promise((done) => {
	try {
		const asked = indexedDB.open("parley", 1);
		asked.onupgradeneeded = () => {
			asked.result.createObjectStore("heads", { keyPath: "id" });
			asked.result.createObjectStore("talks", { keyPath: "id" });
		};
		asked.onsuccess = () => done(asked.result);
		asked.onerror = () => done(null);
	} catch {
		done(null); // a browser that keeps nothing
	}
});

/** Those that the database does not have. @type {Map<string, Talk>} */
const unkept = new Map();

const changes = new BroadcastChannel("parley-talks");
/** @type {Set<(id: string) => void>} */
const listeners = new Set();
changes.onmessage = (e) => {
	for (const f of listeners) f(e.data);
};

/** Calls f with the id of each conversation that this or another tab changes. @param {(id: string) => void} f @param {AbortSignal} [until] */
export function watch(f, until) {
	listeners.add(f);
	until?.addEventListener("abort", () => listeners.delete(f));
}

/**
 * Does something with the database, and resolves to what it asked for once that is on the disk.
 * @param {IDBTransactionMode} mode
 * @param {(stores: {heads: IDBObjectStore, talks: IDBObjectStore}) => IDBRequest|void} act
 * @returns {Promise<any>}
 */
async function within(mode, act) {
	const db = await opened;
	if (!db) throw new Error(t`This browser keeps nothing for this page.`);
	return new Promise((done, fail) => {
		const work = db.transaction(["heads", "talks"], mode);
		const asked = act({ heads: work.objectStore("heads"), talks: work.objectStore("talks") });
		work.oncomplete = () => done(asked?.result);
		work.onabort = () => fail(work.error);
	});
}

const tell = (id) => {
	changes.postMessage(id);
	for (const f of listeners) f(id);
};

/** @param {Talk} talk @returns {Head} */
const headOf = ({ id, title, workspace, changed }) => ({ id, title, workspace, changed });

export const talks = {
	/** Those that are kept, the newest first. @returns {Promise<Head[]>} */
	async list() {
		const kept = await within("readonly", (s) => s.heads.getAll()).catch(() => []);
		return [...[...unkept.values()].map(headOf), ...kept.filter((h) => !unkept.has(h.id))].sort((a, b) => b.changed - a.changed);
	},

	/** @returns {Promise<Talk|null>} */
	async get(id) {
		return unkept.get(id) ?? (await within("readonly", (s) => s.talks.get(id)).catch(() => null)) ?? null;
	},

	/** Every one whole. @returns {Promise<Talk[]>} */
	async all() {
		const kept = await within("readonly", (s) => s.talks.getAll()).catch(() => []);
		return [...unkept.values(), ...kept.filter((k) => !unkept.has(k.id))];
	},

	/** Keeps one; rejects where there is no room, and then has it until the page is closed. @param {Talk} talk */
	async put(talk) {
		const copy = structuredClone(talk);
		try {
			await within("readwrite", (s) => {
				s.heads.put(headOf(copy));
				s.talks.put(copy);
			});
			unkept.delete(talk.id);
		} catch (err) {
			unkept.set(talk.id, copy);
			throw err;
		} finally {
			tell(talk.id);
		}
	},

	async remove(id) {
		unkept.delete(id);
		await within("readwrite", (s) => {
			s.heads.delete(id);
			s.talks.delete(id);
		}).catch(() => null);
		tell(id);
	},

	/** Deletes all. */
	async clear() {
		unkept.clear();
		await within("readwrite", (s) => {
			s.heads.clear();
			s.talks.clear();
		}).catch(() => null);
		tell("");
	},

	/** The ids of those that have a text. @returns {Promise<Set<string>>} */
	async find(text, signal) {
		const found = new Set();
		const look = (talk) => {
			if ([talk.title, ...talk.messages.map((m) => m.content)].some((c) => c.toLocaleLowerCase().includes(text.toLocaleLowerCase()))) found.add(talk.id);
		};
		for (const talk of unkept.values()) look(talk);
		await within("readonly", (s) => {
			s.talks.openCursor().onsuccess = (e) => {
				const cursor = /** @type {IDBRequest<IDBCursorWithValue|null>} */ (e.target).result;
				if (!cursor || signal.aborted) return;
				look(cursor.value);
				cursor.continue();
			};
		}).catch(() => null);
		return found;
	},
};

/** What was typed and not sent yet, by conversation; "" is the one that is new. */
export const drafts = {
	place: "parley-drafts",
	all: () => JSON.parse(localStorage.getItem(drafts.place) ?? "{}"),
	/** @returns {string} */
	get: (id) => drafts.all()[id] ?? "",
	set(id, text) {
		const all = drafts.all();
		if (text) all[id] = text;
		else delete all[id];
		try {
			localStorage.setItem(drafts.place, JSON.stringify(all));
		} catch {
			// No room: the box has it.
		}
	},
};

/** The conversation as Markdown. @param {Talk} talk */
export const asMarkdown = (talk) =>
	[`# ${talk.title}`, ...talk.messages.map((m) => (m.role === "user" ? `## ${m.content.replaceAll("\n", "\n## ")}` : m.content)), ""].join("\n\n");

/** A name for its file. @param {Talk} talk */
export const fileName = (talk) =>
	talk.title
		.replace(/[^\p{L}\p{N}]+/gu, "-")
		.replace(/^-|-$/g, "")
		.slice(0, 60) || "conversation";
