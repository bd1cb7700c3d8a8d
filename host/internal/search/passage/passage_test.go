package passage

import (
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// ask makes a question of words, each known to one of a hundred documents.
func ask(words ...string) *Question {
	q := &Question{Words: strings.Fields}
	for _, w := range words {
		q.Terms = append(q.Terms, NewTerm(1, 100, map[string]float32{w: 1}, false))
	}
	return q
}

func TestSplit(t *testing.T) {
	para := strings.Repeat("Words of a paragraph. ", 20) // 440 bytes; a passage is closed at 480
	tests := []struct {
		name, text string
		want       []string // "headings: beginning of the text"
	}{
		{"nothing", "", nil},
		{"one paragraph", "Some text.", []string{": Some text."}},
		{"headings", "# Page\nIntro " + para + "\n## A `b` **c** ##\n" + para + "\n### D\n" + para + "\n## E\n" + para, []string{
			"Page: Intro Words", "Page|A b c: Words of", "Page|A b c|D: Words of", "Page|E: Words of",
		}},
		{"paragraphs fill a passage", para + "\n\n" + para + "\n\n" + para, []string{": Words of", ": Words of", ": Words of"}},
		{"a short section joins", "# P\n" + para + "\n## Q\nshort\n", []string{"P: Words of"}},
		{"a short section joins where the title was taken out", "## P\n" + para + "\n## Q\nshort\n\n## R\n" + para, []string{"P: Words of", "R: Words of"}},
		{"a short section of another page does not", "# P\n" + para + "\n# Q\nshort\n", []string{"P: Words of", "Q: short"}},
		{"no heading in code", "# P\n```\n# not one\n\n## nor this\n```\n", []string{"P: ```\n# not one"}},
		{"a manual page", "NAME\n  ls - list\n" + para + "\nEXIT STATUS\n  " + para, []string{"NAME:   ls - list", "EXIT STATUS:   Words"}},
		{"capitals in Markdown are no headings", "# P\nNAME\nx", []string{"P: NAME\nx"}},
		{"a hash without a space is no heading", "#tag here", []string{": #tag here"}},
		{"carriage returns", "# P\r\nText\r\n\r\nmore\r\n", []string{"P: Text\n\nmore"}},
		{"a fence without an end", "# P\n```\ncode\n", []string{"P: ```\ncode"}},
	}
	for _, tt := range tests {
		parts := Split(tt.text, 1200)
		if len(parts) != len(tt.want) {
			t.Errorf("%s: %d parts %+v, want %d", tt.name, len(parts), parts, len(tt.want))
			continue
		}
		for i, p := range parts {
			if got := strings.Join(p.Headings, "|") + ": " + p.Text; !strings.HasPrefix(got, tt.want[i]) {
				t.Errorf("%s: part %d is %.60q, want %q first", tt.name, i, got, tt.want[i])
			}
		}
	}
}

func TestSplitKeepsTableRowsAndCodeWhole(t *testing.T) {
	row := "| " + strings.Repeat("cell | ", 30) + "\n"
	code := "```\n" + strings.Repeat("a line of code\n\n", 30) + "```"
	for _, p := range Split("# T\n"+strings.Repeat(row, 20)+"\n\n"+code, 600) {
		if len(p.Text) > 600 {
			t.Errorf("a part has %d bytes, want at most 600", len(p.Text))
		}
		for _, l := range strings.Split(p.Text, "\n") {
			if strings.HasPrefix(l, "|") && l != strings.TrimSuffix(row, "\n") {
				t.Errorf("a row was cut: %q", l)
			}
		}
	}
}

// Every word of a text is in the headings or the text of a part, and each part can be read alone.
func TestSplitKeepsAllAndEachCanBeReadAlone(t *testing.T) {
	para := strings.Repeat("Words of a paragraph. ", 20)
	row := "| " + strings.Repeat("cell ", 30) + "|\n"
	for _, tt := range []struct {
		name, text string
		want       []string // each in the text of a part
	}{
		{"headings without text", "# P\n" + para + "\n## Parameters\n## Returns\n\n### Errors\n", []string{"Parameters", "Returns > Errors"}},
		{"a page of headings", "## One\n### Two\n## Three\n", []string{"Two\n\nThree"}},
		{"a section joins with its path", "# P\n## A\n### B\nSome words.\n## C\n### D\nshort\n", []string{"C > D\nshort"}},
		{"a hash at the end of a name", "# P\n## What about C#\n" + para, nil},
		{"a table that is cut", "The prices:\n\n| name | price |\n|---|---|\n" + strings.Repeat(row, 20), []string{"The prices:\n\n| name | price |\n|---|---|\n| cell", "| name | price |\n|---|---|\n| cell"}},
		{"code that is cut", "Run this:\n\n```go x\n" + strings.Repeat("a line of code\n\n", 60) + "```", []string{"Run this:\n\n```go x\na line", "```go x" + GoesOn + "\na line"}},
		{"a table with a wide head that is cut", "| name | " + strings.Repeat("a column | ", 14) + "\n|---" + strings.Repeat("|---", 14) + "|\n" + strings.Repeat("| row of it |\n", 60), []string{"| a column | \n|---" + strings.Repeat("|---", 14) + "|\n| row of it |"}},
		{"code with a long first line that is cut", "```" + strings.Repeat("title ", 40) + "\n" + strings.Repeat("a line of code\n", 60) + "```", []string{"```" + GoesOn + "\na line of code"}},
		{"a list that is cut", "You need:\n\n" + strings.Repeat("- an item of the list\n", 60), []string{"You need:\n\n- an item", "You need:\n- an item"}},
		{"a line that announces", para + "\n\nWhat does it cost?\n\n" + para, []string{"What does it cost?\n\nWords"}},
		{"a fence within a fence", "````md\n```\n# x\n```\n````\n\n# After\n\ntext", []string{"# x"}},
		{"capitals in a list", "Shopping\n\nBREAD\nMILK\n", []string{"BREAD\nMILK"}},
		{"a heading that is too long", "# " + strings.Repeat("long ", 100), []string{"# long"}},
	} {
		parts := Split(tt.text, 600)
		if lost := lostWords(tt.text, parts); lost != "" {
			t.Errorf("%s: the word %q is lost: %+v", tt.name, lost, parts)
		}
		for _, w := range tt.want {
			if !slices.ContainsFunc(parts, func(p Part) bool { return strings.Contains(p.Text, w) }) {
				t.Errorf("%s: no part has %q: %#v", tt.name, w, parts)
			}
		}
		for _, p := range parts {
			if len(p.Text) > 600 || strings.Count(p.Text, "```")%2 != 0 {
				t.Errorf("%s: a part of %d bytes: %q", tt.name, len(p.Text), p.Text)
			}
			if strings.Contains(p.Text, "| row") && !strings.HasPrefix(p.Text, "| name |") {
				t.Errorf("%s: a part without the wide head: %q", tt.name, p.Text)
			}
			if strings.Contains(p.Text, "| cell") && !strings.HasPrefix(strings.TrimPrefix(p.Text, "The prices:\n\n"), "| name | price |\n|---|---|\n") {
				t.Errorf("%s: a part without the head: %q", tt.name, p.Text)
			}
		}
	}
	if parts := Split("## What about C#\n\ntext", 600); len(parts) != 1 || parts[0].Headings[0] != "What about C#" {
		t.Errorf("%+v, want the heading What about C#", parts)
	}
}

func TestRankFindsWhatIsDeepInAPage(t *testing.T) {
	filler := strings.Repeat("The controller looks at things and goes on with other things. ", 8)
	var page strings.Builder
	for i := range 30 {
		fmt.Fprintf(&page, "## Part %d\n%s\n\n", i, filler)
		if i == 23 {
			page.WriteString("## Refresh interval\nGit is polled every three minutes by the controller.\n\n")
		}
	}
	docs := []Document{{ID: "other", Title: "Other", Text: "The controller is small.", Whole: true}, {ID: "page", Title: "Guide", URL: "https://example.org/g", Text: page.String()}}
	q := ask("controller", "git", "polled")
	q.Terms[0] = NewTerm(90, 100, map[string]float32{"controller": 1}, false)
	list := Rank(docs, q, 1500, 0)
	if len(list) == 0 || !strings.Contains(list[0].Text, "every three minutes") || list[0].Cover < 0.99 {
		t.Fatalf("first passage is %+v", list)
	}
	if got := list[0].Title(&docs[1]); got != "Guide > Refresh interval" && !strings.HasPrefix(got, "Guide > Part 23") {
		t.Errorf("title %q", got)
	}
	if got := list[0].URL(&docs[1]); !strings.HasPrefix(got, "https://example.org/g#") {
		t.Errorf("URL %q, want an anchor", got)
	}
}

func TestRank(t *testing.T) {
	docs := []Document{
		{ID: "a", Text: "apples and pears", Whole: true},
		{ID: "b", Text: "nothing of it", Whole: true},
		{ID: "c", Title: "Apples", Text: "pears in a row", Whole: true},
		{ID: "d", Text: "fetchAppleTree once", Whole: true},
		{ID: "e", Text: "Äpfel sind Obst", Whole: true, Near: 1},
	}
	q := ask("apples", "pears")
	q.Terms[0].Forms["apple"] = 0.6
	q.Terms[0].Forms["äpfel"] = 0.5
	q.Words = func(s string) []string { return strings.Fields(strings.ToLower(s)) }
	order := func(ratio float64) (ids string) {
		for _, p := range Rank(docs, q, 1500, ratio) {
			ids += docs[p.Doc].ID
		}
		return ids
	}
	if got := order(0); got != "caed"[:0]+got || strings.Contains(got, "b") || len(got) != 4 || strings.IndexByte(got, 'd') < 2 {
		t.Errorf("order %q: want all but b, those with both words first", got)
	}
	if got := order(1); got[0] != 'e' {
		t.Errorf("order %q by meaning alone, want e first", got)
	}
	q = ask("zebra")
	docs[1].Near = 0.5
	if got := order(0.5); got != "eb" {
		t.Errorf("order %q without a word in any, want what is near: eb", got)
	}
}

func TestRankBoundsText(t *testing.T) {
	big := strings.Repeat("word ", MaxText/5)
	docs := []Document{{Text: big + "needle"}, {Text: "needle"}}
	if got := len(Rank(docs, ask("needle"), 1500, 0)); got != 0 {
		t.Errorf("%d passages of what is beyond the limit, want 0", got)
	}
}

// A page of a megabyte has most words of any question: it does not keep those out that are about it.
func TestRankReadsShortPagesBesideLongOnes(t *testing.T) {
	long := strings.Repeat("adjust the default value of each filter here and there\n\n", MaxText/56)
	docs := []Document{
		{ID: "long", Text: long, Found: 9},
		{ID: "longer", Text: long + long, Found: 9},
		{ID: "short", Title: "nice", Text: "The default adjustment of niceness is 10.", Found: 8},
	}
	list := Rank(docs, ask("default", "adjustment", "niceness"), 1500, 0)
	if len(list) == 0 || docs[list[0].Doc].ID != "short" {
		t.Fatalf("first of %d passages: %.200v, want the short page's", len(list), list)
	}
}

func TestFitAndWindow(t *testing.T) {
	q := ask("needle")
	long := strings.Repeat("hay hay hay\n", 60) + "the needle is here\n" + strings.Repeat("more hay\n", 60)
	list := []Passage{{Text: "a needle"}, {Text: long}, {Text: "needle again"}}
	fit := Fit(list, q, 400, 1500, func(*Passage) int { return 20 })
	if len(fit) != 2 || fit[0].Text != "a needle" || !strings.Contains(fit[1].Text, "needle is here") {
		t.Fatalf("Fit = %+v", fit)
	}
	sum := 0
	for _, p := range fit {
		sum += 20 + len(p.Text)
	}
	if sum > 400 {
		t.Errorf("%d bytes, want at most 400", sum)
	}
	fit = Fit([]Passage{{Text: long}, {Text: long, Row: true}}, q, 8000, len(long), func(*Passage) int { return 0 })
	if n := len(fit[0].Text); n > len(long)*6/10 || !strings.Contains(fit[0].Text, "needle is here") || fit[1].Text != long {
		t.Errorf("of passages of %d bytes, %d and %d are shown; want the half around the needle, and the record whole", len(long), n, len(fit[1].Text))
	}
	var many []Passage
	for range firstShown + 2 {
		many = append(many, Passage{Text: long})
	}
	fit = Fit(many, q, 8000, len(long), func(*Passage) int { return 0 })
	if first, last := fit[firstShown-1].Text, fit[firstShown].Text; len(first) < len(long)/2 || len(last) > len(long)*3/10 || !strings.Contains(last, "needle is here") {
		t.Errorf("of passages of %d bytes, %d are shown of the last of the best ones, %d behind it; want half and less than a third", len(long), len(first), len(last))
	}
	if got := Window("no space to cut "+strings.Repeat("ä", 400), q, 101); len(got) > 101 || !utf8.ValidString(got) {
		t.Errorf("Window gives %d bytes %q", len(got), got)
	}
}

// Passages that were imported one by one rank as those cut from their page do: what stands beside a match
// counts, and so does what else its page has.
func TestRankKnowsThePageOfAPassage(t *testing.T) {
	other := strings.Repeat("Something else is said here at length. ", 10)
	page := []string{other, "The timeout is set here.", "Its default is 30 seconds.\n" + other, other}
	var docs []Document
	for i := range 6 {
		docs = append(docs, Document{ID: fmt.Sprint("far", i), Text: "Its default is 40 seconds.\n" + other, Whole: true})
	}
	for i, text := range page {
		docs = append(docs, Document{ID: fmt.Sprint("near", i), Text: text, Whole: true, Page: "page", Place: i})
	}
	list := Rank(docs, ask("timeout", "default"), 1500, 0)
	if len(list) < 2 || docs[list[0].Doc].ID != "near1" || docs[list[1].Doc].ID != "near2" {
		t.Fatalf("first of %d passages: %+v, want near1 and near2", len(list), list[:min(len(list), 2)])
	}
	for i := range docs {
		docs[i].Page = ""
	}
	if list := Rank(docs, ask("timeout", "default"), 1500, 0); docs[list[1].Doc].ID == "near2" {
		t.Error("without its page near2 comes second too: this test shows nothing")
	}
}

// What Rank allocates is small against the text that it reads: passages share its memory.
func TestRankAllocates(t *testing.T) {
	page := "# Page\n" + strings.Repeat("## Section\n"+strings.Repeat("Some words of documentation about clusters and nodes.\n", 20), 8)
	docs := make([]Document, 100)
	for i := range docs {
		docs[i] = Document{ID: "x", Title: "Page", Text: page}
	}
	q := ask("documentation", "nodes", "absent")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Rank(docs, q, 1500, 0)
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(len(page)*len(docs)*2/3); got > most {
		t.Errorf("%d bytes allocated over %d of text, want at most %d", got, len(page)*len(docs), most)
	}
}

func TestFindLists(t *testing.T) {
	headings := map[string]bool{"making coffee": true, "cleaning": true, "faults": true}
	for text, want := range map[string]string{
		"- How many days?\n- Who signs?\n- What then?\n\nAn answer.":            "- How many days?\n- Who signs?\n- What then?",
		"Questions: How do I pay? Who pays? When?\n":                            "Questions: How do I pay? Who pays? When?",
		"- Making coffee\n- Cleaning\n- Faults\n\nPress one cup.":               "- Making coffee\n- Cleaning\n- Faults\n",
		"What is the warranty? Two years. Who pays? You. And when? At once.":    "",
		"How do I pay?\n\nBy card.\n\nHow do I order?\n\nBy phone.\n\nWhy? So.": "",
		"Making coffee\nPress.\n\nCleaning\nRinse.\n\nFaults\nNone.":            "",
	} {
		got := ""
		for _, l := range findLists(text, func(item string) bool { return headings[strings.ToLower(item)] }) {
			got += text[l.from:l.to]
		}
		if got != want {
			t.Errorf("lists of %q: %q, want %q", text, got, want)
		}
	}
}

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{"How to sync": "how-to-sync", "What's new?": "whats-new", "A_b-c 1.2": "a_b-c-12", "Über uns": "über-uns"} {
		if got := Anchor(heading); got != want {
			t.Errorf("Anchor(%q) = %q, want %q", heading, got, want)
		}
	}
}

