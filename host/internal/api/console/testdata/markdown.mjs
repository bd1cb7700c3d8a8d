// Draws what hostile answers may be, in a document that only counts, and counts the steps that drawing takes: how often
// each block of the renderer's code runs, and how many characters are searched and cut. Twice the text may take little more
// than twice the steps. The first argument is the folder of the page, the second one the seed.
import inspector from "node:inspector/promises";

class Node {
	children = [];
	append(...more) {
		this.children.push(...more);
	}
	appendChild(node) {
		this.append(node);
	}
	get childNodes() {
		return this.children;
	}
	replaceWith() {}
	setAttribute() {}
	addEventListener() {}
}
Object.assign(globalThis, {
	Node,
	HTMLElement: Node,
	HTMLButtonElement: class {},
	location: { origin: "http://127.0.0.1" },
	localStorage: { getItem: () => null },
});
Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] } });
globalThis.document = { createDocumentFragment: () => new Node(), createElement: () => new Node(), createTextNode: (text) => text, getElementById: () => null, addEventListener() {}, documentElement: {} };

const session = new inspector.Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const { markdown } = await import(`file://${process.argv[2]}/markdown.js`);

// What the language itself does with a text counts by its length.
let characters = 0;
const { indexOf, slice, trim } = String.prototype;
String.prototype.indexOf = function (what, from = 0) {
	const at = indexOf.call(this, what, from);
	characters += (at < 0 ? this.length : at) - from;
	return at;
};
String.prototype.slice = function (from, to) {
	const cut = slice.call(this, from, to);
	characters += cut.length;
	return cut;
};
String.prototype.trim = function () {
	characters += this.length;
	return trim.call(this);
};

const cite = { open() {}, source: (n) => (n < 9 ? { title: "A source", look() {} } : null) };
async function steps(text) {
	await session.post("Profiler.takePreciseCoverage"); // from here on
	characters = 0;
	markdown(text, cite);
	const searched = characters;
	const { result } = await session.post("Profiler.takePreciseCoverage");
	const file = result.find((r) => r.url.endsWith("/markdown.js"));
	return searched + file.functions.flatMap((f) => f.ranges).reduce((n, r) => n + r.count, 0);
}

let seed = Number(process.argv[3] ?? 1);
const random = (n) => {
	seed = (seed * 1103515245 + 12345) % 2147483648;
	return Math.floor((seed / 2147483648) * n);
};
const pieces = ["[a/", "[", "[a](http://", "[a](#", "[a/b](http://x[", "[1]", "[1, ", "](", "(", ")", "`", "``", "```\n", "~~~", "**a", "**", "*", "_a ", "__", "~~", "http://", "http://x)", "| ", "|-", "> ", "\n> ", "\n1. ", "\n  - ", "\n# ", "\n\n", "\n", " ", "\t", "a", "é", "\\", "\\*", "<br>", "<", "— ", "\n---\n", "\n| a | b |\n|---|---|\n", "!", ".", "é_", "    "];
const made = pieces.map((p) => [p]);
for (let i = 0; i < 400; i++) made.push(Array.from({ length: 1 + random(5) }, () => pieces[random(pieces.length)]));
let worst = 0;
for (const parts of made) {
	const text = parts.join("");
	const n = Math.ceil(4000 / text.length);
	const [one, two] = [await steps(text.repeat(n)), await steps(text.repeat(2 * n))];
	const ratio = two / one;
	if (ratio > worst) worst = ratio;
	// The beginning may be cheap: what counts is also what a character costs.
	if (ratio > 2.6 && two / (2 * n * text.length) > 40) {
		console.log(`${JSON.stringify(text)}: ${one} steps for ${n} times, ${two} for ${2 * n}`);
		process.exitCode = 1;
	}
	if (two / (2 * n * text.length) > 400) {
		console.log(`${JSON.stringify(text)}: ${Math.round(two / (2 * n * text.length))} steps a character`);
		process.exitCode = 1;
	}
}
// Whatever the bytes are, it draws.
for (let i = 0; i < 2000; i++) markdown(Array.from({ length: random(60) }, () => pieces[random(pieces.length)]).join(""), cite);
console.log(`${made.length} texts; twice the text took at most ${worst.toFixed(2)} times the steps`);
