package reader_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// pdfLines returns a PDF file with a page of lines each, and an outline of titles by page.
func pdfLines(outline []string, pages ...[]string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R/Outlines 3 0 R>>", "", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	kids := ""
	first := 0
	for _, lines := range pages {
		var content strings.Builder
		content.WriteString("BT /F1 12 Tf 72 720 Td 14 TL\n")
		for _, l := range lines {
			fmt.Fprintf(&content, "(%s) Tj T*\n", l)
		}
		content.WriteString("ET")
		objects = append(objects, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents "+fmt.Sprint(len(objects)+2)+" 0 R/Resources<</Font<</F1 4 0 R>>>>>>",
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", content.Len(), content.String()))
		kids += fmt.Sprintf("%d 0 R ", len(objects)-1)
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, len(pages))
	for i, o := range outline {
		page, title, _ := strings.Cut(o, " ")
		n := 0
		_, _ = fmt.Sscan(page, &n)
		next := ""
		if i+1 < len(outline) {
			next = fmt.Sprintf("/Next %d 0 R", len(objects)+2)
		}
		objects = append(objects, fmt.Sprintf("<</Title(%s)/Parent 3 0 R/Dest[%d 0 R /Fit]%s>>", title, 3+2*n, next))
		if first == 0 {
			first = len(objects)
		}
	}
	objects[2] = fmt.Sprintf("<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>", first, len(objects), len(outline))
	if len(outline) == 0 {
		objects[2] = "<</Type/Outlines>>"
	}
	return pdfOfObjects(objects...)
}

// Headings of the outline stand where the page has them, and what runs over pages is left out.
func TestReadPDFPages(t *testing.T) {
	long := strings.Repeat("words of a paragraph that goes on ", 2)
	var pages [][]string
	for i := range 6 {
		head := "The Book of Tides"
		if i%2 == 1 {
			head = "Water"
		}
		pages = append(pages, []string{head, "A. Author", fmt.Sprintf("line %c of the text", 'a'+i), long, "iv vi x"[i : i+1], fmt.Sprintf("Page %d of 6", i+1)})
	}
	pages[1] = []string{"Water", "A. Author", "the end of what came before", "1.2 High", "Tide", long, "About low", "Low Tide", "ebb", "Page 2 of 6"}
	page, err := (&reader.Reader{PDF: openPDF(t)}).Read(t.Context(), "a.pdf", pdfLines([]string{"1 Start", "2 High Tide", "2 Low Tide"}, pages...))
	if err != nil {
		t.Fatal(err)
	}
	rest := page.Text
	for _, want := range []string{"Start", "line a", "the end of what came before", "## 1.2 High Tide", "About low", "## Low Tide", "ebb", "line f"} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("no %q, in this order, in:\n%s", want, page.Text)
		}
		rest = after
	}
	for _, not := range []string{"Book of Tides", "Water", "Author", "of 6"} {
		if strings.Contains(page.Text, not) {
			t.Errorf("%q runs over the pages, and is in:\n%s", not, page.Text)
		}
	}
	docs, err := (&reader.Source{Name: "s"}).Documents("a.pdf", page)
	if err != nil || docs[0].Page != 1 || docs[0].PageEnd != 6 {
		t.Errorf("first passage %+v, %v; want pages 1 to 6", docs[0], err)
	}
}

// Characters beyond the first 65,536 of Unicode are text.
func TestReadPDFCharacters(t *testing.T) {
	var wide strings.Builder
	for _, u := range utf16.Encode([]rune("𝒳")) {
		wide.WriteString(hex.EncodeToString([]byte{byte(u >> 8), byte(u)}))
	}
	cmap := "/CIDInit/ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <" + wide.String() + "> endbfchar endcmap end end"
	const content = "BT /F1 12 Tf 72 720 Td (let A be the last AAA word) Tj ET"
	page, err := (&reader.Reader{PDF: openPDF(t)}).Read(t.Context(), "a.pdf", pdfOfObjects(
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(cmap), cmap),
	))
	if err != nil || !strings.Contains(page.Text, "let 𝒳 be the last 𝒳𝒳𝒳 word") {
		t.Errorf("%+v, %v", page, err)
	}
}
