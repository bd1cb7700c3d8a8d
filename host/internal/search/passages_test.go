package search_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/retrieval"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// chatFound is a search of the chat.
func (r *rig) chatFound(uid, q string) retrieval.Found {
	r.tb.Helper()
	found, err := r.svc.ChatSearch(r.tb.Context(), auth.Everyone(), uid, q, "")
	if err != nil {
		r.tb.Fatal(err)
	}
	return found
}

// manual is a long page with one answer, deep in it, among others that have the question's common words.
func manual(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## Chapter %d\n%s\n\n", i, strings.Repeat("How the controller works and what it does for you. ", 15))
	}
	b.WriteString("## Polling interval\nGit repositories are polled every three minutes.\n")
	return b.String()
}

// TestChatPassagesSynonyms wants passages that say what is asked in other words: those of the language, and those that
// the index's setting names.
func TestChatPassagesSynonyms(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"synonyms":{"wug":["blicket"],"dax":["grey zorp"]}}`)
	texts := []string{
		"To disable the alarm, hold the red button.", "The blicket is in the cupboard.", "A grey zorp needs water.",
		"The alarm is tested each month.", "Kündigung: drei Monate auf Ende März.",
	}
	r.add("a", docsJSON(1, 60, func(i int) string {
		text := fmt.Sprintf("Page %d has words about gardens, stones and rivers.", i)
		if i <= len(texts) {
			text = texts[i-1]
		}
		return fmt.Sprintf(`"text":%q`, text)
	}))
	for q, want := range map[string]string{
		"How do I turn off the alarm?": texts[0],
		"deactivate alarm":             texts[0],
		"Where is the wug?":            texts[1],
		"What does a dax need?":        texts[2],
		"Wie kann ich kündigen?":       texts[4],
	} {
		if hits := r.chatFound("a", q).Hits; len(hits) == 0 || hits[0].Text != want {
			t.Errorf("%q finds first %.200v, want %q", q, hits, want)
		}
	}
}

func docJSON(tb testing.TB, doc map[string]any) string {
	tb.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func TestChatPassages(t *testing.T) {
	r := newRig(t)
	r.add("a", docJSON(t, map[string]any{"id": "guide", "title": "Guide", "url": "https://example.org/guide", "text": manual(30)}))
	r.add("a", docsJSON(1, 40, func(i int) string { return fmt.Sprintf(`"title":"Page %d","text":"How the controller works."`, i) }))
	for _, q := range []string{
		"How often are repositories polled?",
		"polling repositories",  // a form of a word
		"repositorys poled",     // misspelt
		"-polled \"every three", // no query syntax: the model asks questions
	} {
		found := r.chatFound("a", q)
		if len(found.Hits) == 0 || !strings.Contains(found.Hits[0].Text, "polled every three minutes") {
			t.Errorf("%q finds first %.200v", q, found.Hits)
			continue
		}
		h := found.Hits[0]
		if h.ID != "guide" || !strings.HasPrefix(h.Title, "Guide > ") || !strings.HasPrefix(h.URL, "https://example.org/guide#") {
			t.Errorf("%q: hit %s, title %q, URL %q", q, h.ID, h.Title, h.URL)
		}
		bytes := 0
		for _, h := range found.Hits {
			bytes += len(h.Text) + len(h.Title) + len(h.URL) + len(h.ID)
		}
		if bytes > 8000 {
			t.Errorf("%q: %d bytes of passages, want at most 8000", q, bytes)
		}
	}
	if c := r.chatFound("a", "How often are repositories polled?").Coverage; c == nil || *c < 0.5 {
		t.Errorf("coverage of an answer %v, want over 0.5", c)
	}
	if c := r.chatFound("a", "Which zebra paints violins for the controller?").Coverage; c == nil || *c > 0.40 {
		t.Errorf("coverage without an answer %v, want below 0.40", c)
	}
	r.settings("a", `{"chat":{"resultMaxBytes":600}}`)
	bytes := 0
	for _, h := range r.chatFound("a", "polled controller").Hits {
		bytes += len(h.Text)
	}
	if bytes == 0 || bytes > 600 {
		t.Errorf("%d bytes, want 1 to 600", bytes)
	}
}

// TestPassagesOfJoinedWords asks in two words for what documents write as one.
func TestPassagesOfJoinedWords(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(1, 40, func(i int) string { return `"text":"How the controller works in Page."` }))
	r.add("a", `[{"id":100,"text":"Name the timezone in settings."},{"id":101,"text":"Logins are kept for a day."}]`)
	for q, id := range map[string]string{"How do I choose the time zone?": "100", "time-zone": "100", "Who may log in?": "101"} {
		if found := r.chatFound("a", q); len(found.Hits) == 0 || found.Hits[0].ID != id {
			t.Errorf("%q finds %d passages, want one of document %s first", q, len(found.Hits), id)
		}
	}
}

// A text is shown as it is, however short; of other values, each has its name.
func TestChatPassagesNames(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["title","text","size"]}`)
	r.add("a", `{"id":1,"title":"Tea","text":"Steep the oolong.","n":0}`)
	r.add("a", `{"id":2,"title":"Cup","text":"For espresso.","size":"small"}`)
	for q, want := range map[string]string{"oolong": "Steep the oolong.", "espresso": "size: small\n\nFor espresso."} {
		if found := r.chatFound("a", q); len(found.Hits) == 0 || strings.TrimSpace(found.Hits[0].Text) != want {
			t.Errorf("%q finds %v, want %q", q, found.Hits, want)
		}
	}
}

