package reader_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// Each format gives its text, below its heads and headings, and says what it leaves out.
func TestReadFormats(t *testing.T) {
	mail := "From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: a@example.org\r\nSubject: =?iso-8859-1?q?Gr=FC=DFe?=\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\n" +
		"Content-Type: multipart/alternative; boundary=C\r\n\r\n--C\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nsch=F6n=\r\ner Tag\r\n--C\r\nContent-Type: text/html\r\n\r\n<p>other form</p>\r\n--C--\r\n" +
		"--B\r\nContent-Disposition: attachment; filename=\"list.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\nbmFtZTtwcmljZQp0ZWE7NA==\r\n--B\r\nContent-Type: image/png\r\n\r\nxx\r\n--B--\r\n"
	sheet := func() string {
		f := excelize.NewFile()
		for cell, v := range map[string]any{"A1": "Price list of the shop", "A3": "name", "B3": "price", "A4": "tea", "B4": 4.5, "A5": "milk | cream", "B5": 2} {
			if err := f.SetCellValue("Sheet1", cell, v); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}()
	slide := func(title, body string) string {
		return `<p:sld><p:sp><p:nvSpPr><p:ph type="title"/></p:nvSpPr><a:p><a:r><a:t>` + title + `</a:t></a:r></a:p></p:sp><p:sp><p:ph type="body"/><a:p><a:pPr lvl="1"/><a:r><a:t>` + body + `</a:t></a:r></a:p></p:sp></p:sld>`
	}
	deck := string(zipOf(t, "ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/><Relationship Id="r2" Type="x/slide" Target="slides/slide2.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", slide("Last", "of all"), "ppt/slides/slide2.xml", slide("First", "of all"),
		"ppt/slides/_rels/slide2.xml.rels", `<Relationships><Relationship Id="n" Type="x/notesSlide" Target="../notesSlides/n.xml"/></Relationships>`,
		"ppt/notesSlides/n.xml", `<p:notes><p:sp><p:ph type="body"/><a:p><a:r><a:t>Say hello.</a:t></a:r></a:p></p:sp></p:notes>`))
	odt := string(zipOf(t, "content.xml", `<office:text><text:h text:outline-level="1">Tides</text:h><text:p>High<text:s text:c="2"/>and <text:span>low</text:span><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>.</text:p>
		<text:list><text:list-item><text:p>an item</text:p></text:list-item></text:list><office:annotation><text:p>remark</text:p></office:annotation>
		<table:table table:name="T"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>b</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table></office:text>`))
	for _, tt := range []struct {
		name, data, title string
		want, without     []string
	}{
		{"p.csv", "name;price\ntea;4\n\"milk; fresh\";2\n", "p", []string{"| name | price |\n|---|---|\n| tea | 4 |\n| milk; fresh | 2 |"}, nil},
		{"p.tsv", "name\tprice\ntea\t4\n", "p", []string{"| tea | 4 |"}, nil},
		{"wide.csv", "name,text\ntea," + strings.Repeat("long words ", 100) + "\n", "wide", []string{"name: tea\ntext: long words"}, nil},
		{"p.json", `{"movies":[{"title":"Tea","year":1999,"tags":["a","b"]},{"title":"Milk","note":{"x":null}}]}`, "p", []string{"## movies", "| title | year | tags | note |", "| Tea | 1999 | a, b |", `| Milk |  |  | {"x":null} |`}, nil},
		{"config.json", "{\n \"port\": 80,\n \"hosts\": [\"a\"]\n}", "config", []string{"```json\n{\n \"port\": 80"}, nil},
		{"p.ndjson", "{\"a\":\"tea\"}\n{\"b\":2}\n", "p", []string{"| a | b |", "| tea |", "|  | 2 |"}, nil},
		{"n.ipynb", `{"cells":[{"cell_type":"markdown","source":["# Tides\n","High *water*."]},{"cell_type":"code","source":"print(1)","outputs":[{"text":["1\n"]},{"data":{"text/plain":["two"]}},{"ename":"ValueError","evalue":"bad"}]}],"metadata":{"language_info":{"name":"python"}}}`, "Tides", []string{"High water.", "```python\nprint(1)\n```", "```output\n1\n```", "two", "ValueError bad"}, nil},
		{"m.eml", mail, "Grüße", []string{"From: Jürgen <j@example.org>", "To: a@example.org", "schöner Tag", "## list.csv", "| tea | 4 |"}, []string{"other form"}},
		{"m.mbox", "From a\nSubject: One\n\nfirst text\n\nFrom b\nSubject: Two\n\nsecond text\n", "One", []string{"first text", "# Two", "second text"}, nil},
		{"x.xlsx", sheet, "x", []string{"## Sheet1", "Price list of the shop", "| name | price |\n|---|---|\n| tea | 4.5 |\n| milk \\| cream | 2 |"}, nil},
		{"x.pptx", deck, "x", []string{"## First", "- of all", "Notes: Say hello.", "## Last"}, nil},
		{"x.odt", odt, "Tides", []string{"High  and low (A note.).", "- an item", "| a | b | b |"}, []string{"remark"}},
		{"x.rtf", `{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Times;}}{\*\generator Word;}{\info{\title Shown}{\author Hidden}}\'cf\'f0\'e8\'e2\'e5\'f2 \u8364?\par {\b bold} {\v secret}a\{b\}\cell c\row \u-10179?\u-8704?}`, "Shown", []string{"Привет €", "bold a{b} | c", "😀"}, []string{"Times", "Word", "Hidden", "secret"}},
		{"a.go", "\n\npackage a\n\nfunc F() {}\n", "a", []string{"```go\npackage a\n\nfunc F() {}\n```"}, nil},
		{"a.srt", "1\n00:00:01,000 --> 00:00:02,000\n<i>Good</i> day, 2 < 3.\n\n2\n00:00:03,000 --> 00:00:04,000\nBye.\n", "a", []string{"Good day, 2 < 3.\nBye."}, []string{"00:00"}},
		{"a.vtt", "WEBVTT\n\nNOTE x\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello.\n", "a", []string{"NOTE x", "Ann: Hello."}, []string{"align", "intro"}},
	} {
		page, err := (&reader.Reader{}).Read(t.Context(), tt.name, []byte(tt.data))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if page.Title != tt.title {
			t.Errorf("%s: title %q, want %q", tt.name, page.Title, tt.title)
		}
		rest := page.Text
		for _, want := range tt.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: no %q, in this order, in:\n%s", tt.name, want, page.Text)
				break
			}
			rest = after
		}
		for _, not := range tt.without {
			if strings.Contains(page.Text, not) {
				t.Errorf("%s: %q in:\n%s", tt.name, not, page.Text)
			}
		}
	}
	_, docs, err := (&reader.Source{Name: "s"}).Read(t.Context(), &reader.Reader{}, "a.go", "a.go", []byte("\n\npackage a\n\n"+strings.Repeat("// A line of a comment.\n", 100)))
	if err != nil || len(docs) < 2 || docs[0].Line != 3 || docs[1].Line < 50 || !strings.HasPrefix(docs[1].Text, "```go (goes on)\n// A line") {
		t.Errorf("lines of code: %+v, %v", docs, err)
	}
	if _, err := (&reader.Reader{}).Read(t.Context(), "a.ts", []byte(strings.Repeat("\x00\x01\x02G", 1000))); err == nil || !strings.Contains(err.Error(), "it is no text") {
		t.Errorf("a file of data called a.ts: %v", err)
	}
}

