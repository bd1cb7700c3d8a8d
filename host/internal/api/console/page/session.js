// Who is asking, and what that key may do.
import { call } from "./api.js";

export const session = {
	/** @type {{actions: string[], indexes: string[], expiresAt: string|null, open: boolean, network: boolean, feedback: boolean}|null} */
	rights: null,

	/** Whether the service asks for no key. */
	get open() {
		return this.rights?.open === true;
	},

	/** Asks the service. Rejects where it cannot be reached or knows no such key. */
	async load() {
		this.rights = await call("GET", "/keys/current");
	},

	/** Whether the key allows all of some actions. @param {...string} actions */
	can(...actions) {
		return actions.every((a) => this.rights?.actions.includes(a)); // the service resolves groups
	},

	/** Names of indexes: of all, or of those that the key names where it may not list them. @returns {Promise<string[]>} */
	async indexes() {
		if (!this.can("indexes.get")) return this.rights?.indexes.filter((name) => !name.includes("*")) ?? [];
		return (await call("GET", "/indexes?limit=1000")).results.map((x) => x.uid);
	},

	/** Names of workspaces that may be asked. @returns {Promise<string[]>} */
	async workspaces() {
		if (this.can("chats.get")) return (await call("GET", "/chats?limit=1000")).results.map((w) => w.uid);
		const models = (await call("GET", "/v1/models")).data.map((m) => m.id);
		return models.filter((id) => !id.includes("/"));
	},
};