func TestIDF(t *testing.T) {
	if rare, common := IDF(1, 1000), IDF(900, 1000); rare < 5 || common > 0.2 || math.IsNaN(IDF(0, 0)) {
		t.Errorf("IDF of a rare word %v, of a common one %v, of none %v", rare, common, IDF(0, 0))
	}
}

// FuzzSplit wants parts of at most size bytes that lose no word but headings.
func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext\n```\ncode\n```\n| a | b |\n", 200)
	f.Add("NAME\n  x\n\nÄÄÄÄ "+strings.Repeat("y", 500), 250)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 200 || size > 8000 || !utf8.ValidString(text) {
			return
		}
		for _, p := range Split(text, size) {
			if len(p.Text) > size || strings.TrimSpace(p.Text) == "" {
				t.Fatalf("a part of %d bytes %q, want 1 to %d", len(p.Text), p.Text, size)
			}
			if !utf8.ValidString(p.Text) {
				t.Fatalf("a part cuts a character: %q", p.Text)
			}
			if w := Window(p.Text, ask("a"), 150); len(w) > 150 || len(p.Text) > 150 && strings.HasPrefix(w, "\n") {
				t.Fatalf("a window of %d bytes", len(w))
			}
		}
		if lost := lostWords(text, Split(text, size)); lost != "" {
			t.Fatalf("the word %q is in no part of %q", lost, text)
		}
	})
}