// Text comes in many encodings, and no two readers take one for another.
func TestDecode(t *testing.T) {
	russian, polish := "Привет, мир! Это проверка кодировки текста.", "Zażółć gęślą jaźń. Źdźbło trawy rośnie na łące koło śluzy."
	encode := func(e interface{ String(string) (string, error) }, text string) string {
		s, err := e.String(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range []struct{ name, data, want, encoding string }{
		{"mark.txt", "\xef\xbb\xbfplain", "plain", "utf-8"},
		{"wide.txt", encode(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(), "wide text"), "wide text", "utf-16le"},
		{"big.csv", encode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder(), "name,text\na,b\n"), "| a | b |", "utf-16be"},
		{"marked.json", encode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(), `[{"a":"größer"}]`), "größer", "utf-16be"},
		{"one.txt", "Größe und Übermut tun selten gut, \xff sagt man.", "Größe und Übermut tun selten gut, \ufffd", "utf-8"},
		{"windows.txt", "It doesn\x92t pay to be \x93late\x94.", "It doesn’t pay to be “late”.", "windows-1252"},
		{"ru.txt", encode(charmap.Windows1251.NewEncoder(), russian), russian, "windows-1251"},
		{"koi.md", encode(charmap.KOI8R.NewEncoder(), russian), russian, "koi8-r"},
		{"pl.rst", encode(charmap.Windows1250.NewEncoder(), polish), polish, "windows-1250"},
		{"ja.txt", encode(japanese.ShiftJIS.NewEncoder(), "これは日本語のテストです。"), "これは日本語のテストです。", "shift_jis"},
		{"short.txt", encode(japanese.ShiftJIS.NewEncoder(), "テスト用の文字 ok です"), "テスト用の文字 ok です", "shift_jis"},
		{"euc.txt", encode(japanese.EUCJP.NewEncoder(), "これはテストです"), "これはテストです", "euc-jp"},
		{"th.txt", encode(charmap.Windows874.NewEncoder(), "ภาษาไทยเป็นภาษาที่มีเสียงวรรณยุกต์ และมีตัวอักษรของตนเอง"), "ภาษาไทยเป็นภาษา", "windows-874"},
		{"lt.txt", encode(charmap.Windows1257.NewEncoder(), "Ąžuolas šlama prie ežero, o žąsys ir gervės čia ilsisi šiltą vakarą."), "Ąžuolas šlama prie ežero", "windows-1257"},
		{"lv.txt", encode(charmap.Windows1257.NewEncoder(), "Šodien ir ļoti jauka diena, un mēs ejam uz mežu pēc ogām un sēnēm."), "Šodien ir ļoti jauka", "windows-1257"},
		{"is.txt", encode(charmap.Windows1252.NewEncoder(), "Það er gott að búa á Íslandi, þó að veðrið sé oft kalt og þungt."), "Það er gott að búa", "windows-1252"},
		{"fr.txt", encode(charmap.Windows1252.NewEncoder(), "Où êtes-vous allés hier soir, après le dîner à la maison ?"), "Où êtes-vous allés", "windows-1252"},
		{"el.txt", encode(charmap.Windows1253.NewEncoder(), "Η γλώσσα αυτή είναι πολύ παλιά και έχει δικό της αλφάβητο."), "Η γλώσσα αυτή", "windows-1253"},
		{"zh.txt", encode(simplifiedchinese.GBK.NewEncoder(), "这是一个中文测试文件,用于检测编码。"), "这是一个中文测试文件", "gb18030"},
		{"tw.txt", encode(traditionalchinese.Big5.NewEncoder(), "這是一個中文測試檔案,用於檢測編碼。"), "這是一個中文測試檔案", "big5"},
		{"ko.adoc", encode(korean.EUCKR.NewEncoder(), "이것은 한국어 테스트 파일입니다."), "이것은 한국어 테스트", "euc-kr"},
		{"said.html", "<head><title>x</title>" + strings.Repeat("<link rel=x href=y>", 100) + "<meta charset=windows-1251></head><p>" + encode(charmap.Windows1251.NewEncoder(), "Привет"), "Привет", "windows-1251"},
		{"wrong.html", "<meta charset=iso-8859-1><p>Größe und Übermut", "Größe und Übermut", "utf-8"},
		{"control.txt", "a\x00b\x0cc\x07d", "a b c d", "utf-8"},
	} {
		page, err := (&reader.Reader{}).Read(t.Context(), tt.name, []byte(tt.data))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if !strings.Contains(page.Text, tt.want) || page.Encoding != tt.encoding {
			t.Errorf("%s: %q by %s, want %q by %s", tt.name, page.Text, page.Encoding, tt.want, tt.encoding)
		}
	}
}

