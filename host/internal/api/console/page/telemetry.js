// What the service counts about itself, and whether it is sent.
import { call, request } from "./api.js";
import { bars, figure } from "./chart.js";
import { attempt, button, buttons, confirmed, count, counted, download, el, empty, heading, json, pre, renew, show, size, soft, table, time } from "./dom.js";
import { session } from "./session.js";

export async function telemetry(root, _path, left) {
	root.append(
		...heading(
			"Telemetry",
			"Collectors are plugins that count what happens here: how many searches, how long they took. They never see a text, a name or a key. A window is the time over which they count.",
		),
	);
	const [status, metrics, next, windows] = await Promise.all(
		["/telemetry", "/telemetry/metrics", "/telemetry/messages?of=next", "/telemetry/windows?limit=24"].map((p) => call("GET", p, undefined, left)),
	);
	if (!status.on) {
		root.append(empty("Telemetry is off", `Switched off by ${status.offBy}. Nothing is counted and nothing is sent.`));
		return;
	}
	root.append(
		el(
			"div",
			{ class: "cards figures" },
			...[
				[status.sentTo ? "Sent" : "Kept here", status.sentTo ? `to ${status.sentTo}` : "no --telemetry-url is set"],
				[count(status.engine?.collectors?.length ?? 0), "collectors"],
				[count(metrics.total), "metrics that can be counted"],
				[size(status.spool?.bytes ?? 0), status.sentTo ? "waiting to be sent" : "kept"],
			].map(([value, what]) => figure(value, what)),
		),
		el("p", "On by default; --no-analytics turns it off. Instance UID: ", el("code", status.instanceUid), el("span", { class: "soft" }, " – random, in each message.")),
		el("h2", status.sentTo ? "What is sent next" : "What is kept next"),
		soft(`The window under way is ${counted(Math.round(status.elapsedMs / 60000), "minute", "minutes")} old. These are its messages, to the byte, if it ended now.`),
		next.results.length === 0
			? empty("Nothing yet", "No collector has counted anything in this window.")
			: table(
					["Collector", ["Size", "number"], "", ""],
					next.results.map((m) => [
						`${m.collector} ${m.version}`,
						size(m.body.length),
						el("span", { class: "tag" }, m.outbound ? "sent if --telemetry-url is set" : "stays here"),
						button("Show the message", () => show(m.collector, pre(m.body))),
					]),
					"Messages",
				),
		el("h2", "The last windows"),
		...(windows.results.length === 0
			? [empty("No window has ended yet", "A window lasts an hour unless the service was told otherwise.")]
			: [
					bars(
						"Bytes of messages by window",
						windows.results.map((w) => [time(w.sealed), w.messages.reduce((n, m) => n + m.body.length, 0)]),
						size,
					),
					buttons(
						button("All figures", () => show("Windows", json(windows.results))),
						button("Save all as a file", save),
					),
				]),
		el(
			"details",
			el("summary", `What can be counted: ${counted(metrics.results.length, "metric", "metrics")}`),
			table(
				["Metric", "Meaning", "Collector"],
				metrics.results.map((m) => [m.path, m.meaning, m.collector]),
				"What can be counted",
			),
		),
	);
	const wrong = el("div");
	root.append(
		el("h2", "Delete it"),
		session.can("telemetry.delete") ? buttons(button("Delete telemetry", () => attempt(wrong, remove), "danger")) : soft("Not with this key."),
		wrong,
	);

	async function remove() {
		if (
			!(await confirmed(
				"Delete telemetry?",
				"What was counted and the Instance UID go. This cannot be undone. “parley telemetry on”, on the machine of this service, begins anew.",
			))
		)
			return;
		const { instanceUid, sentTo, contact } = await call("DELETE", "/telemetry");
		renew();
		show("Telemetry is deleted", sentTo ? el("p", `Ask ${contact ?? "whoever runs it"} to delete what ${sentTo} has of ${instanceUid}.`) : el("p", "Nothing was sent anywhere."));
	}

	async function save() {
		download("telemetry.json", await (await request("GET", "/telemetry/export", { signal: left })).blob());
	}
}
