package reader_test

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"runtime/metrics"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// maxFuzzed bounds what is fuzzed, in bytes: longer inputs find the same.
const maxFuzzed = 1 << 16

// What reading a file may allocate: to open an archive and to begin with, and for each byte of the file. What
// takes much more than its share of memory takes more than its share of time, too.
const (
	maxAllocated    = 16 << 20
	allocatedByByte = 4 << 10
)

// allocated is what was allocated by now, in bytes, freed since or not.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// checkRead reads a file and wants text that an index can have: UTF-8 without control characters, in
// proportion to the file, cut into documents of at most the size of a passage with ids of their own.
func checkRead(t *testing.T, name string, data []byte, size int) {
	if size > maxFuzzed {
		return
	}
	before := allocated()
	page, err := (&reader.Reader{}).Read(context.Background(), name, data)
	if took, most := allocated()-before, uint64(maxAllocated+allocatedByByte*size); took > most {
		t.Fatalf("%d bytes allocated for %d, want at most %d", took, size, most)
	}
	if err != nil {
		return
	}
	if !utf8.ValidString(page.Text) || !utf8.ValidString(page.Title) || len(page.Title) > 300 || strings.TrimSpace(page.Text) == "" {
		t.Fatalf("page %.300q, title %q", page.Text, page.Title)
	}
	if i := strings.IndexFunc(page.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
		t.Fatalf("a control character at %d: %q", i, page.Text[i:i+1])
	}
	if most := 20*size + 1000; len(page.Text) > most {
		t.Fatalf("%d bytes of text from %d, want at most %d", len(page.Text), size, most)
	}
	source := reader.Source{Name: "f", BaseURL: "https://example.org"}
	docs, err := source.Documents(name, page)
	if err != nil || len(docs) == 0 && hasWord(page.Text) {
		t.Fatalf("%d documents, %v, of %.300q", len(docs), err, page.Text)
	}
	ids := map[string]bool{}
	for i, d := range docs {
		if ids[d.ID] || len(d.ID) != 29 || len(d.Text) > reader.PassageBytes || !utf8.ValidString(d.Text) || d.N != i || d.ContentHash == "" {
			t.Fatalf("document %d of %d: %+v", i, len(docs), d)
		}
		ids[d.ID] = true
	}
	if fuzzedWords[path.Ext(name)] && utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		out, _ := readWords(t, &reader.Reader{}, name, data)
		if n, list := unexplained(wordsOf(string(data)), out, page); n > 0 {
			t.Fatalf("%d words of %q are in no passage of %.1000q: %q, left out %v", n, list, data, page.Text, page.LeftOut)
		}
	}
}

// fuzzedWords are the formats whose words are those of the file.
var fuzzedWords = map[string]bool{".txt": true, ".md": true}

// hasWord reports whether a line of text is no heading, and has a letter.
func hasWord(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && strings.ContainsAny(line, "abcdefghijklmnopqrstuvwxyz") {
			return true
		}
	}
	return false
}

// fuzzText fuzzes a format whose files are text.
func fuzzText(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, name, data, len(data)) })
}

func FuzzMarkdown(f *testing.F) {
	fuzzText(f, "a/b.md", "---\nt: 1\n---\n# H\n```\nx\n", "Title\n=====\n\ntext\n\n| a | b |\n|---|---|\n", "<!-- x --> ![a](b) [c](d)\n\n## H {#id}\n~~~\n", "import x from 'y'\n\n# H\n<A>b</A>", "A<A>b</A>", "00\n```x", "## H{#\x00}", " E*0***E0*")
}

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"title: x\nlang: en", "a: &a [1, 2]\nb: *a", "? [x]\n: y", "a: !!binary aGk=", "a: 2020-01-01\nb: .nan", "title: \"x\n- y"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, front []byte) {
		data := append(append([]byte("---\n"), front...), "\n---\n# Page\n\nThe text.\n"...)
		checkRead(t, "a.md", data, len(data))
	})
}

func FuzzText(f *testing.F) {
	fuzzText(f, "a.txt", "# x\n\nBREAD\n", "NAME\n x\nSYNOPSIS\n```\ny")
}

