package reader_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// readPage reads a page of the web below https://example.org.
func readPage(t *testing.T, data string) []reader.Document {
	t.Helper()
	s := reader.Source{Name: "site", BaseURL: "https://example.org", FileURLs: true}
	_, docs, err := s.Read(t.Context(), &reader.Reader{}, "p.html", "p.html", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// Anchors are those of the page: none is made up.
func TestHTMLAnchors(t *testing.T) {
	long := "<p>" + strings.Repeat("Words of this section. ", 20) + "</p>"
	docs := readPage(t, `<title>Tea — The Site</title><body><h1>The Site</h1><h1>Tea</h1>`+long+
		`<h2 id="own">Own id</h2>`+long+
		`<h2>Linked<a class="headerlink" href="#linked">¶</a></h2>`+long+
		`<section id="around"><div><h2>Around</h2></div>`+long+`</section>`+
		`<h2><a name="named"></a>Named</h2>`+long+
		`<h2>None</h2>`+long)
	want := []string{"Own id own", "Linked linked", "Around around", "Named named", "None "}
	var got []string
	for _, d := range docs {
		if d.Title != "Tea" {
			t.Errorf("title %q, want Tea: the site's name comes behind it", d.Title)
		}
		if n := len(d.Headings); n > 0 && strings.HasPrefix(d.Text, "Words") && d.Headings[n-1] != "The Site" {
			got = append(got, d.Headings[n-1]+" "+d.Anchor)
		}
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("headings and anchors %q, want %q", got, want)
	}
}

// A page's title is its own heading, also where the name of the site is a heading above it, with links.
func TestHTMLTitleBelowSite(t *testing.T) {
	long := "<p>" + strings.Repeat("Words of this section. ", 20) + "</p>"
	for page, want := range map[string]string{
		`<title>Tea — The Site</title><main><h1><a href="/">The Site</a></h1><p>Of all teas.</p><h1>Tea</h1>`: "Tea",
		`<title>The Site — Tea</title><main><h1>Tea</h1>`:                                                     "Tea",
		`<title>Tea, and how it is made</title><main><h1>Of tea</h1>`:                                         "Of tea",
		`<title>Tea for all</title><main><h1>Making it</h1><h2>Tea</h2>`:                                      "Making it",
	} {
		for _, d := range readPage(t, page+long) {
			if d.Title != want || strings.Contains(strings.Join(d.Headings, " "), "The Site") {
				t.Errorf("%s: title %q, headings %q; want %q", page, d.Title, d.Headings, want)
			}
		}
	}
}

// Terms that a link leads to are headings of what they mean, and no longer; nor is a note's heading.
func TestHTMLTermsAndNotes(t *testing.T) {
	long := strings.Repeat("More words of it. ", 20)
	docs := readPage(t, `<title>Options</title><body><h1>Options</h1><h2 id="mail">Mail</h2><p>`+long+`</p><dl>
		<dt id="o-wait">--wait</dt><dt>-w</dt><dd>`+long+`</dd><dt id="o-all">--all</dt><dd>`+long+`</dd></dl>
		<div class="note"><h3>Note</h3><p>`+long+`</p></div><p>Behind it. `+long+`</p>`)
	var got []string
	for _, d := range docs {
		got = append(got, strings.Join(d.Headings, " > ")+" #"+d.Anchor)
		if strings.Contains(d.Text, "{#") {
			t.Errorf("the text %q has a mark", d.Text)
		}
	}
	want := []string{"Mail #mail", "Mail > --wait, -w #o-wait", "Mail > --all #o-all", "Mail #mail", "Mail #mail"}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Nothing of a page is lost but what leads to other pages.
func TestHTMLKeepsAllButMenus(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<title>All</title><body><div class="navheader"><a href="a">Previous page</a> <a href="b">Next page</a></div><div id="x">`)
	for range 20 {
		b.WriteString("<div><div>Short setting. <a href='c'>See also</a></div></div><p>" + strings.Repeat("A long paragraph, with commas, of prose. ", 3) + "</p>")
	}
	b.WriteString(`</div><div class="tail"><table><tr><td>LAST</td><td>WORD</td></tr></table></div>`)
	text := ""
	for _, d := range readPage(t, b.String()) {
		text += d.Text + "\n"
	}
	for _, want := range []string{"Short setting.", "See also", "LAST"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if strings.Contains(text, "Previous page") {
		t.Error("the text has the links to other pages")
	}
}

// What a menu or a table has that is no text is left out by the rule that it would be left out by anywhere.
func TestReadHTMLHiddenWithin(t *testing.T) {
	page, err := (&reader.Reader{}).Read(t.Context(), "a.html", []byte(`<body><nav><a href=a>Home</a> <a href=b>News</a><select><option>One year<option>Two years</select><img alt="Three logos" aria-hidden=true></nav><h1>Tides</h1><p>High water.<table><tr><td>Place<td>Bern<select><option>Basel</select><!-- note --><tr><td>Day<td>Monday</table></body>`))
	if err != nil {
		t.Fatal(err)
	}
	want := []reader.LeftOut{{Rule: "choices of forms", Words: 5}, {Rule: "comments", Words: 1}, {Rule: "menus", Words: 2}, {Rule: "signs that are hidden from readers", Words: 2}}
	if !slices.Equal(page.LeftOut, want) {
		t.Errorf("left out %v, want %v", page.LeftOut, want)
	}
}
