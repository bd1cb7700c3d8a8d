// Who is asking, and what that key may do.
import { call, key } from "./api.js";

export const session = {
  open: false, // no key is asked for
  master: false,
  /** @type {{name: string|null, uid: string|null, actions: string[], indexes: string[], workspaces: string[], expiresAt: string|null}|null} */
  rights: null,

  /** Asks the service. Rejects where it cannot be reached or knows no such key. */
  async load() {
    this.rights = null;
    this.open = false;
    this.master = false;
    try {
      this.rights = await call("GET", "/keys/current");
    } catch (err) {
      if (/** @type {any} */ (err).code !== "missing_master_key") throw err;
      this.open = true;
    }
  },

  /**
   * Whether the key allows an action; all of them, where it is not known yet.
   * @param {...string} actions
   */
  can(...actions) {
    if (this.open || this.master || !this.rights) return true;
    const held = this.rights.actions;
    return actions.every(
      (a) =>
        held.includes("*") || held.includes(a) || held.includes(`${a.split(".")[0]}.*`) || (held.includes("*.get") && a.endsWith(".get") && a !== "keys.get"),
    );
  },

  /** Whether a key is kept in this browser. */
  signedIn: () => key.get() !== "",
};