func FuzzHTML(f *testing.F) {
	fuzzText(f, "a.html", "<main><h1>x</h1><table><tr><td>y", "<title>t</title><ul><li>a<ul><li>b</ul><pre>c\n d</pre>", "<body><article><header><h1>a</h1></header><p>b<br>c<p hidden>d", "<svg><title>x</title></svg><textarea><b>", "<meta charset=utf-16><p>x")
}

func FuzzRST(f *testing.F) {
	fuzzText(f, "a.rst", "T\n=\n\n.. x:: y\n", "=====\nTitle\n=====\n\nSub\n---\n\n:ref:`a <b>`\n\n`x`_\n")
}

func FuzzAsciiDoc(f *testing.F) {
	fuzzText(f, "a.adoc", "= T\n----\n", "= T\n:toc:\n\n== A\n[source]\n....\nx\n....\nlink:http://x[y]\n")
}

func FuzzDOCX(f *testing.F) {
	f.Add([]byte(docxBody), []byte("<title>x</title>"))
	f.Add([]byte("<w:p><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr><w:t>x</w:t></w:p><w:tbl><w:tr><w:p><w:t>y</w:t></w:p></w:tr></w:tbl>"), []byte{})
	f.Fuzz(func(t *testing.T, body, core []byte) {
		checkRead(t, "a.docx", zipOf(t, "word/document.xml", string(body), "docProps/core.xml", string(core)), len(body)+len(core))
	})
}

func FuzzEPUB(f *testing.F) {
	f.Add([]byte(`<package><metadata><title>x</title></metadata><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`), []byte("<h1>a</h1><p>b"))
	f.Fuzz(func(t *testing.T, opf, chapter []byte) {
		// A spine may name a chapter as often as it has room for its name.
		checkRead(t, "a.epub", []byte(bookOf(t, string(opf), "a.xhtml", string(chapter))), (len(opf)+1)*(len(chapter)+20))
	})
}

// FuzzPacked reads bytes as each of the formats that are archives.
func FuzzPacked(f *testing.F) {
	f.Add(zipOf(f, "word/document.xml", docxBody))
	f.Add(zipOf(f, "META-INF/container.xml", "<container/>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFuzzed {
			return
		}
		for _, name := range []string{"a.docx", "a.epub"} {
			if page, err := (&reader.Reader{}).Read(context.Background(), name, data); err == nil && !utf8.ValidString(page.Text) {
				t.Fatalf("%s: %.300q", name, page.Text)
			}
		}
	})
}

// FuzzFormats reads bytes as each of the formats that are text in some form of their own.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{`{\\rtf1\\ansi a\\'e4{\\*\\x b}\\u-10179?\\par}`, "From: a\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\nx\n--B--", "From a\nSubject: b\n\nc\n\nFrom d\n\n", `[{"a":1},{"b":[2]}]`, `{"cells":[{"cell_type":"code","source":["x"]}]}`, "a;b\n\"c\"\n", "WEBVTT\n\n1\n00:01 --> 00:02\n<v A>b", "x\n\n\ny"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a.rtf", "a.eml", "a.mbox", "a.json", "a.ndjson", "a.ipynb", "a.csv", "a.vtt", "a.go"} {
			checkRead(t, name, data, 3*len(data)+100)
		}
	})
}

// FuzzArchive lists bytes as archives, and wants paths that stay below them.
func FuzzArchive(f *testing.F) {
	f.Add(zipOf(f, "a.md", "x", "../b.md", "y", `c\d.md`, "z"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFuzzed {
			return
		}
		for _, name := range []string{"a.zip", "a.tar.gz"} {
			total := 0
			_ = reader.EachOfArchive(context.Background(), name, bytes.NewReader(data), int64(len(data)), &reader.Selection{}, func(file reader.File) error {
				if !fs.ValidPath(file.Path) || strings.Contains(file.Path, `\`) || strings.Contains("/"+file.Path, "/.") {
					t.Fatalf("%s: the path %q", name, file.Path)
				}
				b, err := file.Read()
				if total += len(b); total > 2000*len(data)+1000 {
					t.Fatalf("%s: %d bytes from %d", name, total, len(data))
				}
				return err
			})
		}
	})
}