// lostWords returns a word of text that its parts have less often; empty: none is lost.
func lostWords(text string, parts []Part) string {
	count := map[string]int{}
	fields := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	}
	for _, p := range parts {
		for _, w := range fields(p.Text) {
			count[w]++
		}
		for _, w := range fields(strings.Join(p.Headings, " ")) {
			count[w] += 1000 // stands above each part of its section
		}
	}
	for _, w := range fields(anchors.ReplaceAllString(text, "")) {
		if count[w]--; count[w] < 0 && len(w) < 100 { // a longer word may be cut
			return w
		}
	}
	return ""
}

// anchors are what headings have behind their text.
var anchors = regexp.MustCompile(`\{#[^ {}]*\}`)

func BenchmarkRank(b *testing.B) {
	page := "# Page\n" + strings.Repeat("## Section\n"+strings.Repeat("Some words of documentation about clusters and nodes.\n", 20), 8)
	docs := make([]Document, 100)
	for i := range docs {
		docs[i] = Document{ID: "x", Title: "Page", Text: page}
	}
	q := ask("documentation", "nodes", "absent")
	b.SetBytes(int64(min(len(page)*len(docs), MaxText)))
	b.ReportAllocs()
	for b.Loop() {
		Rank(docs, q, 1500, 0)
	}
}
