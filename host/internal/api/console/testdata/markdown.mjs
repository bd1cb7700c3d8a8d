// Draws what a hostile answer may be, long, in a document that only counts. The first argument is the folder of the page.
class Node {
	children = [];
	append(...more) {
		this.children.push(...more);
	}
	setAttribute() {}
	addEventListener() {}
}
Object.assign(globalThis, { Node, HTMLElement: Node, HTMLButtonElement: class {}, location: { origin: "http://127.0.0.1" } });
globalThis.document = { createDocumentFragment: () => new Node(), createElement: () => new Node(), createTextNode: (text) => text, getElementById: () => null, addEventListener() {} };
const { markdown } = await import(`file://${process.argv[2]}/markdown.js`);
for (const part of ["[a/", "[", "[a](http://", "[a](#", "[a/b](http://x[", "[a/b", "`", "**a", "**", "_a ", "*", "http://", "| ", "> ", "1. ", "# "]) {
	markdown(part.repeat(150_000), () => {});
	console.log(JSON.stringify(part));
}
