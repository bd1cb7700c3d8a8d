// What the service counts about itself, and exactly what would be sent of it.
import { call, request } from "./api.js";
import { bars } from "./chart.js";
import { count, counted, el, empty, json, show, size, table, time } from "./dom.js";

/** @param {HTMLElement} root @param {string[]} _path @param {AbortSignal} left */
export async function telemetry(root, _path, left) {
  root.append(
    el("h1", {}, "Telemetry"),
    el(
      "p",
      { class: "lead" },
      "Collectors are plugins that count what happens here: how many searches, how long they took. They never see a text, a name or a key. A window is the time over which they count.",
    ),
  );
  const [status, metrics, next, windows] = await Promise.all(
    ["/telemetry", "/telemetry/metrics", "/telemetry/messages?of=next", "/telemetry/windows?limit=30"].map((p) => call("GET", p, undefined, left)),
  );
  if (!status.on) {
    root.append(empty("Telemetry is off", `Switched off by ${status.offBy}. Nothing is counted and nothing is sent.`));
    return;
  }
  root.append(
    el(
      "div",
      { class: "cards" },
      ...[
        [status.sentTo ? "Sent" : "Kept here", status.sentTo ? `to ${status.sentTo}` : "it is sent nowhere"],
        [count(status.engine?.collectors?.length ?? 0), "collectors"],
        [count(metrics.total), "metrics that can be counted"],
        [size(status.spool?.bytes ?? 0), "waiting to be sent"],
      ].map(([value, what]) => el("article", { class: "card" }, el("p", { class: "figure" }, value), el("p", { class: "soft" }, what))),
    ),
    el(
      "p",
      {},
      "Instance UID: ",
      el("code", {}, status.instanceUid),
      el("span", { class: "soft" }, " – a random name of this installation, told with each message."),
    ),
  );
  root.append(
    el("h2", {}, "What would be sent next"),
    el(
      "p",
      { class: "soft" },
      `The window under way is ${count(Math.round(status.elapsedMs / 60000))} minutes old. These are its messages, to the byte, if it ended now.`,
    ),
  );
  if (next.results.length === 0) root.append(empty("Nothing yet", "No collector has counted anything in this window."));
  for (const m of next.results) {
    root.append(
      el(
        "article",
        { class: "card" },
        el("h3", {}, `${m.collector} ${m.version} `, el("span", { class: "tag" }, m.outbound ? "leaves this service" : "stays here")),
        el(
          "p",
          { class: "buttons" },
          el("button", { type: "button", onclick: () => show(m.collector, el("pre", { tabindex: 0 }, m.body)) }, "Show the message"),
        ),
      ),
    );
  }
  root.append(el("h2", {}, "What can be counted"));
  /** @type {Map<string, any[]>} */
  const by = Map.groupBy(metrics.results, (/** @type {any} */ m) => m.collector);
  for (const [collector, list] of by) {
    root.append(
      el(
        "details",
        {},
        el("summary", {}, `${collector}: ${counted(list.length, "metric", "metrics")}`),
        table(
          ["Metric", "Meaning", "Kind"],
          list.map((m) => el("tr", {}, el("th", { scope: "row" }, m.path), el("td", {}, m.meaning), el("td", {}, m.by ? `${m.kind} by ${m.by.label}` : m.kind))),
          collector,
        ),
      ),
    );
  }
  if (by.size === 0) root.append(el("p", { class: "soft" }, "No collector is loaded."));
  root.append(el("h2", {}, "The last windows"));
  if (windows.results.length === 0) root.append(empty("No window has ended yet", "A window lasts an hour unless the service was told otherwise."));
  else {
    root.append(
      bars(
        "Events by window",
        windows.results.map((/** @type {any} */ w) => [time(w.began), w.events ?? w.messages?.length ?? 0]),
      ),
    );
    root.append(
      el(
        "p",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => show("Windows", json(windows.results)) }, "All figures"),
        el("button", { type: "button", onclick: save }, "Save all as a file"),
      ),
    );
  }
  root.append(
    el(
      "details",
      {},
      el("summary", {}, "Switch it off, or delete what was counted"),
      el(
        "p",
        {},
        "On the machine of this service: ",
        el("code", {}, "parley telemetry off"),
        " or ",
        el("code", {}, "parley telemetry delete"),
        ", or start it with ",
        el("code", {}, "--no-analytics"),
        ".",
      ),
    ),
  );

  async function save() {
    const blob = await (await request("GET", "/telemetry/export", { signal: left })).blob();
    const link = el("a", { href: URL.createObjectURL(blob), download: "telemetry.json" });
    link.click();
    URL.revokeObjectURL(link.getAttribute("href") ?? "");
  }
}
