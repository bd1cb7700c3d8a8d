package host

import (
	"github.com/parley-search/parley/host/internal/reader"
	"github.com/parley-search/parley/host/internal/reader/pdf"
)

// What turns files into documents, see package reader.
type (
	// A FileReader reads pages out of files.
	FileReader = reader.Reader
	// A FileSelection says which files of a folder or archive are taken.
	FileSelection = reader.Selection
	// A File is one that was found.
	File = reader.File
	// A FileSource says where pages come from, and cuts them into documents.
	FileSource = reader.Source
	// A FileDocument is a passage of a page.
	FileDocument = reader.Document
)

// FileIndexSettings are the settings of an index that is made for documents of files.
const FileIndexSettings = reader.IndexSettings

// NewFileReader returns a reader that keeps the compiled sandbox for PDF files in cacheDir; empty: it is
// compiled anew in each process. Call the function at the end.
func NewFileReader(cacheDir string) (*FileReader, func() error) {
	p := &pdf.Reader{CacheDir: cacheDir}
	return &FileReader{PDF: p}, p.Close
}

// CanReadFile reports whether the name of a file says a format that can be read.
func CanReadFile(name string) bool { return reader.CanRead(name) }

// IsArchive reports whether the name of a file says an archive whose files can be read.
func IsArchive(name string) bool { return reader.IsArchive(name) }

// FileExtensions lists the extensions of the names of files that can be read, sorted.
func FileExtensions() []string { return reader.Extensions() }

// EachFile calls f for each file of a file, folder or archive, see reader.EachFile.
var EachFile = reader.EachFile
