// Package console holds the page that people look at. It is a client like any other: all that it does
// goes through the public API, under the key that a person gives it. The files are served as they are
// written: there is no build step, and nothing of others in them.
package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
)

//go:embed page
var page embed.FS

// Policy is the Content-Security-Policy of each file: nothing from elsewhere, no inline script or style,
// and no text that becomes markup.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// A File is one of the page's.
type File struct {
	Type string // of its contents
	ETag string
	Body []byte
}

var types = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// Files returns the files by name; the page itself is index.html.
func Files() map[string]File {
	files := map[string]File{}
	entries, err := fs.ReadDir(page, "page")
	if err != nil {
		panic("console: " + err.Error()) // embedded
	}
	for _, e := range entries {
		body, err := page.ReadFile("page/" + e.Name())
		if err != nil {
			panic("console: " + err.Error())
		}
		sum := sha256.Sum256(body)
		files[e.Name()] = File{Type: types[path.Ext(e.Name())], ETag: `"` + hex.EncodeToString(sum[:8]) + `"`, Body: body}
	}
	return files
}
