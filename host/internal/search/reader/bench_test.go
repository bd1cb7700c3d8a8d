package reader_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// BenchmarkMarkdown reads the pages of this project and cuts them into documents.
func BenchmarkMarkdown(b *testing.B) {
	names, err := filepath.Glob("../../../docs/*/*.md")
	if err != nil || len(names) == 0 {
		b.Fatalf("pages: %v, %v", names, err)
	}
	files, size := make([][]byte, len(names)), 0
	for i, name := range names {
		if files[i], err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
		size += len(files[i])
	}
	r, source := &reader.Reader{}, &reader.Source{Name: "docs"}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for i, name := range names {
			if _, _, err := source.Read(b.Context(), r, name, name, files[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkPDF reads a file of twenty pages.
func BenchmarkPDF(b *testing.B) {
	pages := make([][]string, 20)
	for i := range pages {
		for line := range 40 {
			pages[i] = append(pages[i], strings.Repeat(string(rune('a'+line%26)), 9)+" are the words of a line of text on a page")
		}
	}
	data := pdfLines(nil, pages...)
	r := &reader.Reader{PDF: openPDF(b)}
	read := func() {
		if _, err := r.Read(b.Context(), "pages.pdf", data); err != nil {
			b.Fatal(err)
		}
	}
	read() // compiles the sandbox
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
}
