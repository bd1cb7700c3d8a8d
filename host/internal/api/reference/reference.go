// Package reference renders the description of the API as one page for people:
// HTML and a style sheet, without a script.
package reference

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
)

//go:embed page.html
var pageText string

// Style is the style sheet of the page, which asks for it as docs/style.css.
//
//go:embed style.css
var Style []byte

// Policy is the Content-Security-Policy of the page.
const Policy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page returns the page for a description in OpenAPI 3.1, as JSON. What it says
// stands in the page as text, never as markup.
func Page(description []byte) ([]byte, error) {
	d, err := read(description)
	if err != nil {
		return nil, fmt.Errorf("read description: %w", err)
	}
	t, err := template.New("page").Funcs(template.FuncMap{"words": words}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return nil, fmt.Errorf("render page: %w", err)
	}
	return b.Bytes(), nil
}