// What somebody set about how documents are shown holds as it did.
func TestChatPassagesGiveWayToSettings(t *testing.T) {
	r := newRig(t)
	r.add("a", docJSON(t, map[string]any{"id": 1, "n": 1, "title": "Guide", "text": manual(10)}))
	r.settings("a", `{"sortableAttributes":["n"],"chat":{"description":"d"}}`)
	r.reopen()
	if found := r.chatFound("a", "polled"); found.Coverage == nil {
		t.Errorf("with a description, after a restart: %v, want passages", found)
	}
	for _, set := range []string{
		`{"documentTemplate":"{{doc.title}}"}`, `{"documentTemplateMaxBytes":100}`,
		`{"searchParameters":{"sort":["n:asc"]}}`, `{"passages":"off"}`,
	} {
		r.settings("a", `{"chat":null}`)
		r.settings("a", `{"chat":`+set+`}`)
		if found := r.chatFound("a", "polled"); found.Coverage != nil || len(found.Hits) != 1 || len(found.Hits[0].Text) > 400 {
			t.Errorf("after %s: %v, want the beginning of the document", set, found)
		}
	}
	r.settings("a", `{"chat":{"documentTemplateMaxBytes":400}}`)
	r.settings("a", `{"chat":null}`)
	r.reopen()
	if found := r.chatFound("a", "polled"); found.Coverage == nil {
		t.Errorf("after a restart: %v, want passages", found)
	}
	if found := r.chatFound("a", "  "); found.Coverage != nil {
		t.Errorf("a blank question: %v, want documents as before", found)
	}
}

