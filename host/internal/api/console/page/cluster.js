// The nodes of a cluster, and how the servers of NATS keep its log.
import { call } from "./api.js";
import { count, el, empty, heading, label, size, soft, table, time } from "./dom.js";

export async function cluster(root, _path, left) {
	root.append(...heading("Cluster", "Nodes of a cluster have the same data and share their writes over NATS. This is what the node that answers here sees."));
	const body = el("div");
	root.append(body);
	async function draw() {
		const c = await call("GET", "/cluster", undefined, left);
		body.replaceChildren(...(c.enabled ? nodes(c) : [empty("This host is alone", "It was started without --cluster-name.")]));
	}
	await draw();
	const renewal = setInterval(() => {
		if (document.visibilityState === "visible") draw().catch(() => {}); // the next one may do
	}, 5000);
	left.addEventListener("abort", () => clearInterval(renewal));
}

const state = (name) => el("span", { class: /halted|silent|offline|behind/.test(name) ? "tag bad" : "tag good" }, label(name));

function nodes(c) {
	const wrong = [
		c.stale && "It has not reached the log for longer than --cluster-max-lag.",
		c.trouble && `Trouble: ${c.trouble}.`,
		c.halted && `It is halted: ${c.halted}.`,
		c.plugins && `It does not run the plugins of the cluster: ${c.plugins}.`,
		c.nats && !c.nats.quorum && "The log has no leader: most of the servers of NATS that keep it are away, or out of reach.",
	].filter(Boolean);
	const behind = (n) => count(Math.max(0, c.ahead - n.seq));
	return [
		...wrong.map((w) => el("p", { class: "bad", role: "alert" }, w)),
		soft(`Cluster ${c.name}, log ${c.log} in format ${c.format}, message ${count(c.node.seq)}.`),
		table(
			["Node", "Role", ["Messages behind", "number"], "Version", "Seen"],
			[c.node, ...c.nodes].map((n) => [n.url, state(n.role), behind(n), n.version, n.seenAt ? time(n.seenAt) : "this node"]),
			"Nodes",
		),
		el("h2", "Log"),
		...(c.nats
			? [
					table(
						["Server of NATS", "State"],
						c.nats.servers.map((s) => [s.name, state(s.state)]),
						"Servers of NATS",
					),
					soft(`${count(c.nats.replicas)} servers have to keep it: ${size(c.nats.logBytes)} in ${count(c.nats.logMessages)} messages.`),
					soft(`Last snapshot: ${time(c.nats.snapshotAt) || "never"}. Last backup: ${time(c.nats.backupAt) || "never"}.`),
				]
			: [soft("This node has not asked for it yet.")]),
	];
}
