package reader

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A notebookCell is a cell of a notebook of Jupyter, as versions 3 and 4 of the format have it.
type notebookCell struct {
	Kind   string          `json:"cell_type"`
	Source json.RawMessage `json:"source"` // a text, or a list of its lines
	Input  json.RawMessage `json:"input"`  // the code, in version 3
	// Outputs are what was printed, in text, or the forms of one thing, in data; version 3 has these beside it.
	Outputs     []map[string]json.RawMessage `json:"outputs"`
	Attachments map[string]json.RawMessage   `json:"attachments"` // pictures that the text shows
}

// readNotebook reads a notebook of Jupyter: its text, code, and what the code printed.
func readNotebook(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	var book struct {
		Cells      []notebookCell `json:"cells"`
		Worksheets []struct {
			Cells []notebookCell `json:"cells"`
		} `json:"worksheets"`
		Metadata struct {
			Language struct {
				Name string `json:"name"`
			} `json:"language_info"`
		} `json:"metadata"`
	}
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &book); err != nil {
		return nil, fmt.Errorf("read it as a notebook: %w", err)
	}
	for _, sheet := range book.Worksheets {
		book.Cells = append(book.Cells, sheet.Cells...)
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	for i := range book.Cells {
		w.cell(&book.Cells[i], book.Metadata.Language.Name)
	}
	w.finish(p)
	return p, nil
}

// cell writes a cell of a notebook in a language.
func (w *writer) cell(cell *notebookCell, language string) {
	source := joinLines(cell.Source)
	switch cell.Kind {
	case "markdown":
		writeMarkdown(w, source, false, 0)
	case "heading":
		w.heading(2, source, "")
	case "code":
		w.code(language, source+joinLines(cell.Input))
		for _, out := range cell.Outputs {
			w.output(out)
		}
	default:
		w.plain(source, 0)
		w.block()
	}
	if n := len(cell.Attachments); n > 0 {
		w.noteLeft("pictures", n)
	}
}

// formerKinds are the kinds of the forms that an output has in version 3.
var formerKinds = map[string]string{"html": "text/html", "latex": "text/latex", "json": "application/json", "svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg", "pdf": "application/pdf", "javascript": "application/javascript"}

// richKinds are the kinds of the forms that are text, those first that say it best.
var richKinds = []string{"text/markdown", "text/html", "text/latex", "image/svg+xml", "application/json"}

// output writes what a cell printed, or one form of what it shows: the plain one, unless that only names a thing, such
// as <IPython.core.display.HTML object>.
func (w *writer) output(out map[string]json.RawMessage) {
	printed, forms := joinLines(out["text"]), map[string]json.RawMessage{}
	_ = json.Unmarshal(out["data"], &forms)
	for name, kind := range formerKinds {
		if raw := out[name]; raw != nil {
			forms[kind], forms["text/plain"], printed = raw, out["text"], ""
		}
	}
	w.printed(printed)
	plain, best := joinLines(forms["text/plain"]), "text/plain"
	for _, kind := range richKinds {
		isStub := plain == "" || strings.HasPrefix(plain, "<")
		if (isStub || kind == "text/markdown") && joinLines(forms[kind]) != "" {
			best = kind
			break
		}
	}
	switch text := joinLines(forms[best]); best {
	case "text/markdown":
		writeMarkdown(w, text, false, 0)
	case "text/html", "image/svg+xml":
		w.writeFragment(text)
	case "text/latex":
		w.code("latex", text)
	default:
		w.printed(text)
	}
	for kind, raw := range forms {
		switch {
		case strings.HasPrefix(kind, "image/"):
			w.noteLeft("pictures", 1)
		case kind == best:
		case strings.HasPrefix(kind, "text/"), slices.Contains(richKinds, kind):
			w.leaveOut(otherForms, joinLines(raw))
		default:
			w.noteLeft("controls and scripts of outputs", 1)
		}
	}
	w.printed(strings.TrimSpace(joinLines(out["ename"]) + " " + joinLines(out["evalue"])))
	w.leaveOut("where in the code errors came from", joinLines(out["traceback"]))
}

// printed writes what code printed, if anything.
func (w *writer) printed(text string) {
	if strings.TrimSpace(text) != "" {
		w.code("output", text)
	}
}

// joinLines is a text of a notebook.
func joinLines(raw json.RawMessage) string {
	var list []string
	if len(raw) == 0 {
		return ""
	}
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, "")
	}
	return valueText(raw)
}
