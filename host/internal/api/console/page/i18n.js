// Texts in the reader's language. English is in the code, as what is said; a file for each other language
// has what that is in it, by the first ten characters where no other text begins so.

/** The languages, by their own names. */
export const languages = { en: "English", de: "Deutsch", he: "עברית" };

const wished = [localStorage.getItem("parley-language") ?? "", ...navigator.languages.map((l) => l.slice(0, 2))];

/** The one that the page is in. */
export const language = wished.find((l) => Object.hasOwn(languages, l)) ?? "en";

/** @type {Record<string, string>} */
const texts = language === "en" ? {} : (await import(`./${language}.js`)).texts;

document.documentElement.lang = language;
document.documentElement.dir = language === "he" ? "rtl" : "ltr";

/** A text in the reader's language: t`Searched ${index}`. */
export function t(parts, ...values) {
	const said = parts.reduce((all, part, i) => `${all}{${i - 1}}${part}`);
	// In a text from right to left, a name from left to right stays whole.
	return (texts[said] ?? texts[said.slice(0, 10)] ?? said).replace(/\{(\d)\}/g, (_, n) => (language === "he" ? `\u2068${values[n]}\u2069` : String(values[n])));
}