// A passage shows what its reader may see: displayed attributes, and documents that a tenant's rule lets
// through. What is hidden changes no score either.
func TestChatPassagesNonInterference(t *testing.T) {
	ask := func(hidden string) string {
		r := newRig(t)
		r.settings("a", `{"displayedAttributes":["id","title","text"],"filterableAttributes":["owner"]}`)
		r.add("a", `[{"id":1,"owner":"me","title":"Tea","text":"Steep for three minutes."},{"id":2,"owner":"me","title":"Coffee","text":"Grind it."}]`)
		r.add("a", hidden)
		me := tenant(t, `{"a":{"filter":"owner = me"}}`)
		found, err := r.svc.ChatSearch(t.Context(), me, "a", "steep minutes secretword", "")
		if err != nil {
			t.Fatal(err)
		}
		// The same by itself, also where a strategy says which documents are looked into.
		both := []retrieval.Found{found}
		for _, strategy := range []settings.Strategy{"", settings.Last} {
			found, err := r.svc.Passages(t.Context(), me, "a", search.Query{Q: "steep minutes secretword", MatchingStrategy: strategy}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Hits) == 0 {
				t.Errorf("strategy %q: no passage", strategy)
			}
			both = append(both, found)
		}
		b, err := json.Marshal(both)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	with := ask(`[{"id":3,"owner":"you","title":"Steep","text":"steep minutes secretword steeping"}]`)
	without := ask(`[{"id":3,"owner":"you","title":"Other","text":"nothing"}]`)
	if with != without {
		t.Errorf("a hidden document changes the answer:\n%s\n%s", with, without)
	}
	// The words of the question are in the answer, once each, with what they are worth.
	if strings.Contains(with, "owner") || strings.Count(with, "secretword") != strings.Count(with, `"word":"secretword"`) || strings.Contains(with, "steeping") {
		t.Errorf("the answer shows what is not displayed: %s", with)
	}
}

// TestChatPassagesNonInterferenceOfCompounds: whether the rest of a compound is a word is decided by what the caller
// may see.
func TestChatPassagesNonInterferenceOfCompounds(t *testing.T) {
	ask := func(hidden string) string {
		r := newRig(t)
		r.settings("a", `{"filterableAttributes":["owner"]}`)
		r.add("a", `[{"id":1,"owner":"me","text":"Das Gartentor ist offen."},{"id":2,"owner":"me","text":"Nichts davon."}]`)
		r.add("a", fmt.Sprintf(`[{"id":3,"owner":"you","text":%q}]`, hidden))
		found, err := r.svc.ChatSearch(t.Context(), tenant(t, `{"a":{"filter":"owner = me"}}`), "a", "Welche Farbe hat der Gart?", "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if with, without := ask("ento entor tor"), ask("nothing"); with != without {
		t.Errorf("a hidden document changes the answer:\n%s\n%s", with, without)
	}
}

// TestChatPassagesNonInterferenceOfMany: forms and compounds of what the caller may see are found behind however many
// words of others.
func TestChatPassagesNonInterferenceOfMany(t *testing.T) {
	crowd := func(n int, word func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(word(i) + " ")
		}
		return b.String()
	}
	for _, tt := range []struct{ name, seen, hidden, asked string }{
		{"forms", "Die kalten Tage.", crowd(6000, func(i int) string { return fmt.Sprintf("kala%06d", i) }), "Wann wird es kalt?"},
		{"compounds", "Die Zahnversicherung.", crowd(210_000, func(i int) string { return fmt.Sprintf("b%06d", i) }), "Was kostet die Versicherung?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.hidden) > 1<<20 && os.Getenv("LONG") == "" {
				t.Skip("it takes seconds to index so many words; LONG=1 does")
			}
			r := newRig(t)
			r.settings("a", `{"filterableAttributes":["owner"]}`)
			r.add("a", docJSON(t, map[string]any{"id": 1, "owner": "you", "text": tt.hidden}))
			r.add("a", docJSON(t, map[string]any{"id": 2, "owner": "me", "text": tt.seen}))
			found, err := r.svc.ChatSearch(t.Context(), tenant(t, `{"a":{"filter":"owner = me"}}`), "a", tt.asked, "")
			if err != nil || len(found.Hits) != 1 || found.Hits[0].ID != "2" {
				t.Errorf("%q finds %d hits, %v, want document 2", tt.asked, len(found.Hits), err)
			}
		})
	}
}

// TestPassagesOfManyAlike: of more documents that have as much of a question as are looked into, those that came first
// are, though one of them was written again and has the last number.
func TestPassagesOfManyAlike(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(0, 300, func(i int) string { return fmt.Sprintf(`"text":"Steep the tea for minutes: %d."`, i) }))
	r.add("a", docsJSON(0, 1, func(int) string { return `"text":"Steep the tea for minutes; 0."` }))
	hits := r.chatFound("a", "tea").Hits
	if len(hits) == 0 || hits[0].ID != "0" {
		t.Errorf("%d hits, want document 0 first", len(hits))
	}
}

// TestChatPassagesCompoundsOfMany: a compound is found behind ten thousands of other words and numbers.
func TestChatPassagesCompoundsOfMany(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(1, 200, func(i int) string {
		var b strings.Builder
		for k := range 200 {
			fmt.Fprintf(&b, "%s%d %d ", spell(uint64(200*i+k)), i, 1_000_000+200*i+k)
		}
		if i == 7 {
			b.WriteString("Zahnversicherung")
		}
		return fmt.Sprintf(`"text":%q`, b.String())
	}))
	r.awaitMerges()
	if hits := r.chatFound("a", "Was kostet die Versicherung?").Hits; len(hits) != 1 || hits[0].ID != "7" {
		t.Errorf("%d hits, want document 7", len(hits))
	}
}

// TestQuestionPairs: a question that has a few words in every order asks for no more than one that is as long as
// questions are.
func TestQuestionPairs(t *testing.T) {
	var han, latin strings.Builder
	for i := range 50 {
		for k := range 50 {
			fmt.Fprintf(&han, "%c%c", 0x4e00+i, 0x4f00+k)
			fmt.Fprintf(&latin, "a%d b%d ", i, k)
		}
	}
	for _, q := range []string{han.String(), latin.String(), strings.Repeat("log in ", 1000)} {
		if joined, pairs := search.QuestionPairs(q); joined > 256 || pairs > 128 {
			t.Errorf("%.20q…: %d words joined and %d pairs, want at most 256 and 128", q, joined, pairs)
		}
	}
	if joined, pairs := search.QuestionPairs("how to log in: 天気は"); joined < 6 || pairs != 2 {
		t.Errorf("a plain question: %d words joined and %d pairs, want 6 or more and 2", joined, pairs)
	}
}

