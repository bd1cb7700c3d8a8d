package reader_test

import (
	"context"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// mutated are formats whose files are blocks that stand for themselves, with what is around them.
var mutated = []struct {
	name   string
	blocks []string // each %s is a word to be read
	around func(t *testing.T, blocks []string) string
	isText bool // it may be cut anywhere, and be in another encoding
}{
	{"a.docx", []string{
		`<w:p><w:r><w:t xml:space="preserve">%s </w:t><w:tab/><w:t>%s</w:t></w:r></w:p>`, `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`, `<w:sdt><w:sdtContent><w:p><w:ins><w:r><w:t>%s</w:t></w:r></w:ins></w:p></w:sdtContent></w:sdt>`,
		`<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>%s</w:t></w:r></w:p>`, `<w:p><w:r><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict></w:r></w:p>`, `<w:p><m:oMath><m:r><m:t>%s</m:t></m:r></m:oMath></w:p>`, `<w:p><w:r><w:drawing><wp:docPr descr="%s"/></w:drawing></w:r></w:p>`,
	}, func(t *testing.T, b []string) string { return documentOf(t, strings.Join(b, "")) }, false},
	{"notes.docx", []string{`<w:footnote w:id="7"><w:p><w:r><w:t>a note of %s, note %s</w:t></w:r></w:p></w:footnote>`}, func(t *testing.T, b []string) string {
		return documentOf(t, `<w:p><w:r><w:t>text</w:t></w:r></w:p>`, "word/footnotes.xml", "<w:footnotes>"+strings.Join(b, "")+"</w:footnotes>")
	}, false},
	{"a.pptx", []string{
		`<p:sp><p:txBody><a:p><a:r><a:t>%s</a:t></a:r><a:br/><a:fld><a:t>%s</a:t></a:fld></a:p></p:txBody></p:sp>`, `<p:grpSp><p:sp><a:p><a:r><a:t>%s</a:t></a:r></a:p></p:sp></p:grpSp>`, `<a:tbl><a:tr><a:tc><a:p><a:r><a:t>%s</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>%s</a:t></a:r></a:p></a:tc></a:tr></a:tbl>`, `<p:pic><p:cNvPr descr="%s"/></p:pic>`,
	}, func(t *testing.T, b []string) string { return slideOf(t, "<p:sld>"+strings.Join(b, "")+"</p:sld>") }, false},
	{"a.odt", []string{
		`<text:p>%s<text:tab/>%s <text:span>%s</text:span></text:p>`, `<text:h text:outline-level="2">%s</text:h>`, `<text:list><text:list-item><text:p>%s</text:p></text:list-item></text:list>`, `<text:section><text:p>%s</text:p></text:section>`, `<table:table><table:table-row><table:table-cell><text:p>%s</text:p></table:table-cell></table:table-row></table:table>`,
		`<text:p>x<draw:frame><draw:text-box><text:p>%s</text:p></draw:text-box><svg:desc>%s</svg:desc></draw:frame></text:p>`, `<text:p>x<text:note><text:note-body><text:p>%s</text:p></text:note-body></text:note></text:p>`,
	}, func(t *testing.T, b []string) string {
		return string(zipOf(t, "content.xml", "<office:text>"+strings.Join(b, "")+"</office:text>"))
	}, false},
	{"a.epub", []string{`<p>%s <b>%s</b></p>`, `<h2>%s</h2>`, `<aside>%s</aside>`, `<table><tr><td>%s</td><td>%s</td></tr></table>`, `<br/>%s`}, func(t *testing.T, b []string) string {
		return bookOf(t, `<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`, "a.xhtml", "<html><body>"+strings.Join(b, "")+"</body></html>")
	}, false},
	{"a.rtf", []string{`%s\tab %s\par `, `{\b %s}\cell %s\nestcell %s\row `, `{\field{\*\fldinst x}{\fldrslt %s}}\par `, `{\footnote %s}`, `\u8364? %s\line `, `{\*\shpinst{\shptxt %s}}`}, func(_ *testing.T, b []string) string {
		return `{\rtf1\ansi ` + strings.Join(b, "") + "}"
	}, false},
	{"a.eml", []string{"--B\nContent-Type: text/plain\n\n%s %s\n", "--B\nContent-Type: text/html\n\n<p>%s\n", "--B\nContent-Disposition: attachment; filename=a.txt\n\n%s\n", "--B\nContent-Type: message/rfc822\n\nSubject: x\n\n%s\n", "--B\nContent-Transfer-Encoding: quoted-printable\n\n%s=ZZ %s=\n"}, func(_ *testing.T, b []string) string {
		return "Subject: s\nContent-Type: multipart/mixed; boundary=B\n\n" + strings.Join(b, "") + "--B--\n"
	}, false},
	{"a.mbox", []string{"From a\nSubject: %s\n\n%s\n\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, false},
	{"a.ipynb", []string{`{"cell_type":"markdown","source":["# %s\n","%s"]}`, `{"cell_type":"code","source":"%s","outputs":[{"text":["%s"]},{"data":{"text/plain":"%s"}},{"data":{"text/markdown":"%s"}},{"ename":"%s"}]}`, `{"cell_type":"raw","source":"%s"}`, `{"cell_type":"heading","source":"%s"}`, `{"cell_type":"code","input":["%s"]}`}, func(_ *testing.T, b []string) string {
		return `{"cells":[` + strings.Join(b, ",") + `]}`
	}, false},
	{"a.json", []string{`{"a":"%s","b":["%s"],"c":{"d":"%s\n%s"}}`, `{"e":"%s"}`}, func(_ *testing.T, b []string) string { return "[" + strings.Join(b, ",") + "]" }, true},
	{"a.ndjson", []string{"{\"a\":\"%s\",\"b\":[\"%s\"]}\n", "{\"e\":\"%s\"}\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, true},
	{"a.csv", []string{"%s,%s\n", "\"%s, %s\",x\n", "%s,\"%s\n%s\"\n"}, func(_ *testing.T, b []string) string { return "a,b\n" + strings.Join(b, "") }, true},
	{"a.srt", []string{"1\n00:00:01,000 --> 00:00:02,000\n%s %s\n\n", "2\n00:00:01,000 --> 00:00:02,000\n%s\n\n%s\n\n", "3\n00:00:01,000 --> 00:00:02,000\n%s\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, true},
	{"a.vtt", []string{"00:01.000 --> 00:02.000\n<v Ann>%s\n\n", "NOTE %s\n\n"}, func(_ *testing.T, b []string) string { return "WEBVTT\n\n" + strings.Join(b, "") }, true},
	{"a.py", []string{"def %s():\n    return '%s'\n\n", "# %s\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, true},
	{"a.md", []string{"%s\n\n", "- %s\n", "| a |\n|---|\n| %s | %s |\n\n", "```\n%s\n```\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, true},
	{"a.rst", []string{"%s\n\n", "%s\n====\n\n", ".. note:: %s\n\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, true},
	{"a.adoc", []string{"%s\n\n", "== %s\n\n", "----\n%s\n----\n\n"}, func(_ *testing.T, b []string) string { return strings.Join(b, "") }, true},
	{"a.html", []string{"<p>%s", "<div>%s</div>", "<table><tr><td>%s<td>%s</table>", "<ul><li>%s</ul>"}, func(_ *testing.T, b []string) string { return "<body>" + strings.Join(b, "") }, true},
}

// TestMutations repeats, swaps and takes out blocks of files of each format, cuts them anywhere and has them in
// another encoding, and wants the words of what is left.
func TestMutations(t *testing.T) {
	for _, tt := range mutated {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(60) {
				m := wordMaker{r: rand.New(rand.NewPCG(seed, 2))}
				blocks := make([]string, 2+m.r.IntN(12))
				for i := range blocks {
					blocks[i] = m.fill(tt.blocks[m.r.IntN(len(tt.blocks))])
				}
				i, k := m.r.IntN(len(blocks)), m.r.IntN(len(blocks))
				switch m.r.IntN(4) {
				case 0:
					blocks[i], blocks[k] = blocks[k], blocks[i]
				case 1:
					blocks = append(blocks, blocks[i], blocks[i])
				case 2:
					blocks = append(blocks[:i], blocks[i+1:]...)
				}
				text := tt.around(t, blocks)
				data, sure := text, strings.Join(blocks, "")
				if tt.isText && m.r.IntN(2) == 0 {
					at := len(text) - m.r.IntN(len(blocks[len(blocks)-1])+1)
					data = text[:at]
					sure = strings.Join(blocks[:len(blocks)-1], "")
				}
				if tt.isText && m.r.IntN(3) == 0 {
					wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(data)
					if err != nil {
						t.Fatal(err)
					}
					data = wide
				}
				page, err := (&reader.Reader{}).Read(t.Context(), tt.name, []byte(data))
				if err != nil {
					t.Fatalf("seed %d: %v of\n%s", seed, err, text)
				}
				for _, w := range m.words {
					if strings.Contains(sure, w) && !strings.Contains(page.Title+page.Text, w) {
						t.Fatalf("seed %d: %s is lost of\n%s\nbut\n%s\nleft out %v", seed, w, text, page.Text, page.LeftOut)
					}
				}
			}
		})
	}
}

// FuzzParts fuzzes the part with the text of documents that are archives.
func FuzzParts(f *testing.F) {
	for _, tt := range mutated {
		for _, b := range tt.blocks {
			f.Add([]byte(b))
		}
	}
	f.Add([]byte(chart))
	f.Add([]byte(diagram))
	f.Fuzz(func(t *testing.T, part []byte) {
		if len(part) > maxFuzzed {
			return
		}
		body := string(part)
		for name, data := range map[string]string{
			"notes.docx": documentOf(t, "<w:p/>", "word/footnotes.xml", body, "word/header1.xml", body), "a.pptx": slideOf(t, body, "ppt/slides/_rels/slide1.xml.rels", strings.ReplaceAll(diagramRels, `Target="`, `Target="../`), "ppt/diagrams/data1.xml", body, "ppt/charts/chart1.xml", body),
			"a.odt": string(zipOf(t, "content.xml", body, "styles.xml", body, "Object 1/content.xml", body)), "a.fodt": `<?xml version="1.0"?>` + body, "a.mht": body, "a.srt": body,
		} {
			page, err := (&reader.Reader{}).Read(context.Background(), name, []byte(data))
			if err != nil && strings.Contains(err.Error(), "could not be read as") {
				t.Fatalf("%s: %v", path.Base(name), err)
			}
			if err == nil && len(page.Text) > 40*len(body)+2000 {
				t.Fatalf("%s: %d bytes of text from %d", name, len(page.Text), len(body))
			}
		}
	})
}
