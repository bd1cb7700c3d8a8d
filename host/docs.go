package host

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/parley-search/parley/host/internal/search/reader"
)

//go:embed *.md docs/*.md docs/*/*.md
var documentation embed.FS

// Documentation returns the pages about this service, which the program carries, as an array of
// documents: passages, as an import of files makes them. base is the address below which the pages are
// published.
func Documentation(ctx context.Context, base string) ([]byte, error) {
	var docs []reader.Document
	r := reader.Reader{}
	source := reader.Source{Name: "parley", BaseURL: base, FileURLs: true}
	err := fs.WalkDir(documentation, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !reader.CanRead(name) {
			return err
		}
		data, err := documentation.ReadFile(name)
		if err != nil {
			return err
		}
		page, err := r.Read(ctx, name, data)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		list, err := source.Documents(name, page)
		docs = append(docs, list...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(docs)
}