// TestPassagesOfFewDocuments asks a handful of documents, which lack the words of
// any question: these do not outweigh the one that it is about.
func TestPassagesOfFewDocuments(t *testing.T) {
	r := newRig(t)
	r.add("few", `[{"id":1,"title":"Tea","text":"Steep for three minutes."},
		{"id":2,"title":"Coffee","text":"Grind the beans just before."},
		{"id":3,"title":"Stalker","director":"Andrei Tarkovsky"}]`)
	for question, id := range map[string]string{"How long does tea steep?": "1", "Who directed Stalker?": "3", "When do I grind coffee?": "2", "What is tea?": "1"} {
		found := r.chatFound("few", question)
		if len(found.Hits) == 0 || found.Hits[0].ID != id || found.Coverage == nil || *found.Coverage < 0.4 {
			t.Errorf("%q: hits %v, coverage %v; want document %s first, and 0.4 or more", question, found.Hits, *found.Coverage, id)
		}
	}
	for _, question := range []string{"Which zebra paints violins?", "Who wrote symphonies about coffee?"} {
		if c := r.chatFound("few", question).Coverage; c == nil || *c >= 0.40 {
			t.Errorf("%q: coverage %v, want below 0.40", question, *c)
		}
	}
}

// TestPassagesOfTable asks a table, whose cells hold names and numbers alone: that
// they lack "which" and "did" does not outweigh the names.
func TestPassagesOfTable(t *testing.T) {
	r := newRig(t)
	var rows []string
	for i := range 150 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"Title%d","director":"Person%d","genre":"Drama"}`, i, i, i%50))
	}
	rows = append(rows, `{"id":900,"title":"Memento","director":"Christopher Nolan","genre":"Drama"}`)
	r.add("films", "["+strings.Join(rows, ",")+"]")
	for _, question := range []string{"Which films did Christopher Nolan direct?", "Welche Filme hat Christopher Nolan gedreht?", "Quels films Christopher Nolan a-t-il réalisés ?"} {
		found := r.chatFound("films", question)
		if len(found.Hits) == 0 || found.Hits[0].ID != "900" || *found.Coverage < 0.40 {
			t.Errorf("%q: hits %v, coverage %v; want document 900 first, and 0.37 or more", question, found.Hits, *found.Coverage)
		}
	}
	for _, question := range []string{"Which dramas did Sofia Coppola direct?", "How do I bake bread?"} {
		if c := r.chatFound("films", question).Coverage; *c >= 0.37 {
			t.Errorf("%q: coverage %v, want below 0.37", question, *c)
		}
	}
}

// TestPassagesOfPriceList: the row of a part comes first however the question is put, and is no refusal, though
// short texts beside the list have all the words that the question is made of.
func TestPassagesOfPriceList(t *testing.T) {
	r := newRig(t)
	var docs []string
	row := func(i int) string {
		return fmt.Sprintf("| P-%04d | bolt of kind %d | %d.50 | %d |\n", i, i%7, 3*i, i%13)
	}
	for from := 0; from < 1200; from += 30 {
		text := "| part | description | price | stock |\n|---|---|---|---|\n"
		for i := from; i < from+30; i++ {
			text += row(i)
		}
		docs = append(docs, docJSON(t, map[string]any{"id": fmt.Sprint(from), "title": "Price list", "text": text}))
	}
	docs = append(docs,
		docJSON(t, map[string]any{"id": "terms", "title": "Terms", "text": "What is the warranty? The warranty of the product is two years. What is the price of shipping? The price of it is part of the offer."}),
		docJSON(t, map[string]any{"id": "about", "title": "About us", "text": "The company is a family firm of the third generation. It is in the centre of the town."}))
	for _, d := range docs {
		r.add("a", d)
	}
	for _, form := range []string{
		"What is the price of P-%04d?", "P-%04d", "price of p-%04d", "How much is P-%04d?", "What does P-%04d cost?", "Is the P-%04d in stock?", "Which is the part with the number P-%04d?",
	} {
		for _, i := range []int{7, 421, 900, 1199} {
			found := r.chatFound("a", fmt.Sprintf(form, i))
			if len(found.Hits) == 0 || !strings.Contains(found.Hits[0].Text, row(i)[:8]) || !strings.HasPrefix(found.Hits[0].Text, "| part |") || *found.Coverage < 0.37 {
				t.Errorf("%q, coverage %.2f, finds first %.200v", fmt.Sprintf(form, i), *found.Coverage, found.Hits)
			}
		}
	}
}

// TestPassagesBehindLists: what only lists questions, or the headings of its page, does not come before what
// answers.
func TestPassagesBehindLists(t *testing.T) {
	r := newRig(t)
	page := func(path string, n int, heading, text string) string {
		return docJSON(t, map[string]any{"id": fmt.Sprint(path, n), "path": path + ".md", "title": path, "headings": []string{heading}, "text": text, "n": n, "contentHash": "x"})
	}
	for _, d := range []string{
		page("handbook", 0, "Questions", "- How many days of leave do I get?\n- What may I spend when travelling?\n- Who signs orders?"),
		page("handbook", 1, "Leave", "Staff have 28 working days of leave. It is agreed two weeks ahead with the head of the department."),
		page("machine", 0, "Contents", "- Making coffee\n- Descaling\n- Faults"),
		page("machine", 1, "Making coffee", "Press one cup or two cups. Hold the button to choose the strength."),
		page("machine", 2, "Descaling", "Put 100 ml of descaler into the tank. The coffee machine then runs for 25 minutes."),
		page("machine", 3, "Faults", "A red lamp: the tank is empty."),
		page("faq", 0, "FAQ", "Questions: How do I order? How do I pay? Who pays the shipping? Do I get leave?"),
	} {
		r.add("a", d)
	}
	for q, id := range map[string]string{"How many days of leave do I get?": "handbook1", "descaling and making coffee with the machine, what faults are there?": "machine2"} {
		if found := r.chatFound("a", q); len(found.Hits) == 0 || found.Hits[0].ID != id {
			t.Errorf("%q finds first %.200v, want %s", q, found.Hits, id)
		}
	}
}

// TestPassagesOfWordForms asks by other forms of words than documents have, in several languages.
func TestPassagesOfWordForms(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(1, 120, func(i int) string { return `"text":"Der Text le texte el texto number."` }))
	r.add("a", `[{"id":200,"text":"Die Gebäudeversicherung und jede andere Versicherung hat der Eigentümer."},
		{"id":201,"text":"Les grosses réparations sont à la charge du propriétaire."},
		{"id":202,"text":"Los contratos se cancelan por carta."}]`)
	for q, id := range map[string]string{
		"Welche Versicherungen gibt es für das Haus?": "200", "Qui paie une réparation dans la maison ?": "201", "¿Cómo es el contrato de la casa?": "202",
	} {
		if found := r.chatFound("a", q); len(found.Hits) == 0 || found.Hits[0].ID != id {
			t.Errorf("%q finds first %.200v, want %s", q, found.Hits, id)
		}
	}
}

// TestPassagesOfFoldedWords: a word is found as it is written with a hyphen, a number however its digits are parted,
// a German word in a compound and a compound by its parts, and in scripts without spaces what is within a phrase.
func TestPassagesOfFoldedWords(t *testing.T) {
	r := newRig(t)
	texts := []string{
		"Write us an E-Mail at any hour.", "The order comes to 1,712 francs.", "Anlage 7 hat eine Fläche von 2.345,5 Metern.",
		"Der Beginn des Bootshausdachs verschiebt sich.", "Die Rechnung ist da. Für die Heizung ist er zuständig.", "The set-up takes an hour.",
		"ผู้เช่าต้องชำระค่าเช่ารายเดือนก่อนวันที่ห้า", "図書館は月曜日に休みです。",
	}
	r.add("a", docsJSON(1, 60, func(i int) string {
		text := fmt.Sprintf("Page %d has words about gardens, stones and rivers. Seite %d über Gärten und das Bootshaus. หน้าเกี่ยวกับสวน 庭の本。", i, i)
		if i <= len(texts) {
			text = texts[i-1]
		}
		return fmt.Sprintf(`"text":%q`, text)
	}))
	for q, want := range map[string]string{
		"Can I write an email at any hour?": texts[0],
		"Which order is 1712?":              texts[1],
		"Which one comes to 1’712.00?":      texts[1],
		"Was hat 2345,50?":                  texts[2],
		"Wo ist das Dach?":                  texts[3],
		"Wo ist die Heizungsrechnung?":      texts[4],
		"How long is the setup?":            texts[5],
		"ค่าเช่าต้องจ่ายเมื่อไหร่": texts[6],
		"図書館はいつ休みですか":              texts[7],
	} {
		found, first := r.chatFound("a", q), ""
		if len(found.Hits) > 0 {
			first = found.Hits[0].Text
		}
		if first != want || *found.Coverage < retrieval.LowCoverage {
			t.Errorf("%q finds first %.100q (coverage %.2f), want %q", q, first, *found.Coverage, want)
		}
	}
}
