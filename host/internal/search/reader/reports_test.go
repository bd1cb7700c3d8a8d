package reader_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// encoded returns a text in another encoding.
func encoded(t *testing.T, e interface{ String(string) (string, error) }, text string) string {
	t.Helper()
	s, err := e.String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	diagramRels = `<Relationships><Relationship Id="d" Type="x/diagramData" Target="diagrams/data1.xml"/><Relationship Id="c" Type="x/chart" Target="charts/chart1.xml"/></Relationships>`
	diagram     = `<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r><a:r><a:t>ning</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Building</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`
	chart       = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Har</a:t></a:r><a:r><a:t>vest</a:t></a:r></a:p></c:rich></c:tx></c:title><c:ser><c:tx><c:strRef><c:f>Sheet1!B1</c:f><c:strCache><c:pt><c:v>Apples</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt><c:v>North</c:v></c:pt><c:pt><c:v>South</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:pt><c:v>12</c:v></c:pt><c:pt><c:v>7</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:chart></c:chartSpace>`
)

// documentOf returns a document of a word processor with other parts, by name and contents.
func documentOf(t *testing.T, body string, parts ...string) string {
	return string(zipOf(t, append([]string{"word/document.xml", body}, parts...)...))
}

// slideOf returns a presentation of one slide with other parts.
func slideOf(t *testing.T, slide string, parts ...string) string {
	return string(zipOf(t, append([]string{
		"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r1"/><p:sldId id="257" r:id="r2"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/><Relationship Id="r2" Type="x/slide" Target="slides/gone.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", slide,
	}, parts...)...))
}

// withPart returns an archive with one more part.
func withPart(t *testing.T, archive []byte, name, contents string) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		if err := w.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.Create(name)
	if err == nil {
		_, err = io.WriteString(part, contents)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Files whose text other readers lost, by what was reported of these in public.
func TestReadReports(t *testing.T) {
	web := "<html><body><h1>Terms</h1><p>Grüße aus dem Angebot.</p></body></html>"
	mht := "MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n type=\"text/html\"; boundary=\"----=m\"\r\n\r\n------=m\r\nContent-Type: text/html; charset=\"utf-8\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Gr=C3=BC=C3=9Fe from the form</p>\r\n------=m--\r\n"
	chunk := func(name, data string) string {
		return documentOf(t, `<w:p><w:r><w:t>before</w:t></w:r></w:p><w:altChunk r:id="k"/><w:p><w:r><w:t>behind</w:t></w:r></w:p>`,
			"word/_rels/document.xml.rels", `<Relationships><Relationship Id="k" Type="x/aFChunk" Target="`+name+`"/></Relationships>`, "word/"+name, data)
	}
	alternatives := func(plain, page string) string {
		return "Subject: News\nContent-Type: multipart/alternative; boundary=A\n\n--A\nContent-Type: text/plain\n\n" + plain + "\n--A\nContent-Type: text/html\n\n" + page + "\n--A--\n"
	}
	book := func(manifest, spine string, files ...string) string {
		return bookOf(t, `<package><metadata><title>Tides</title></metadata><manifest>`+manifest+`</manifest><spine>`+spine+`</spine></package>`, files...)
	}
	run := func(element, text string) string {
		return `<w:r><w:` + element + ` xml:space="preserve">` + text + `</w:` + element + `></w:r>`
	}
	field := func(says, shows string) string {
		mark := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
		return mark("begin") + says + mark("separate") + shows + mark("end")
	}
	flat := `<?xml version="1.0" encoding="UTF-8"?><office:document><office:body><office:text><text:p>Grüße, high water.</text:p></office:text></office:body></office:document>`
	sheet := excelize.NewFile()
	for cell, v := range map[string]string{"A1": "name", "B1": "page", "A2": "Tea", "B2": "our shop"} {
		if err := sheet.SetCellValue("Sheet1", cell, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := sheet.SetCellHyperLink("Sheet1", "B2", "https://shop.example/tea", "External"); err != nil {
		t.Fatal(err)
	}
	if err := sheet.AddShape("Sheet1", &excelize.Shape{Cell: "D2", Type: "rect", Paragraph: []excelize.RichTextRun{{Text: "Mind the frost"}}}); err != nil {
		t.Fatal(err)
	}
	if err := sheet.AddChart("Sheet1", "E8", &excelize.Chart{Type: excelize.Col, Series: []excelize.ChartSeries{{Name: "Sheet1!$B$1", Categories: "Sheet1!$A$2", Values: "Sheet1!$B$2"}}, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: "Yearly harvest"}}}}); err != nil {
		t.Fatal(err)
	}
	var workbook bytes.Buffer
	if err := sheet.Write(&workbook); err != nil {
		t.Fatal(err)
	}
	wide := excelize.NewFile()
	if style, err := wide.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}}); err != nil || wide.SetCellStyle("Sheet1", "A1", "XFD2", style) != nil || wide.SetCellStr("Sheet1", "B2", "Last column") != nil {
		t.Fatal("make a sheet with a style to its last column")
	}
	var styled bytes.Buffer
	if err := wide.Write(&styled); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		report, name, data string
		want, without      []string
	}{
		// Documents of word processors.
		{"a note with the word that a parser looked for", "note.docx", documentOf(t, `<w:p><w:r><w:t>Text.</w:t><w:footnoteReference w:id="2"/></w:r></w:p>`,
			"word/footnotes.xml", `<w:footnotes><w:footnote w:id="2"><w:p><w:r><w:t xml:space="preserve">Please note that osprey nests stay closed.</w:t></w:r></w:p></w:footnote></w:footnotes>`), []string{"Note: Please note that osprey nests stay closed."}, nil},
		{"dbashford/textract#5", "joined.docx", documentOf(t, `<w:p><w:r><w:t>Text.</w:t></w:r></w:p>`, "word/header1.xml", `<w:hdr><w:p><w:r><w:t>Harbour</w:t><w:tab/><w:t>Office</w:t><w:br/><w:t>Quay</w:t></w:r></w:p></w:hdr>`), []string{"Harbour Office\nQuay"}, nil},
		{"python-openxml/python-docx#825", "smart.docx", documentOf(t, `<w:p><w:r><w:t>STA</w:t></w:r><w:smartTag w:element="x"><w:r><w:t>RT</w:t></w:r></w:smartTag></w:p>`), []string{"START"}, nil},
		{"docling-project/docling#3923", "inline.docx", documentOf(t, `<w:p><w:r><w:t xml:space="preserve">Kind: </w:t></w:r><w:sdt><w:sdtPr><w:alias w:val="a"/></w:sdtPr><w:sdtContent><w:r><w:t>CONTROL</w:t></w:r></w:sdtContent></w:sdt></w:p>`), []string{"Kind: CONTROL"}, nil},
		{"jgm/pandoc#4190", "cell.docx", documentOf(t, `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>one</w:t></w:r></w:p></w:tc><w:sdt><w:sdtContent><w:tc><w:p><w:r><w:t>two</w:t></w:r></w:p></w:tc></w:sdtContent></w:sdt><w:tc><w:p><w:r><w:t>three</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`), []string{"| one | two | three |"}, nil},
		{"jgm/pandoc#7890", "form.docx", chunk("afchunk.mft", mht), []string{"before", "Grüße from the form", "behind"}, nil},
		{"mwilliamson/mammoth.js#424", "web.docx", chunk("chunk.html", web), []string{"before", "# Terms", "Grüße aus dem Angebot.", "behind"}, nil},
		{"yfedoseev/office_oxide#155", "field.docx", documentOf(t, `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://quay.example/a" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>the quay</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>, open.</w:t></w:r></w:p>`), []string{"the quay (https://quay.example/a), open."}, nil},
		{"jgm/pandoc#7401", "within.docx", documentOf(t, `<w:p>`+field(run("instrText", ` HYPERLINK "https://quay.example/`)+field(run("instrText", "REF dock"), run("t", "dock7"))+run("instrText", `"`), run("t", "the ")+field(run("instrText", "PAGEREF x"), run("t", "12"))+run("t", " quay"))+`</w:p>`), []string{"the 12 quay (https://quay.example/dock7)"}, nil},
		{"superdoc/docx-editor#3783", "links.docx", documentOf(t, `<w:p>`+field(run("instrText", `HYPERLINK "https://a.example/"`), field(run("instrText", `HYPERLINK "https://b.example/"`), run("t", "both of them")))+`</w:p>`), []string{"both of them (https://b.example/) (https://a.example/)"}, nil},
		{"a list of a form to choose from", "choice.docx", documentOf(t, `<w:p><w:r><w:t xml:space="preserve">Colour: </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="green"/></w:ddList></w:ffData></w:fldChar></w:r>`+run("instrText", "FORMDROPDOWN")+`<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`), []string{"Colour: green"}, []string{"red"}},
		{"a field that does not end", "endless.docx", documentOf(t, `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>`+run("instrText", "IF")+`</w:p><w:p>`+field(run("instrText", "PAGE"), run("t", "seven"))+`</w:p>`), []string{"seven"}, nil},
		{"python-openxml/python-docx#1486", "smartart.docx", documentOf(t, `<w:p><w:r><w:t>Steps</w:t></w:r></w:p><w:p><w:r><w:drawing><dgm:relIds r:dm="d"/><c:chart r:id="c"/></w:drawing></w:r></w:p>`,
			"word/_rels/document.xml.rels", diagramRels, "word/diagrams/data1.xml", diagram, "word/charts/chart1.xml", chart), []string{"Steps", "Planning\nBuilding", "Harvest\nApples: North 12, South 7"}, nil},
		{"a page of the web called a document", "page.docx", web, []string{"Grüße aus dem Angebot."}, nil},
		{"letters that are a drawing", "art.docx", documentOf(t, `<w:p><w:r><w:pict><v:shape><v:textpath string="Confidential draft"/></v:shape></w:pict></w:r></w:p>`), []string{"Confidential draft"}, nil},
		{"python-openxml/python-docx#1513", "backslashes.docx", string(zipOf(t, `word\document.xml`, docxBody, `word\footnotes.xml`, `<w:footnotes><w:footnote w:id="1"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>`)), []string{"Steep for three minutes.", "A note."}, nil},
		{"names of parts in other capitals", "capitals.docx", string(zipOf(t, "Word/Document.xml", docxBody)), []string{"Steep for three minutes."}, nil},
		{"a vertical tab in XML", "control.docx", documentOf(t, "<w:p><w:r><w:t>one\x0btwo &#x0b;three &#x1F600;</w:t></w:r></w:p>"), []string{"one two  three 😀"}, nil},
		{"docling-project/docling#3846", "section.odt", string(zipOf(t, "content.xml", `<office:text><text:section><text:h text:outline-level="1">Part</text:h><text:p>Inside <text:bookmark/>the section.</text:p></text:section></office:text>`)), []string{"Inside the section."}, nil},
		{"dbashford/textract#192", "header.odt", string(zipOf(t, "content.xml", `<office:text><text:p>Body.</text:p></office:text>`, "styles.xml", `<s><style:master-page><style:header><text:p>Harbour</text:p></style:header><style:footer><text:p>Quay 7</text:p></style:footer></style:master-page><style:master-page><style:header><text:p>Harbour</text:p></style:header></style:master-page></s>`)), []string{"Body.", "Harbour\nQuay 7"}, nil},
		{"GitHubNewbie0/odf-kit#94", "frame.odt", string(zipOf(t, "content.xml", `<office:text><text:p>Body<draw:frame><draw:text-box><text:p>In the box</text:p></draw:text-box><svg:desc>A heron</svg:desc></draw:frame></text:p><text:p><text:a xlink:href="https://quay.example/">the quay</text:a></text:p></office:text>`)), []string{"In the box", "A heron", "the quay (https://quay.example/)"}, nil},
		{"an object in a text", "object.odt", string(zipOf(t, "content.xml", `<office:text><text:p>Body<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p></office:text>`, "Object 1/content.xml", `<office:chart><chart:title><text:p>Harvest</text:p></chart:title><table:table table:name="local-table"><table:table-row><table:table-cell><text:p>North</text:p></table:table-cell><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table></office:chart>`)), []string{"Body", "Harvest", "| North | 12 |"}, nil},
		{"a text of one file of XML", "flat.fodt", `<?xml version="1.0" encoding="UTF-8"?><office:document><office:body><office:text><text:h text:outline-level="1">Tides</text:h><text:p>High water.</text:p><office:binary-data>aGlkZGVu</office:binary-data></office:text></office:body></office:document>`, []string{"High water."}, []string{"aGlkZGVu"}},
		{"one file of XML with a mark of its byte order", "marked.fodt", "\ufeff" + flat, []string{"Grüße, high water."}, nil},
		{"one file of XML in two bytes", "wide.fodt", encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(), strings.Replace(flat, "UTF-8", "UTF-16", 1)), []string{"Grüße, high water."}, nil},
		{"one file of XML without its declaration", "bare.fodt", flat[strings.Index(flat, "<office"):], []string{"Grüße, high water."}, nil},
		{"xberg-io/xberg#1326", "font.rtf", `{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fswiss\fcharset204 Arial Cyr;}}\f0 caf\'e9 {\f1\'cf\'f0\'e8\'e2\'e5\'f2} \'fcber\par}`, []string{"café Привет über"}, nil},
		{"bbottema/rtf-to-html#18", "baltic.rtf", `{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset186 A;}{\f1\fcharset238 B;}}{\f0\'e0\'fe} {\f1\'b9\'ea}}`, []string{"ąž ąę"}, nil},
		{"EvotecIT/OfficeIMO#2055", "skip.rtf", `{\rtf1\ansi\ansicpg932{\fonttbl{\f0\fcharset128 M;}}\f0\uc2\u12486\'83\'65 after\par}`, []string{"テ after"}, nil},
		{"tbluemel/rtf.js#60", "link.rtf", `{\rtf1\ansi{\info{\title The Quay}}Write to {\field{\*\fldinst{HYPERLINK "mailto:a@quay.example"}}{\fldrslt{the office}}}.\par}`, []string{"Write to the office (mailto:a@quay.example)."}, nil},
		{"joshy/striprtf#63", "nested.rtf", `{\rtf1\ansi{\listtext\pard 10.\tab}Trade\par a\nestcell b\nestcell{\*\nesttableprops x}\nestrow c\cell\row}`, []string{"10. Trade", "a | b"}, nil},
		// Slides and sheets.
		{"yfedoseev/office_oxide#149", "diagram.pptx", slideOf(t, `<p:sld><p:graphicFrame><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></p:graphicFrame><p:graphicFrame><c:chart r:id="c"/></p:graphicFrame></p:sld>`,
			"ppt/slides/_rels/slide1.xml.rels", strings.ReplaceAll(diagramRels, `Target="`, `Target="../`), "ppt/diagrams/data1.xml", diagram, "ppt/charts/chart1.xml", chart), []string{"- Planning\n- Building", "- Harvest\n- Apples: North 12, South 7"}, nil},
		{"harshankur/officeParser#106", "group.pptx", slideOf(t, `<p:sld><p:grpSp><p:grpSp><p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>IN GROUP</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp></p:grpSp></p:sld>`,
			"ppt/slides/_rels/slide1.xml.rels", `<Relationships><Relationship Id="h" Type="x/hyperlink" TargetMode="External" Target="https://group.example/"/></Relationships>`), []string{"IN GROUP (https://group.example/)"}, nil},
		{"boxes, charts and links of sheets", "boxes.xlsx", workbook.String(), []string{"| Tea | [our shop](https://shop.example/tea) |", "Mind the frost", "Yearly harvest"}, nil},
		{"rows that are drawn to the last column", "styled.xlsx", styled.String(), []string{"Last column"}, nil},
		{"many formulas", "formulas.xlsx", withPart(t, workbook.Bytes(), "xl/calcChain.xml", `<calcChain xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`+strings.Repeat(`<c r="A1" i="1"/>`, 900)+`</calcChain>`), []string{"Tea"}, nil},
		// Messages.
		{"why a message came back", "status.eml", "Subject: Returned\nContent-Type: multipart/report; boundary=B\n\n--B\nContent-Type: message/delivery-status\n\nDiagnostic-Code: smtp; the mailbox is full\n\n--B--\n", []string{"the mailbox is full"}, nil},
		{"linagora/james-project#4396", "stub.eml", alternatives("Open this in a browser.", "<p>The harbour opens at nine, the ferry leaves at ten, and tickets are sold on board.</p>"), []string{"The harbour opens at nine"}, nil},
		{"of two forms the plain one", "plain.eml", alternatives("The harbour opens at nine.", "<p>The harbour opens at nine.</p><p>Imprint</p>"), []string{"The harbour opens at nine."}, []string{"Imprint"}},
		{"jordan-wright/email#29", "quoted.eml", "Subject: a\nContent-Transfer-Encoding: quoted-printable\n\nOne =ZZ two \x92 three=\n four=20=\nfive =3D\n= six =", []string{"One =ZZ two ’ three four five =", "= six ="}, nil},
		{"afewmail/afew#146", "list.eml", "Subject: a\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte("Sch\xf6ne Gr\xfc\xdfe von hier, und noch viel mehr.")) + "\n_______________________________________________\nharbour mailing list\nharbour@lists.example\n\nUnsubscribe\n", []string{"Schöne Grüße von hier", "harbour mailing list\nharbour@lists.example", "Unsubscribe"}, nil},
		{"base64 between a list's lines", "both.eml", "Subject: a\nContent-Transfer-Encoding: base64\n\nThis list is moderated.\n\n" + strings.Repeat(base64.StdEncoding.EncodeToString([]byte("The harbour opens at nine today and closes.\n "))+"\n", 2) + base64.StdEncoding.EncodeToString([]byte("The end.")) + "\n-- \nharbour list\n", []string{"The harbour opens at nine", "The end.", "This list is moderated.", "harbour list"}, nil},
		{"chatmail/core#7237", "invite.eml", "Subject: a\nContent-Type: multipart/alternative; boundary=A\n\n--A\nContent-Type: text/plain\n\nYou are invited to a meeting.\n--A\nContent-Type: text/html\n\n<p>You are invited to a meeting.</p>\n--A\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nLOCATION:Pier seven\nEND:VCALENDAR\n--A--\n", []string{"You are invited", "LOCATION:Pier seven"}, nil},
		{"MailCore/mailcore2#792", "within.eml", "Subject: a\nContent-Type: multipart/alternative; boundary=A\n\n--A\nContent-Type: text/plain\n\nSee the list.\n--A\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/html\n\n<p>See the list.</p>\n--B\nContent-Disposition: attachment; filename=tides.csv\n\nday,height\nMonday,seven\n--B\nContent-Type: message/rfc822\n\nSubject: Inner\n\nForwarded words.\n--B\nContent-Type: text/x-patch; name=fix.patch\n\n+a new line\n--B--\n--A--\n", []string{"See the list.", "## tides.csv", "| Monday | seven |", "Inner", "Forwarded words.", "## fix.patch", "+a new line"}, nil},
		{"base64 with more between", "sixtyfour.eml", "Subject: a\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte("first part, ")) + "=\n > " + base64.StdEncoding.EncodeToString([]byte("second part.")) + "\n", []string{"first part, second part."}, nil},
		{"nodemailer/mailparser#204", "twice.eml", "Content-Type: multipart/alternative;\n boundary=\"--outer\"\nContent-Type: multipart/alternative;\n boundary=\"--inner\"\nSubject: Hi\n\n----inner\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nSGVsbG8gd29ybGQ/\n----inner--\n", []string{"Hello world?"}, nil},
		{"nodemailer/mailparser#370", "declared.eml", "Subject: a\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<meta charset=3D\"windows-1251\"><p>=CF=F0=E8=E2=E5=F2</p>", []string{"Привет"}, nil},
		{"mat-sz/letterparser#15", "kind.eml", "Subject: a\nContent-Type: text/HTML;\n\tboundary=\"--NEXT\"\n\nThis is a multipart message.\n----NEXT\nContent-Type: text/html;\n\tcharset=\"iso-8859-1\"\nContent-Transfer-Encoding: Quoted-Printable\n\n<p=3EReservation f=FCr Freitag</p=3E\n----NEXT--\n", []string{"Reservation für Freitag"}, nil},
		{"GOVCERT-LU/eml_parser#24", "start.eml", "this is no field\nSubject: Hello\n\nThe body.\n", []string{"Subject: Hello", "The body."}, nil},
		{"no boundary in the body", "boundary.eml", "Subject: a\nContent-Type: multipart/mixed; boundary=X\n\nAll of it is here.\n", []string{"All of it is here."}, nil},
		{"a page kept as a message", "page.mht", "From: <Saved>\nSubject: The quay\n" + mht, []string{"Grüße from the form"}, nil},
		{"a subject in the Japanese of mail", "iso.eml", "Subject: =?iso-2022-jp?B?" + base64.StdEncoding.EncodeToString([]byte(encoded(t, japanese.ISO2022JP.NewEncoder(), "会議のお知らせ"))) + "?=\nContent-Type: text/plain; charset=iso-2022-jp\n\n" + encoded(t, japanese.ISO2022JP.NewEncoder(), "明日の会議です。"), []string{"明日の会議です。"}, nil},
		// Books.
		{"virgiliojr94/book-to-skill#64", "outside.epub", book(`<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/><item id="x" href="notes.xhtml" media-type="application/xhtml+xml"/><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>`, `<itemref idref="a"/>`,
			"nav.xhtml", "<nav><a href='a.xhtml'>The List</a></nav>", "a.xhtml", "<p>Chapter.</p>", "notes.xhtml", "<p>The notes to it.</p>"), []string{"Chapter.", "The notes to it."}, nil},
		{"a book without its container", "bare.epub", string(zipOf(t, "OEBPS/content.opf", `<package><metadata><title>Tides</title></metadata><manifest><item id="a" href="A.xhtml" media-type="application/xhtml+xml"/></manifest></package>`, "OEBPS/a.xhtml", "<p>Chapter.</p>")), []string{"Chapter."}, nil},
		{"a row with more cells than its table has columns", "row.md", "| a | b |\n|---|---|\n| one | two | three | **four** |\n| | | five |\n", []string{"| one | two | three | **four** |", "five"}, nil},
		// Rows, notebooks, subtitles, code.
		{"simonw/sqlite-utils#777", "escaped.json", `{"title":"\u041f\u0440\u0438\u0432\u0435\u0442 \ud83d\ude00","path":"C:\\u00e9t","text":"one\ntwo \"three\""}`, []string{`"Привет 😀"`, `C:\\u00e9t`, `one two \"three\"`}, nil},
		{"letters by number within a row", "row.json", `[{"a":{"b":"\u00fcber"}},{"a":{"b":"x\ny"}}]`, []string{"über", "x y"}, nil},
		{"a line that is no JSON", "log.jsonl", "{\"a\":\"tea\"}\nnot json, \\u00fcber\n", []string{`{"a":"tea"}`, "not json, über"}, nil},
		{"letters by number in Java", "a.properties", "greeting=Gr\\u00fc\\u00dfe\n", []string{"greeting=Grüße"}, nil},
		{"microsoft/vscode-jupyter#8188", "three.ipynb", `{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"heading","level":1,"source":["Tides"]},{"cell_type":"markdown","source":["High water."]},{"cell_type":"code","input":["print(1)"],"outputs":[{"text":["one"]}]}]}]}`, []string{"## Tides", "High water.", "print(1)", "one"}, nil},
		{"microsoft/vscode-jupyter#2722", "shown.ipynb", `{"cells":[{"cell_type":"code","source":"display()","outputs":[{"data":{"text/plain":["<IPython.core.display.Markdown object>"],"text/markdown":["**Result:** seven"]}},{"data":{"text/plain":["<IPython.core.display.HTML object>"],"text/html":["<p>Eight</p>"]}}]}]}`, []string{"Result: seven", "Eight"}, []string{"IPython"}},
		{"lobehub/lobehub#17855", "forms.ipynb", `{"cells":[{"cell_type":"code","source":"x","outputs":[{"data":{"text/plain":["<IPython.core.display.Latex object>"],"text/latex":["$$\\alpha tide$$"]}},{"data":{"text/plain":["<IPython.core.display.JSON object>"],"application/json":{"pier":"seven"}}},{"data":{"text/plain":["<Figure size 432x288>"],"image/png":"aGlkZGVu","image/svg+xml":["<svg><text>High water</text></svg>"]}}]},{"cell_type":"code","source":"y","outputs":[{"output_type":"display_data","text":["<x object>"],"latex":["$$\\beta ebb$$"],"png":"aGlkZGVu"}]}]}`, []string{`$$\alpha tide$$`, `{"pier":"seven"}`, "High water", `$$\beta ebb$$`}, []string{"IPython", "aGlkZGVu"}},
		{"where an error came from as one text", "trace.ipynb", `{"cells":[{"cell_type":"code","source":"f()","outputs":[{"ename":"Error","evalue":"seven","traceback":"at f"}]}]}`, []string{"f()", "Error seven"}, []string{"at f"}},
		{"signs that are written as in HTML", "signs.vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nTea &amp; <i>cake</i>\n", []string{"Tea & cake"}, nil},
		{"phpDocumentor/guides#548", "prices.rst", "Prices\n======\n\n.. csv-table:: Frozen delights\n   :header: \"Treat\", \"Quantity\"\n\n   \"Albatross\", 2.99\n", []string{"Frozen delights", "\"Treat\", \"Quantity\"", "\"Albatross\", 2.99"}, nil},
		{"captioning/captioning#10", "blank.srt", "1\n00:00:01,000 --> 00:00:02,000\nFirst words\n \n2\n00:00:03,000 --> 00:00:04,000\nSecond words\n3\n00:00:05,000 --> 00:00:06,000\nThird words\n", []string{"First words", "Second words", "Third words"}, []string{"-->"}},
		{"byroot/pysrt#71", "empty.srt", "1\n00:22:10,440 --> 00:22:15,195\nJe suis au boulot,\n\nj'aurai du retard.\n\n305\n00:22:15,960 --> 00:22:19,157\nJohn.\n", []string{"Je suis au boulot,", "j'aurai du retard.", "John."}, nil},
		{"Latin code that says so", "latin.py", "# -*- coding: latin-1 -*-\nname = '" + encoded(t, charmap.ISO8859_1.NewEncoder(), "Übergröße") + "'\n", []string{"Übergröße"}, nil},
		{"XML that says its encoding", "cyr.xml", `<?xml version="1.0" encoding="windows-1251"?><a>` + encoded(t, charmap.Windows1251.NewEncoder(), "Да") + `</a>`, []string{"Да"}, nil},
		{"the Japanese of mail in a file", "jis.txt", encoded(t, japanese.ISO2022JP.NewEncoder(), "これはテストです。"), []string{"これはテストです。"}, nil},
	} {
		page, err := (&reader.Reader{}).Read(t.Context(), tt.name, []byte(tt.data))
		if err != nil {
			t.Errorf("%s: %s: %v", tt.report, tt.name, err)
			continue
		}
		rest := page.Text
		for _, want := range tt.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: %s: no %q, in this order, in:\n%s", tt.report, tt.name, want, page.Text)
				break
			}
			rest = after
		}
		for _, not := range tt.without {
			if strings.Contains(page.Text, not) {
				t.Errorf("%s: %s: %q in:\n%s", tt.report, tt.name, not, page.Text)
			}
		}
	}
	locked := book(`<item id="a" href="a.xhtml"/>`, `<itemref idref="a"/>`, "a.xhtml", "\x8b\x01\x02", "META-INF/encryption.xml", `<encryption><EncryptedData><CipherData><CipherReference URI="a.xhtml"/></CipherData></EncryptedData></encryption>`)
	if _, err := (&reader.Reader{}).Read(t.Context(), "locked.epub", []byte(locked)); err == nil || !strings.Contains(err.Error(), "protected against copying") {
		t.Errorf("a book that is encrypted: %v", err)
	}
}
