package reader

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// A notebookCell is a cell of a notebook of Jupyter, as versions 3 and 4 of the format have it.
type notebookCell struct {
	Kind    string          `json:"cell_type"`
	Source  json.RawMessage `json:"source"` // a text, or a list of its lines
	Input   json.RawMessage `json:"input"`  // the code, in version 3
	Outputs []struct {
		Text      json.RawMessage            `json:"text"`
		Data      map[string]json.RawMessage `json:"data"`
		HTML      json.RawMessage            `json:"html"` // in version 3
		Name      string                     `json:"ename"`
		Said      string                     `json:"evalue"`
		Traceback json.RawMessage            `json:"traceback"`
	} `json:"outputs"`
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
			w.code("output", joinLines(out.Text))
			plain, page := joinLines(out.Data["text/plain"]), joinLines(out.Data["text/html"])+joinLines(out.HTML)
			switch marked := joinLines(out.Data["text/markdown"]); {
			case marked != "":
				writeMarkdown(w, marked, false, 0)
				w.leaveOut("other forms of the same text", plain+page)
			case page != "" && (plain == "" || strings.HasPrefix(plain, "<")): // such as <IPython.core.display.HTML object>
				w.writeFragment(page)
				w.leaveOut("other forms of the same text", plain)
			default:
				w.code("output", plain)
				w.leaveOut("other forms of the same text", page)
			}
			w.code("output", strings.TrimSpace(out.Name+" "+out.Said))
			w.leaveOut("where in the code errors came from", joinLines(out.Traceback))
		}
	default:
		w.plain(source, 0)
		w.block()
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
