// Who is asking, and what that key may do.
import { call } from "./api.js";

export const session = {
  /** @type {{name: string|null, uid: string|null, actions: string[], indexes: string[], workspaces: string[], expiresAt: string|null, open: boolean, master: boolean, tenant: boolean}|null} */
  rights: null,

  /** Whether the service asks for no key. */
  get open() {
    return this.rights?.open === true;
  },

  /** Asks the service. Rejects where it cannot be reached or knows no such key. */
  async load() {
    this.rights = await call("GET", "/keys/current");
  },

  /**
   * Whether the key allows all of some actions.
   * @param {...string} actions
   */
  can(...actions) {
    return actions.every((a) => this.rights?.actions.includes(a)); // the service resolves groups
  },
};