// TestDeclared: what a page declares is believed unless its bytes are UTF-8, which few characters of two bytes may be by
// chance.
func TestDeclared(t *testing.T) {
	const chinese, japanese, korean, russian = "图书馆今天开放", "図書館は今日開いている", "도서관은 오늘 열려 있다", "Библиотека открыта"
	for declared, said := range map[string]string{
		"gbk": chinese, "gb2312": chinese, "gb18030": chinese, "big5": "圖書館今天開放", "shift_jis": japanese, "euc-jp": japanese, "iso-2022-jp": japanese, "euc-kr": korean,
		"windows-1251": russian, "koi8-r": russian, "koi8-u": russian, "iso-8859-5": russian, "windows-1252": "Größe und Übermut", "windows-1250": "Zażółć gęślą jaźń",
		"windows-1253": "Η γλώσσα αυτή", "windows-1255": "הספרייה פתוחה היום", "windows-1256": "المكتبة مفتوحة اليوم", "windows-874": "ห้องสมุดเปิดวันนี้",
	} {
		e, err := htmlindex.Get(declared)
		if err != nil {
			t.Fatal(err)
		}
		own, err := e.NewEncoder().String(said)
		if err != nil {
			t.Fatal(err)
		}
		name, err := htmlindex.Name(e)
		if err != nil {
			t.Fatal(err)
		}
		accents := "Crème brûlée, pâté, déjà vu"
		for _, tt := range []struct{ bytes, want, encoding string }{
			{own, said, name}, {said, said, "utf-8"}, {accents, accents, "utf-8"}, {strings.Repeat(said, 20) + "\xff", said, "utf-8"},
		} {
			page, err := (&reader.Reader{}).Read(t.Context(), "a.html", []byte("<meta charset="+declared+"><p>"+tt.bytes))
			if err != nil || !strings.Contains(page.Text, tt.want) || page.Encoding != tt.encoding {
				t.Errorf("%q that declares %s: %+v, %v; want %q by %s", tt.bytes, declared, page, err, tt.want, tt.encoding)
			}
		}
	}
	for _, tt := range []struct{ declared, bytes, want string }{
		{"gbk", "\xcf\xb5\xd7\xbc", "系准"}, {"euc-kr", "\xc4\xab\xc5\xb8", "카타"}, {"big5", "\xc4\xb5\xc5\xa5", "警聽"}, {"shift_jis", "\xc3\xb0\xde\xb2", "ﾃｰﾞｲ"},
	} {
		page, err := (&reader.Reader{}).Read(t.Context(), "a.html", []byte("<meta charset="+tt.declared+"><p>"+tt.bytes))
		if err != nil || !strings.Contains(page.Text, tt.want) {
			t.Errorf("%q that declares %s: %+v, %v; want %q", tt.bytes, tt.declared, page, err, tt.want)
		}
	}
}

// What is the same on the pages of a site is left out, and what is on one page alone stays.
func TestSite(t *testing.T) {
	page := func(text string) []byte {
		return []byte("<body><header>The Site of Tides</header><p>" + text + "</p><footer>Imprint and more</footer>")
	}
	var site reader.Site
	for _, text := range []string{"one", "two", "three", "four"} {
		site.Learn(page(text))
	}
	p, err := (&reader.Reader{Site: &site}).Read(t.Context(), "a.html", page("five"))
	if err != nil || p.Text != "five\n" || len(p.LeftOut) != 1 || p.LeftOut[0].Words != 7 {
		t.Errorf("%+v, %v; want the text five, and 7 words left out", p, err)
	}
	if p, err = (&reader.Reader{Site: &site}).Read(t.Context(), "a.html", []byte("<body><header>Another</header><p>six")); err != nil || !strings.Contains(p.Text, "Another") {
		t.Errorf("%+v, %v; want a header of its own to stay", p, err)
	}
}
