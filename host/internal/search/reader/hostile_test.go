package reader_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// bookOf returns an EPUB with a list of contents, and chapters by name and contents.
func bookOf(tb testing.TB, opf string, chapters ...string) string {
	tb.Helper()
	return string(zipOf(tb, append([]string{
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>`, "b.opf", opf,
	}, chapters...)...))
}

// TestReadBombs reads files that are made to become much larger than they are, and wants memory and text
// to stay in proportion to the file, and what is refused to be told.
func TestReadBombs(t *testing.T) {
	if underRace {
		t.Skip("nothing here runs side by side, and the race detector makes a minute of it")
	}
	laughs := strings.Builder{}
	laughs.WriteString("---\ntitle: Laughs\na0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	laughs.WriteString("---\nThe text.\n")
	open := strings.Builder{}
	for i := range 400 {
		fmt.Fprintf(&open, "<b a%d>", i)
	}
	cycle := `<package><metadata/><manifest><item id="a" href="a.xhtml"/></manifest><spine>` + strings.Repeat(`<itemref idref="a"/>`, 3000) + `</spine></package>`
	items, refs := "", ""
	for i := range 3000 {
		items += fmt.Sprintf(`<item id="%d" href="%d.xhtml"/>`, i, i)
		refs += fmt.Sprintf(`<itemref idref="%d"/>`, i)
	}
	chapters := `<package><metadata/><manifest>` + items + `</manifest><spine>` + refs + `</spine></package>`
	long, cell := strings.Repeat("y", 1<<20), "<w:tc><w:tcPr><w:gridSpan w:val=\"50\"/></w:tcPr></w:tc>"
	links := `<Relationships><Relationship Id="a" TargetMode="External" Target="https://example.org/` + long + `"/></Relationships>`
	entities := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "` + strings.Repeat("x", 1000) + `">]><w:document><w:body><w:p><w:r><w:t>` + strings.Repeat("&a;", 10_000) + `</w:t></w:r></w:p></w:body></w:document>`
	circle := `<Relationships><Relationship Id="d" Type="x/diagramData" Target="d.xml"/></Relationships>`
	var manyFiles []string
	for i := range 15_000 {
		manyFiles = append(manyFiles, fmt.Sprintf("%d.xhtml", i), "")
	}
	var looseNotes, linked strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&linked, "http%x", i*2654435761)
		fmt.Fprintf(&looseNotes, `<w:footnote w:id="%d"><w:p><w:r><w:t>%x</w:t></w:r></w:p></w:footnote>`, i, i*2654435761)
	}
	for _, tt := range []struct{ name, data, refused, has string }{
		{"tags.html", strings.Repeat("<div>", 400_000) + "x", "more than 300000 tags", ""},
		{"lists.html", "<main>" + strings.Repeat("<ul><li>", 200) + strings.Repeat("<li>x", 50_000), "", "- x"},
		{"open.html", "<main>" + open.String() + strings.Repeat("<p>x", 50_000), "", "x"},
		{"cells.html", strings.Repeat("<table><tr><td>x", 20_000), "exceeds 512 nodes", ""},
		{"long.txt", strings.Repeat("0123456789abcdef", 1<<20+1), "more than 16777216 bytes: split it", ""},
		{"long.md", strings.Repeat("0123456789abcde\n", 1<<20+1), "more than 16777216 bytes: split it", ""},
		{"larger.txt", strings.Repeat("x", reader.MaxFile+1), "at most 67108864 are read", ""},
		{"laughs.md", laughs.String(), "", "The text."},
		{"unclosed.md", strings.Repeat("[a](", 200_000) + "<!-- " + strings.Repeat("![", 200_000), "", "[a]("},
		{"rules.rst", strings.Repeat("a\n=====\nb\n-----\n", 50_000), "", "## b"},
		{"fences.adoc", strings.Repeat("----\n= x\n", 100_000), "", "```"},
		{"entities.docx", string(zipOf(t, "word/document.xml", entities)), "", ""},
		{"cycle.epub", bookOf(t, cycle, "a.xhtml", "<p>"+strings.Repeat("words ", 5000)+"</p>"), "", "words"},
		{"outside.epub", bookOf(t, `<package><manifest><item id="a" href="../../etc/passwd"/></manifest><spine><itemref idref="a"/></spine></package>`), "open ../../etc/passwd in it", ""},
		{"chapter.epub", bookOf(t, `<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`, "a.xhtml", strings.Repeat("<i>", 400_000)), "a.xhtml in it: it has more than 300000 tags", ""},
		{"pages.epub", bookOf(t, chapters, "0.xhtml", "<p>x</p>"), "more than 2000 chapters: split it", ""},
		{"shared.xlsx", sharing(t, 1<<20, 12_000, 1), "a cell has more than 262144 bytes", ""},
		{"shared-in-rows.xlsx", sharing(t, 200<<10, 1000, 1), "more than 16777216 bytes: split it", ""},
		{"shared-in-one-row.xlsx", sharing(t, 200<<10, 1, 12_000), "more than 2000000 cells, or 500 columns", ""},
		{"forwarded.eml", strings.Repeat("Content-Type: message/rfc822\r\n\r\n", 100_000) + "x", "more than 8 within each other", ""},
		{"long.mbox", strings.Repeat("From a\n\nx\n\n", 1500) + "From a\n\nlast\n", "", "last"},
		// Little that stands for much, over and over.
		{"names.rst", ".. |x| replace:: " + long + "\n" + strings.Repeat("|x|", 1<<20), "", "yyy"},
		{"names.adoc", ":x: " + long + "\n\n" + strings.Repeat("{x}\n", 1<<20), "", "yyy"},
		{"names.csv", long + "\n" + strings.Repeat("a\n", 700_000), "more than 16777216 bytes: split it", ""},
		{"merged.docx", string(zipOf(t, "word/document.xml", "<w:tbl><w:tr><w:tc><w:p><w:t>"+long+"</w:t></w:p></w:tc></w:tr>"+strings.Repeat("<w:tr><w:tc><w:vMerge/></w:tc></w:tr>", 200_000)+"</w:tbl>")), "more than 16777216 bytes: split it", ""},
		{"spans.docx", string(zipOf(t, "word/document.xml", "<w:tbl><w:tr>"+strings.Repeat(cell, 200_000)+"</w:tr></w:tbl>")), "more than 2000000 cells", ""},
		{"spans.html", "<table><tr><th>x<tr>" + strings.Repeat("<td rowspan=50>", 100_000) + strings.Repeat("<tr><td>x", 60), "more than 2000000 cells", ""},
		{"link.docx", string(zipOf(t, "word/document.xml", "<w:p>"+strings.Repeat(`<w:hyperlink r:id="a"><w:t>x</w:t></w:hyperlink>`, 200_000)+"</w:p>", "word/_rels/document.xml.rels", links)), "more than 16777216 bytes: split it", ""},
		{"wide.md", strings.Repeat("|a", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("|a\n", 1<<20), "", "|a"},
		{"wide-between-bars.md", strings.Repeat("|a", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("|\n\u00a0\n", 1<<18), "", "|a"},
		{"wide-without-bars.md", "x\n" + strings.Repeat("-|", 1000) + "\n" + strings.Repeat("x\n", 1<<20), "", "x"},
		{"rows.md", "|a|b|\n|---|---|\n" + strings.Repeat("|a|b|\n", 700_000), "", "|a|b|"},
		{"items.md", strings.Repeat("- a\n", 2_000_000), "", "- a"},
		{"steps.md", stepsOf(3000, "", "- "), "", "- a"},
		{"quoted-steps.md", stepsOf(3000, "> ", "1. "), "", "1. a"},
		{"terms.md", stepsOf(3000, "", "a\n: "), "", ": a"},
		{"circle.pptx", slideOf(t, `<p:sld><dgm:relIds r:dm="d"/><a:p><a:r><a:t>words</a:t></a:r></a:p></p:sld>`, "ppt/slides/_rels/slide1.xml.rels", circle, "ppt/slides/d.xml", `<dgm:relIds r:dm="d"/>`, "ppt/slides/_rels/d.xml.rels", circle), "", "words"},
		{"attached.eml", strings.Repeat("Content-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Disposition: attachment; filename=a.docx\r\n\r\n", 100_000) + "x", "", ""},
		{"boundaries.eml", "Content-Type: multipart/mixed" + strings.Repeat("; boundary=b", 200_000) + "\r\n\r\n" + strings.Repeat("words ", 1<<20), "", "words"},
		{"manifest.epub", bookOf(t, `<package><manifest>`+strings.Repeat(`<item href="a"/>`, 500_000)+`<item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`, append(manyFiles, "a.xhtml", "<p>words</p>")...), "", "words"},
		{"indented.md", "x" + strings.Repeat("\n    > ![a](<b", 300_000), "", "![a](<b"},
		{"cells.ipynb", `{"cells":[` + strings.TrimSuffix(strings.Repeat(`{"cell_type":"markdown","source":"a"},`, 50_000), ",") + `]}`, "", "a"},
		// Many of what costs something each, and marks whose end is looked for in vain.
		{"empty.mbox", strings.Repeat("From a\n\n", 2_000_000), "no text in it", ""},
		{"many.mbox", strings.Repeat("From a\nSubject: a\n\n", 300_000), "more than 200000 messages and parts", ""},
		{"paragraphs.rtf", `{\rtf1 ` + strings.Repeat(`a\par `, 1<<20), "", "a"},
		{"roles.rst", strings.Repeat(":a:`b`", 1<<20), "", "b"},
		{"marks.adoc", strings.Repeat("{", 4<<20), "", "{"},
		{"marks.vtt", strings.Repeat("<", 4<<20), "", "<"},
		{"terms.html", "<h1>x</h1><dl>" + strings.Repeat("<dt id=a>xy", 100_000), "", "xy"},
		{"ended-notes.docx", documentOf(t, `<w:p><w:r><w:t>words</w:t></w:r></w:p>`, "word/footnotes.xml", `<w:p><w:r><w:t>`+long[:20_000]+`</w:t></w:r></w:p>`+strings.Repeat("</w:footnote>", 1000)), "", "words"},
		{"loose-notes.docx", documentOf(t, `<w:p><w:r><w:t>words</w:t></w:r></w:p>`, "word/footnotes.xml", looseNotes.String()), "", "words"},
		{"links.docx", documentOf(t, `<w:p>`+strings.Repeat(`<w:fldSimple w:instr="HYPERLINK http://x">`, 100_000)+`<w:t>`+linked.String()+`</w:t>`+strings.Repeat(`</w:fldSimple>`, 100_000)+`</w:p>`), "", "http://x"},
		{"links.odt", string(zipOf(t, "content.xml", `<text:p>`+strings.Repeat(`<text:a xlink:href="http://x">`, 100_000)+linked.String()+strings.Repeat(`</text:a>`, 100_000)+`</text:p>`)), "", "http://x"},
		{"boxes.docx", string(zipOf(t, "word/document.xml", strings.Repeat("<w:p><w:t>x</w:t>", 100_000))), "more than 64 deep", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page, err := (&reader.Reader{}).Read(t.Context(), tt.name, []byte(tt.data))
			runtime.ReadMemStats(&after)
			if most := uint64(512 << 20); after.TotalAlloc-before.TotalAlloc > most {
				t.Errorf("allocated %d MiB, want at most %d", (after.TotalAlloc-before.TotalAlloc)>>20, most>>20)
			}
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("error %v, want one with %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				if tt.has != "" {
					t.Fatal(err)
				}
				return
			}
			if len(page.Text) > 20*len(tt.data)+30_000 || !strings.Contains(page.Text, tt.has) {
				t.Errorf("%d bytes of text from %d, which begin with %.100q; want %q in it", len(page.Text), len(tt.data), page.Text, tt.has)
			}
		})
	}
}

// stepsOf returns lists within each other, n deep.
func stepsOf(n int, before, mark string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(before + strings.Repeat("  ", i) + mark + "a\n")
	}
	return b.String()
}

// TestFrontMatterBounds wants front matter that documents cannot have to be left out, and the page read.
func TestFrontMatterBounds(t *testing.T) {
	for name, front := range map[string]string{
		"keys that are no texts": "title: T\na: {1: x, [2]: y}", "numbers that JSON lacks": "title: T\na: [.inf, .nan]",
		"much": "title: T\na: " + strings.Repeat("x", 5000), "many uses of little": "title: T\na: &a " + strings.Repeat("x", 1000) + "\nb: [*a, *a, *a, *a, *a]",
	} {
		page, err := (&reader.Reader{}).Read(t.Context(), "a.md", []byte("---\n"+front+"\n---\nText."))
		if err != nil || page.Title != "T" || page.Meta != nil {
			t.Errorf("%s: %+v, %v; want the title and no meta", name, page, err)
			continue
		}
		source := reader.Source{Name: "s"}
		if docs, err := source.Documents("a.md", page); err != nil || len(docs) != 1 {
			t.Errorf("%s: %d documents, %v", name, len(docs), err)
		} else if b, err := json.Marshal(docs[0]); err != nil || len(b) > 1000 {
			t.Errorf("%s: a document of %d bytes, %v", name, len(b), err)
		}
	}
}

// tarOf returns a .tar.gz of these headers, each with the contents "x" where it is a file.
func tarOf(tb testing.TB, headers ...tar.Header) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = 1
		}
		h.Mode = 0o600
		if err := w.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte("x")); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestArchiveTricks wants of archives the files below them alone: no paths that lead out, no links, no
