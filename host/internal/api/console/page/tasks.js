// What the service is doing and did: writes are tasks, one after the other.
import { call, finished } from "./api.js";
import { attempt, button, buttons, confirmed, count, counted, el, empty, field, heading, hint, json, label, problem, row, select, show, table, tell, time } from "./dom.js";
import { session } from "./session.js";

const states = ["enqueued", "processing", "succeeded", "failed", "canceled"];
const types = ["documentAdditionOrUpdate", "documentDeletion", "settingsUpdate", "indexCreation", "indexUpdate", "indexDeletion", "indexSwap", "dumpCreation", "snapshotCreation"];

export async function tasks(root, _path, left) {
	const status = select([["", "any"], ...states]),
		type = select([["", "any"], ...types.map((t) => [t, label(t)])]),
		index = el("input", { placeholder: "any" });
	const list = el("div"),
		batch = el("div", { role: "status" }),
		wrong = el("div"),
		foot = el("p", { class: "buttons" });
	root.append(
		...heading("Tasks", "Each change of documents, settings and indexes is a task. Tasks are done one after the other; the list renews itself."),
		row(field("State", status), field("What", type), field("Index", index)),
		buttons(
			session.can("tasks.cancel") && button("Cancel what waits", () => attempt(wrong, cancelAll)),
			session.can("tasks.delete") && button("Forget finished tasks", () => attempt(wrong, forget)),
		),
		wrong,
		batch,
		list,
		foot,
	);
	let from = /** @type {number|null} */ (null); // the newest task of the page; null: of all

	const used = () => document.querySelector("dialog[open]") || list.contains(document.activeElement);

	async function draw(renews = false) {
		const query = new URLSearchParams({ limit: "30" });
		for (const [name, value] of [
			["statuses", status.value],
			["types", type.value],
			["indexUids", index.value.trim()],
			["from", from],
		])
			if (value !== "" && value !== null) query.set(name, String(value));
		const [page, batches] = await Promise.all([call("GET", `/tasks?${query}`, undefined, left), call("GET", "/batches?statuses=processing&limit=1", undefined, left)]);
		if (renews && used()) return;
		wrong.replaceChildren();
		drawBatch(batches.results[0]);
		list.replaceChildren(
			page.results.length === 0
				? empty("No task", status.value || type.value || index.value ? "None is of this kind." : "Adding documents makes the first one.")
				: table([["Task", "number"], "What", "Index", "State", "Since", ""], page.results.map(entry), "Tasks"),
		);
		foot.replaceChildren(
			el("button", { disabled: from === null, onclick: () => go(null) }, "Newest"),
			el("button", { disabled: page.next === null, onclick: () => go(page.next) }, "Older"),
			el("span", { class: "soft" }, counted(page.total, "task", "tasks")),
		);
	}
	function drawBatch(b) {
		batch.replaceChildren();
		if (!b) return;
		batch.append(
			el(
				"div",
				{ class: "card" },
				el("h3", `Batch ${b.uid} is under way: ${counted(b.stats?.totalNbTasks ?? 0, "task", "tasks")}`),
				el("progress", { max: 100, value: b.progress?.percentage ?? 0, "aria-label": "Progress" }),
				...(b.progress?.steps ?? []).map((s) => hint(`${s.currentStep}: ${count(s.finished)} of ${count(s.total)}`)),
			),
		);
	}
	const entry = (t) => [
		String(t.uid),
		label(t.type),
		t.indexUid ?? "",
		el(
			"div",
			el("span", { class: t.status === "failed" ? "tag bad" : t.status === "succeeded" ? "tag good" : "tag" }, t.status),
			t.error && el("div", { class: "hint" }, t.error.message),
		),
		time(t.startedAt ?? t.enqueuedAt),
		el(
			"span",
			{ class: "buttons" },
			button("Details", () => show(`Task ${t.uid}`, t.error && problem(t.error), json(t))),
			session.can("tasks.cancel") && (t.status === "enqueued" || t.status === "processing") && button("Cancel", () => attempt(wrong, () => cancel(`uids=${t.uid}`))),
		),
	];
	const go = (to) => {
		from = to;
		again();
	};
	const again = (renews = false) =>
		draw(renews).catch((err) => {
			if (!left.aborted) wrong.replaceChildren(problem(err));
		});
	async function cancel(which) {
		await finished((await call("POST", `/tasks/cancel?${which}`)).taskUid);
		await draw();
	}
	async function cancelAll() {
		if (await confirmed("Cancel all tasks that wait?", "What they would have changed stays as it is. They cannot be taken up again.", "Cancel them", "Leave them"))
			await cancel("statuses=enqueued");
	}
	async function forget() {
		if (!(await confirmed("Forget all finished tasks?", "What they did stays. Only their entries go, for good.", "Forget"))) return;
		await finished((await call("DELETE", "/tasks?statuses=succeeded,failed,canceled")).taskUid);
		tell("Forgotten.");
		await draw();
	}
	for (const input of [status, type, index]) input.addEventListener("change", () => go(null));
	await draw();
	const renewal = setInterval(() => {
		if (document.visibilityState === "visible" && !used()) again(true);
	}, 2000);
	left.addEventListener("abort", () => clearInterval(renewal));
}
