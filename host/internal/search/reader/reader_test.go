package reader_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/garbage"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
)

// pdfCache keeps the compiled sandbox between tests.
var pdfCache string

// compileArg makes this test's program the one that compiles aside.
const compileArg = "compile-aside"

func TestMain(m *testing.M) {
	var err error
	if len(os.Args) > 1 && os.Args[1] == compileArg {
		if err := wasm.CompileAside(context.Background(), os.Stdin, map[string]func(string) error{pdf.Library: pdf.Compile}, func() { os.Exit(3) }); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if pdfCache, err = os.MkdirTemp("", "parley-pdf"); err != nil {
		panic(err)
	}
	garbage.Seldom()
	code := m.Run()
	_ = os.RemoveAll(pdfCache)
	os.Exit(code)
}

// openPDF returns a reader of PDF files that ends with the test.
func openPDF(t testing.TB) *pdf.Reader {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	compiler := []string{program, compileArg}
	if underRace {
		compiler = nil // in process
	}
	p := pdf.New(cacheFor(t), compiler)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// zipOf returns an archive of files, by name and contents.
func zipOf(tb testing.TB, files ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// pdfOf returns a PDF file of one page with lines of text.
func pdfOf(lines ...string) []byte {
	var content strings.Builder
	content.WriteString("BT /F1 12 Tf 72 720 Td 14 TL\n")
	for _, l := range lines {
		fmt.Fprintf(&content, "(%s) Tj T*\n", l)
	}
	content.WriteString("ET")
	return pdfOfPages(1, "", content.String())
}

// pdfBomb returns a PDF file whose page is packed text of so many bytes.
func pdfBomb(tb testing.TB, size int) []byte {
	tb.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	for _, part := range []string{"BT /F1 12 Tf 72 720 Td ", strings.Repeat("(boom) Tj ", size/10), "ET"} {
		if _, err := io.WriteString(w, part); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return pdfOfPages(1, "/Filter/FlateDecode", packed.String())
}

// pdfOfPages returns a PDF file that has one page so many times; filter says how content is packed.
func pdfOfPages(pages int, filter, content string) []byte {
	return pdfOfObjects(
		"<</Type/Catalog/Pages 2 0 R>>", fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Repeat("3 0 R ", pages), pages),
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d%s>>stream\n%s\nendstream", len(content), filter, content),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	)
}

// pdfOfObjects returns a PDF file of objects, from number 1.
func pdfOfObjects(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%sendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF", len(objects)+1, xref)
	return b.Bytes()
}

const docxBody = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Tea</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Brewing</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Steep for </w:t></w:r><w:r><w:t>three minutes.</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Green</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>80 °C</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`

func TestRead(t *testing.T) {
	epub := zipOf(t, "META-INF/container.xml", `<container><rootfiles><rootfile full-path="O/b.opf"/></rootfiles></container>`,
		"O/b.opf", `<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Tea Book</dc:title><dc:language>en</dc:language></metadata>
		<manifest><item id="a" href="a.xhtml"/><item id="b" href="b.xhtml"/></manifest><spine><itemref idref="b"/><itemref idref="a"/></spine></package>`,
		"O/a.xhtml", `<html><body><h1>Second</h1><p>Milk last.</p></body></html>`, "O/b.xhtml", `<html><body><h1>First</h1><p>Water first.</p></body></html>`)
	tests := []struct {
		name, data, title string
		want              []string // in this order
		without           []string
	}{
		{
			"tea.md", "---\ntitle: All about tea\nlang: en\ntags: [a]\n---\n# All about tea\nA [link](x.md) and <b>bold</b>.\n<!-- no -->\n\nSub\n---\n```go\n# not a heading <b>\n```\n", "All about tea",
			[]string{"A link and bold.", "## Sub", "# not a heading <b>"},
			[]string{"x.md", "no -->", "lang:"},
		},
		{"bad.md", "---\ntitle: \"Kept\"\n- [broken\n---\nText.", "Kept", []string{"- [broken", "Text."}, nil},
		{"page.mdx", "import X from './x'\n\n# Page\nSome <Note>text</Note>.", "Page", []string{"Some text."}, []string{"import"}},
		{"dir/index.md", "no heading here", "dir", []string{"no heading here"}, nil},
		{"notes_on-tea.txt", "\xef\xbb\xbfplain\r\ntext", "notes_on-tea", []string{"plain\ntext"}, nil},
		{"latin.txt", "caf\xe9", "latin", []string{"café"}, nil},
		{"wide.txt", "\xff\xfet\x00e\x00a\x00", "wide", []string{"tea"}, nil},
		{"a.rst", "=====\nTitle\n=====\n\nIntro with :ref:`a label <x>`.\n\nPart\n----\n\n.. note:: Mind this.\n\nDeep\n~~~~\n\nbody\n", "Title", []string{"a label", "## Part", "Mind this.", "### Deep", "body"}, []string{"=====", "<x>"}},
		{
			"options.rst", "Title\n=====\n\n.. code-block:: xml\n   :linenos:\n\n   <a/>\n\n.. list-table:: Kinds\n   :header-rows: 1\n\n   * - Green\n\n.. _label:\n\n.. a remark\n\n:Author: Ann\n", "Title",
			[]string{"<a/>", "Kinds", "* - Green", ":Author: Ann"},
			[]string{"xml", "linenos", "header-rows", "label", "remark"},
		},
		{"root.docx", string(zipOf(t, "word/document.xml", "<w:p><w:t>Run this:</w:t><w:br/><w:t># reboot</w:t></w:p><w:p><w:t># halt</w:t></w:p>")), "root", []string{"Run this:\n # reboot", " # halt"}, []string{"\n# "}},
		{"root.html", "<main><p># reboot<br># halt</main>", "root", []string{"# reboot\n # halt"}, []string{"\n# "}},
		{"root.pdf", string(pdfOf("Run this:", "# reboot")), "root", []string{"## Page 1", "Run this:\n # reboot"}, []string{"\n# "}},
		{
			"notes.html", `<main><h1>Title</h1><p>Text.</p><dl><dt id="n1">1</dt><dd>A footnote.</dd><dt id="opt">--all</dt><dd>All.</dd></dl></main>`, "Title",
			[]string{"1\nA footnote.", "## --all {#opt}", "All."},
			[]string{"## 1"},
		},
		{"a.adoc", "= Title\n:toc:\n\nSee link:http://x[the page].\n\n== Part\n[source]\n----\n= code\n----\n", "Title", []string{"the page", "## Part", "```\n= code"}, []string{":toc:", "[source]"}},
		{
			"a.html", `<html lang="de"><head><title>Tea - Site</title><script>evil()</script></head><body><nav><a href="x">Menu</a></nav><main><h1>Tea</h1>
			<p>Steep <b>three</b> minutes.</p><ul><li>green<ul><li>mild</li></ul></li><li>black</li></ul><pre>a
  b</pre><table><tr><th>Kind</th><th>Heat</th></tr><tr><td>Green</td><td>80</td></tr></table></main><footer><a href="y">Foot</a> <a href="z">Imprint</a></footer></body></html>`, "Tea",
			[]string{"Steep three minutes.", "- green", "  - mild", "- black", "```\na\n  b\n```", "| Kind | Heat |", "| Green | 80 |"},
			[]string{"Menu", "Foot", "evil"},
		},
		{"plain.html", "<title>T</title><header>Top</header><p>Only a body.</p><aside>Side</aside>", "T", []string{"Top", "Only a body.", "Side"}, nil},
		{"t.docx", string(zipOf(t, "word/document.xml", docxBody)), "Tea", []string{"## Brewing", "Steep for three minutes.", "| Green | 80 °C |"}, nil},
		{
			"box.docx", string(zipOf(t, "word/document.xml", `<w:document><w:body><w:p><w:r><w:t>Before the box,</w:t></w:r><mc:AlternateContent>
			<mc:Choice><w:txbxContent><w:p><w:r><w:t>Mind the heat.</w:t></w:r></w:p></w:txbxContent></mc:Choice>
			<mc:Fallback><w:txbxContent><w:p><w:r><w:t>Mind the heat.</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent>
			<w:r><w:t xml:space="preserve"> and behind it.</w:t></w:r></w:p>
			<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Green</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>three</w:t></w:r></w:p><w:p><w:r><w:t>minutes</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`)),
			"box",
			[]string{"Mind the heat.", "Before the box, and behind it.", "| Green |  | three minutes |"},
			nil,
		},
		{
			"lines.html", `<main><h1>Green<br>tea</h1><table><tr><td>one<br>two</td><td><p>three</p><p>four</p><ul><li>five</li><li>six</li></ul></td><td>se<b>ven</b></td></tr></table>
			<pre><div>a = 1</div><div>b = 2</div></pre></main>`, "Green tea",
			[]string{"| one two | three four five six | seven |", "```\na = 1\nb = 2\n```"},
			nil,
		},
		{
			"escaped.epub", bookOf(t, `<package><metadata><title>Tea</title></metadata><manifest><item id="a" href="part%201.xhtml"/><item id="b" href="100%.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
				"part 1.xhtml", "<p>Water first.</p>", "100%.xhtml", "<p>Milk last.</p>"), "Tea", []string{"Water first.", "Milk last."}, nil,
		},
		{"b.epub", string(epub), "The Tea Book", []string{"# First", "Water first.", "# Second", "Milk last."}, nil},
		{"p.pdf", string(pdfOf("Steep the tea for three minutes.", "Then drink it.")), "p", []string{"## Page 1", "Steep the tea for three minutes.", "Then drink it."}, nil},
	}
	p := openPDF(t)
	r := reader.Reader{PDF: p}
	for _, tt := range tests {
		page, err := r.Read(t.Context(), tt.name, []byte(tt.data))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if page.Title != tt.title {
			t.Errorf("%s: title %q, want %q", tt.name, page.Title, tt.title)
		}
		rest := page.Text
		for _, part := range tt.want {
			i := strings.Index(rest, part)
			if i < 0 {
				t.Errorf("%s: no %q, in this order, in:\n%s", tt.name, part, page.Text)
				break
			}
			rest = rest[i+len(part):]
		}
		for _, part := range tt.without {
			if strings.Contains(page.Text, part) {
				t.Errorf("%s: %q in:\n%s", tt.name, part, page.Text)
			}
		}
	}
}

// TestPreparePDF shows that what reads PDF files is compiled in a process of its own, once, and that a
// damaged cache is made anew.
func TestPreparePDF(t *testing.T) {
	if underRace {
		t.Skip("the race detector leaves a process that compiles aside no memory")
	}
	if err := openPDF(t).Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := filepath.Glob(filepath.Join(pdfCache, "wazero-*", "*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("entries %q, %v; want one", entries, err)
	}
	before, err := os.Stat(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	// Where the mark is there, no child is started: this one would fail.
	p := pdf.New(pdfCache, []string{"/bin/false"})
	if err := p.Prepare(t.Context()); err != nil {
		t.Error(err)
	}
	if text, err := p.Text(t.Context(), pdfOf("Steep the tea.")); err != nil || len(text.Pages) != 1 {
		t.Errorf("%+v, %v", text, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(entries[0]); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the entry was written again: %v, %v", after, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Text(ctx, pdfOf("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
	if os.Getenv("LONG") == "" {
		return // compiling once more takes seconds
	}
	if err := os.Truncate(entries[0], before.Size()/2); err != nil {
		t.Fatal(err)
	}
	if text, err := openPDF(t).Text(t.Context(), pdfOf("Steep the tea.")); err != nil || len(text.Pages) != 1 {
		t.Errorf("with a damaged cache: %+v, %v", text, err)
	}
}

// What strangers write is refused, or read within bounds, and never a panic.
func TestReadHostileFiles(t *testing.T) {
	p := openPDF(t)
	r := reader.Reader{PDF: p}
	bomb := zipOf(t, "word/document.xml", "<w:t>"+strings.Repeat("x", 65<<20)+"</w:t>")
	tests := []struct{ name, data, want string }{
		{"x.exe", "MZ", "says no format"},
		{"a.md", "", "no text"},
		{"a.html", "<script>x</script>", "no text"},
		{"a.docx", "not a zip", "open the archive"},
		{"a.docx", string(zipOf(t, "x", "y")), "word/document.xml"},
		{"a.docx", string(bomb), "unpacks to more than"},
		{"a.docx", string(zipOf(t, "word/document.xml", "<w:p><w:t>x</w:q")), "document.xml"},
		{"a.epub", string(zipOf(t, "META-INF/container.xml", "<container/>")), "names no book"},
		{"a.pdf", "%PDF-1.4\ngarbage", "PDF"},
		{"a.pdf", string(pdfOf("x")[:200]), "PDF"},
		{"bomb.pdf", string(pdfBomb(t, 200<<20)), "needs more than 192 MiB"},
		{"pages.pdf", string(pdfOfPages(5001, "", "BT /F1 12 Tf (x) Tj ET")), "5001 pages, and at most 5000 are read"},
	}
	for _, tt := range tests {
		if _, err := r.Read(t.Context(), tt.name, []byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
	deep := strings.Repeat("<div>", 100_000) + "deep"
	if page, err := r.Read(t.Context(), "a.html", []byte(deep)); err == nil && len(page.Text) > len(deep) {
		t.Errorf("%d bytes of text from %d", len(page.Text), len(deep))
	}
	large := pdfBomb(t, 20<<20)
	for _, after := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after) // somewhere in its reading
		if _, err := r.Read(ctx, "left.pdf", large); err == nil {
			t.Logf("read within %v", after)
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("left after %v: %v", after, err)
		}
		cancel()
	}
	if _, err := r.Read(t.Context(), "good.pdf", pdfOf("still works")); err != nil {
		t.Errorf("a good PDF after bad ones: %v", err)
	}
}

// TestDocumentsOfPDF wants links to lead to the page.
func TestDocumentsOfPDF(t *testing.T) {
	page, err := (&reader.Reader{PDF: openPDF(t)}).Read(t.Context(), "tea.pdf", pdfOf("Steep the tea."))
	if err != nil {
		t.Fatal(err)
	}
	s := reader.Source{Name: "notes", BaseURL: "https://example.org"}
	if docs, err := s.Documents("tea.pdf", page); err != nil || len(docs) != 1 || docs[0].URL != "https://example.org/tea.pdf" || docs[0].Anchor != "page=1" {
		t.Errorf("%+v, %v", docs, err)
	}
}

func TestDocuments(t *testing.T) {
	para := strings.Repeat("Words of a paragraph. ", 20)
	text := "# Tea\n" + para + "\n## Green\n" + para + "\n## Black\n" + para
	r := reader.Reader{}
	docs := func(text string) []reader.Document {
		page, err := r.Read(t.Context(), "tea.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s := reader.Source{Name: "notes", BaseURL: "https://example.org/docs/"}
		list, err := s.Documents("guide/tea.md", page)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := docs(text)
	if len(list) != 3 {
		t.Fatalf("%d documents, want 3", len(list))
	}
	green := list[1]
	if len(green.ID) != 29 || green.ID[20] != '-' || green.Title != "Tea" || green.Lvl0 != "Tea" || green.Lvl1 != "Green" || green.N != 1 ||
		green.URL != "https://example.org/docs/guide/tea" || green.Anchor != "green" || green.Group != "notes" || green.Kind != "md" {
		t.Errorf("document %+v", green)
	}
	edited := docs(strings.Replace(text, "## Black\n", "## Black\nnew words. ", 1))
	for i := range list {
		if same := list[i].ContentHash == edited[i].ContentHash; list[i].ID != edited[i].ID || same != (i < 2) {
			t.Errorf("after an edit below Black, document %d: id %s then %s, same content %v", i, list[i].ID, edited[i].ID, same)
		}
	}
	more := docs(strings.Replace(text, "## Green\n", "## White\n"+para+"\n## Green\n", 1))
	if !slices.ContainsFunc(more, func(d reader.Document) bool { return d.ID == green.ID }) {
		t.Errorf("a new section before Green changes its id")
	}
}

func TestEachFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.md", "b/c.md", "b/draft/d.md", ".git/config", "e.png"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(archive, zipOf(t, "a.md", "x", "../evil.md", "x", "b/.hidden.md", "x", "b/c.md", "x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		root    string
		sel     reader.Selection
		want    string
		mistake bool
	}{
		{dir, reader.Selection{}, "a.md b/c.md b/draft/d.md e.png", false},
		{dir, reader.Selection{Include: []string{"*.md"}, Exclude: []string{"draft"}}, "a.md b/c.md", false},
		{dir, reader.Selection{Include: []string{"b/**"}}, "b/c.md b/draft/d.md", false},
		{dir, reader.Selection{Include: []string{"b/*.md"}}, "b/c.md", false},
		{archive, reader.Selection{}, "a.md b/c.md", false},
		{filepath.Join(dir, "a.md"), reader.Selection{}, "a.md", false},
		{filepath.Join(dir, "none"), reader.Selection{}, "", true},
	} {
		var got []string
		err := reader.EachFile(t.Context(), tt.root, &tt.sel, func(f reader.File) error {
			if _, err := f.Read(); err != nil {
				return err
			}
			got = append(got, f.Path)
			return nil
		})
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want || (err != nil) != tt.mistake {
			t.Errorf("%s %+v: %q, %v; want %q", filepath.Base(tt.root), tt.sel, got, err, tt.want)
		}
	}
	if err := (&reader.Selection{Include: []string{"[a"}}).Check(); err == nil {
		t.Error("the pattern [a is not refused")
	}
}

// docxOf returns a document whose main part is called document2.xml, with other parts by name, kind of
// relation and contents.
func docxOf(t *testing.T, body string, parts ...string) string {
	t.Helper()
	files := []string{"_rels/.rels", `<Relationships><Relationship Id="r" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="/word/document2.xml"/></Relationships>`, "word/document2.xml", body}
	rels := ""
	for i := 0; i < len(parts); i += 3 {
		rels += fmt.Sprintf(`<Relationship Id="r%d" Type="x/%s" Target="%s"/>`, i, parts[i+1], parts[i])
		files = append(files, "word/"+parts[i], parts[i+2])
	}
	rels += `<Relationship Id="link" Type="x/hyperlink" Target="https://example.org/tides" TargetMode="External"/>`
	return string(zipOf(t, append(files, "word/_rels/document2.xml.rels", "<Relationships>"+rels+"</Relationships>")...))
}

// A document of a word processor has its text in several parts, which relations lead to.
func TestReadDOCXParts(t *testing.T) {
	styles := `<w:styles><w:style w:styleId="Ttulo1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Mine"><w:basedOn w:val="Ttulo1"/></w:style>
		<w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>`
	p := func(style, text string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	body := "<w:document><w:body>" + p("Ttulo1", "Resultados") + p("Mine", "Mareas") + p("a", "In a circle.") +
		`<w:p><w:r><w:t>Costs</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="3"/></w:r></w:p>
		<w:p><w:del><w:r><w:delText>struck</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins></w:p>
		<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r></w:p>
		<w:sdt><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>
		<w:p><w:hyperlink r:id="link"><w:r><w:t>the tides</w:t></w:r></w:hyperlink></w:p>
		<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>
		<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr>
		<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>tall</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>one</w:t></w:r></w:p></w:tc></w:tr>
		<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:r><w:t>two</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`
	wide := "\xff\xfe"
	for _, r := range styles {
		wide += string([]byte{byte(r), byte(r >> 8)})
	}
	data := docxOf(t, body, "styles.xml", "styles", wide, "footnotes.xml", "footnotes", `<w:footnotes><w:footnote w:id="2"><w:p><w:r><w:t>350 francs</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"endnotes.xml", "endnotes", `<w:endnotes><w:endnote w:id="3"><w:p><w:r><w:t>the clause</w:t></w:r></w:p></w:endnote></w:endnotes>`,
		"header1.xml", "header", `<w:hdr><w:p><w:r><w:t>Letterhead</w:t></w:r></w:p></w:hdr>`, "header2.xml", "header", `<w:hdr><w:p><w:r><w:t>Letterhead</w:t></w:r></w:p></w:hdr>`,
		"comments.xml", "comments", `<w:comments><w:comment><w:p><w:r><w:t>remark</w:t></w:r></w:p></w:comment></w:comments>`)
	page, err := (&reader.Reader{}).Read(t.Context(), "x.docx", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	rest := page.Text
	for _, want := range []string{"# Mareas", "In a circle.", "Costs\n\nNote: 350 francs\n\nNote: the clause", "inserted", "shown", "controlled", "the tides (https://example.org/tides)", "  - an item", "| wide | wide |", "| tall | one |", "| tall | two |", "Letterhead"} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("no %q, in this order, in:\n%s", want, page.Text)
		}
		rest = after
	}
	if page.Title != "Resultados" {
		t.Errorf("title %q, want Resultados: the style is called heading 1", page.Title)
	}
	for _, not := range []string{"struck", "moved", "secret", "Letterhead", "remark"} {
		if strings.Contains(rest, not) || not != "Letterhead" && strings.Contains(page.Text, not) {
			t.Errorf("%q is in the text, or twice:\n%s", not, page.Text)
		}
	}
	if len(page.LeftOut) != 4 {
		t.Errorf("left out %v, want four rules", page.LeftOut)
	}
	if _, err := (&reader.Reader{}).Read(t.Context(), "x.docx", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")); err == nil || !strings.Contains(err.Error(), "protected by a password") {
		t.Errorf("a document with a password: %v", err)
	}
}

// A book is XML in the encoding that it says, with names of chapters in its list of contents; a chapter that is
// not there does not cost the book.
func TestReadEPUBParts(t *testing.T) {
	opf := `<package><metadata><title>Marmots</title></metadata><manifest><item id="n" href="nav.xhtml" properties="nav"/><item id="a" href="a.xhtml"/><item id="b" href="gone.xhtml"/><item id="c" href="c.xhtml"/></manifest>
		<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>`
	data := bookOf(t, opf, "nav.xhtml", `<html><body><nav><a href="a.xhtml#x">One</a><a href="c.xhtml">Two</a></nav></body></html>`,
		"a.xhtml", `<?xml version="1.0" encoding="iso-8859-1"?><html><head><title/></head><body><a id="x"/><p>s`+"\xfc"+`&szlig;e</p><aside epub:type="footnote">A note.</aside><script src="y"/><p>behind</p></body></html>`,
		"c.xhtml", `<html><body><p>Broken <b>but</p> read</body></html>`)
	page, err := (&reader.Reader{}).Read(t.Context(), "x.epub", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# One\n\nsüße", "A note.", "behind", "# Two\n\nBroken but", "read"} {
		if !strings.Contains(page.Text, want) {
			t.Errorf("no %q in:\n%s", want, page.Text)
		}
	}
	if len(page.LeftOut) == 0 || !strings.Contains(page.LeftOut[0].Rule, "gone.xhtml") {
		t.Errorf("left out %v, want the chapter that is not there", page.LeftOut)
	}
}

// Of a PDF file, the outline makes headings, values of forms and notes are text, and what runs over the pages is
// left out. An outline that leads in a circle ends.
func TestReadPDFParts(t *testing.T) {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R/Outlines 10 0 R>>", "<</Type/Pages/Kids[4 0 R 5 0 R 6 0 R]/Count 3>>", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}
	for i := range 3 {
		annots := ""
		if i == 1 {
			annots = "/Annots[13 0 R 14 0 R]"
		}
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>%s>>", 7+i, annots))
	}
	for i, lines := range []string{"(Ebb begins the exam-) Tj T* (ple of tides.) Tj", "(An example of flow.) Tj", "(Slack water.) Tj"} {
		content := fmt.Sprintf("BT /F1 12 Tf 72 720 Td 14 TL (The Tide Book) Tj T* %s T* (page %d) Tj ET", lines, i+1)
		objects = append(objects, fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
	}
	objects = append(objects, "<</Type/Outlines/First 11 0 R/Last 12 0 R>>",
		"<</Title(Ebb)/Parent 10 0 R/Dest[4 0 R/Fit]/Next 12 0 R/First 11 0 R>>", "<</Title(Flow)/Parent 10 0 R/Dest[5 0 R/Fit]/Next 11 0 R>>",
		"<</Type/Annot/Subtype/Widget/FT/Tx/T(animal)/V(marmot)/Rect[10 10 90 30]>>", "<</Type/Annot/Subtype/Text/Contents(Mind the rocks.)/Rect[10 40 90 60]>>")
	_, docs, err := (&reader.Source{Name: "s"}).Read(t.Context(), &reader.Reader{PDF: openPDF(t)}, "t.pdf", "t.pdf", pdfOfObjects(objects...))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range docs {
		all = append(all, fmt.Sprintf("%d %s: %s", d.Page, strings.Join(d.Headings, ">"), d.Text))
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"1 Ebb", "the example of tides.", "Flow", "animal: marmot", "Mind the rocks.", "Slack water."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, not := range []string{"Tide Book", "page 2"} {
		if strings.Contains(text, not) {
			t.Errorf("%q runs over the pages, and is in:\n%s", not, text)
		}
	}
}