// devices, and an error for one that is cut.
func TestArchiveTricks(t *testing.T) {
	if underRace {
		t.Skip("nothing here runs side by side, and the race detector makes a minute of it")
	}
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	packed := tarOf(t, file("a.md"), file("/etc/b.md"), file("../c.md"), file("d/../../e.md"), file(`..\f.md`), file("g/./h.md"), file(".i/j.md"),
		tar.Header{Typeflag: tar.TypeSymlink, Name: "k.md", Linkname: "/etc/passwd"}, tar.Header{Typeflag: tar.TypeLink, Name: "l.md", Linkname: "a.md"},
		tar.Header{Typeflag: tar.TypeChar, Name: "m.md"}, tar.Header{Typeflag: tar.TypeDir, Name: "n.md/"}, file("__MACOSX/o.md"), file("C:/p.md"))
	list := func(name string, data []byte) (paths []string, err error) {
		err = reader.EachOfArchive(t.Context(), name, bytes.NewReader(data), int64(len(data)), &reader.Selection{}, func(f reader.File) error {
			paths = append(paths, f.Path)
			_, err := f.Read()
			return err
		})
		return paths, err
	}
	if got, err := list("x.tar.gz", packed); err != nil || strings.Join(got, " ") != "a.md g/h.md C:/p.md" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := list("x.tar.gz", packed[:len(packed)/2]); err == nil {
		t.Errorf("an archive that is cut gives %q and no error", got)
	}
	many := make([]string, 0, 200_002)
	for i := range 100_001 {
		many = append(many, fmt.Sprintf("%d.md", i), "")
	}
	if _, err := list("x.zip", zipOf(t, many...)); err == nil || !strings.Contains(err.Error(), "more than 100000 files") {
		t.Errorf("an archive of 100,001 files: %v", err)
	}
	// A directory that says of itself that it is small, and of a document that has one file.
	entry := "PK\x01\x02" + strings.Repeat("\x00", 42)
	entries := strings.Repeat(entry, 1_300_000)
	end := func(length, from uint32) string {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte("PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00"), length), from)
		return string(b) + "\x00\x00"
	}
	for name, data := range map[string]string{
		"by its place":  entries + end(46, 0),
		"by its length": entries + end(uint32(len(entries)), 1),
		"behind more":   "#!/bin/sh\n" + entries + end(uint32(len(entries)), 0),
	} {
		before := allocated()
		_, err := (&reader.Reader{}).Read(t.Context(), "x.docx", []byte(data))
		if took := allocated() - before; err == nil || !strings.Contains(err.Error(), "more than 20000 files") || took > uint64(len(data))+8<<20 {
			t.Errorf("a directory of 1,300,000 entries, found %s: %v, %d MiB allocated", name, err, took>>20)
		}
	}
	inner := zipOf(t, "a.md", "x")
	if got, err := list("x.zip", zipOf(t, "inner.zip", string(inner), "b.md", "x")); err != nil || strings.Join(got, " ") != "inner.zip b.md" {
		t.Errorf("an archive in an archive: %q, %v; want it to stay closed", got, err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Skip(err)
	}
	for name, to := range map[string]string{"gone.md": filepath.Join(dir, "none"), "round.md": filepath.Join(dir, "round.md"), "under.md": filepath.Join(dir, "a.md", "b.md")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a.md", "gone.md cannot be read", "loop a link to a folder: import that folder, too", "round.md cannot be read", "under.md cannot be read"}
	var got []string
	if err := reader.EachFile(context.Background(), dir, &reader.Selection{}, func(f reader.File) error {
		state := f.PassedOver
		if state == "" {
			if _, err := f.Read(); err != nil {
				state = "cannot be read"
			}
		}
		got = append(got, strings.TrimSpace(f.Path+" "+state))
		return nil
	}); err != nil || !slices.Equal(got, want) {
		t.Errorf("a folder with links to itself and to what is not there: %q, %v; want %q", got, err, want)
	}
}

// sharing is a workbook whose rows have so many cells, all of one text of size bytes, which
// is in the file once.
func sharing(t *testing.T, size, rows, cells int) string {
	f := excelize.NewFile()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, part := range z.File {
		r, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch part.Name {
		case "xl/worksheets/sheet1.xml":
			text = []byte(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` +
				strings.Repeat("<row>"+strings.Repeat(`<c t="s"><v>0</v></c>`, cells)+"</row>", rows) + `</sheetData></worksheet>`)
		case "xl/sharedStrings.xml":
			continue
		}
		parts = append(parts, part.Name, string(text))
	}
	return string(zipOf(t, append(parts, "xl/sharedStrings.xml", `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>`+strings.Repeat("word ", size/5)+`</t></si></sst>`)...))
}

// A countdown is a context that ends once it was looked at so many times.
type countdown struct {
	context.Context
	left int
}

// Err implements [context.Context].
func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Nobody waits for the rest of a file: its reading ends within it.
func TestReadEndsWithContext(t *testing.T) {
	var rows strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&rows, "<row r=\"%d\"><c r=\"A%d\"><v>1</v></c></row>", i+1, i+1)
	}
	book := string(zipOf(t, "[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="a" sheetId="1" r:id="s"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/a.xml"/></Relationships>`,
		"xl/worksheets/a.xml", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`+rows.String()+`</sheetData></worksheet>`))
	slide := `<p:sld><p:txBody>` + strings.Repeat(`<a:p><a:r><a:t>words</a:t></a:r></a:p>`, 20_000) + `</p:txBody></p:sld>`
	for name, data := range map[string]string{
		"a.md":    strings.Repeat("- words\n", 20_000),
		"a.mdx":   strings.Repeat("# words\n", 20_000),
		"a.txt":   strings.Repeat("words\n", 20_000),
		"a.rst":   strings.Repeat("words\n\n", 20_000),
		"a.adoc":  strings.Repeat("words\n\n", 20_000),
		"a.html":  strings.Repeat("<p>words", 20_000),
		"a.xhtml": `<?xml version="1.0"?><html>` + strings.Repeat("<p>words</p>", 20_000) + `</html>`,
		"a.csv":   strings.Repeat("words,words\n", 20_000),
		"a.jsonl": strings.Repeat("{\"a\":1}\n", 20_000),
		"a.json":  `[` + strings.Repeat(`{"a":1},`, 20_000) + `{"a":1}]`,
		"a.ipynb": `{"cells":[` + strings.Repeat(`{"cell_type":"code","source":["words"]},`, 20_000) + `{}]}`,
		"a.rtf":   `{\rtf1 ` + strings.Repeat(`words\par `, 20_000) + `}`,
		"a.mbox":  strings.Repeat("From a\nSubject: b\n\nwords\n\n", 20_000),
		"a.docx":  docxOf(t, strings.Repeat("<w:p><w:r><w:t>words</w:t></w:r></w:p>", 20_000)),
		"empty":   docxOf(t, strings.Repeat("<w:p/>", 200_000)),
		"a.xlsx":  book,
		"a.pptx":  string(zipOf(t, "ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId r:id="a"/></p:sldIdLst></p:presentation>`, "ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="a" Type="slide" Target="slides/slide1.xml"/></Relationships>`, "ppt/slides/slide1.xml", slide)),
		"a.odt":   string(zipOf(t, "content.xml", `<office:text>`+strings.Repeat("<text:p>words</text:p>", 20_000)+`</office:text>`)),
		"a.epub":  bookOf(t, `<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`, "a.xhtml", strings.Repeat("<p>words</p>", 20_000)),
	} {
		if name == "empty" {
			name = "b.docx"
		}
		t.Run(name, func(t *testing.T) {
			if _, err := (&reader.Reader{}).Read(t.Context(), name, []byte(data)); err != nil && name != "b.docx" {
				t.Fatalf("Read whole = %v", err)
			}
			c := &countdown{t.Context(), 5}
			if _, err := (&reader.Reader{}).Read(c, name, []byte(data)); !errors.Is(err, context.Canceled) {
				t.Errorf("Read with a context that ends within the file = %v, want that it is canceled", err)
			}
		})
	}
}
