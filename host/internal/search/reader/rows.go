package reader

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// readCSV reads rows below the names of their columns, which are in the first row. What is between columns is
// the character of those that tables have of which the first row has most.
func readCSV(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(text, "\n")
	comma, most := ',', 0
	for _, c := range ",;\t|" {
		if n := strings.Count(first, string(c)); n > most {
			comma, most = c, n
		}
	}
	if strings.Count(text, string(comma))+strings.Count(text, "\n") > maxCells {
		return nil, fmt.Errorf("it has more than %d cells: split it into several files", maxCells)
	}
	r := csv.NewReader(newInput(ctx, text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = comma, -1, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read it as CSV: %w", err)
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	w.sheet(rows)
	w.finish(p)
	return p, nil
}

// readNDJSON reads a JSON object a line as rows.
func readNDJSON(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	var records []json.RawMessage
	d := json.NewDecoder(newInput(ctx, text))
	for {
		var record json.RawMessage
		if err := d.Decode(&record); errors.Is(err, io.EOF) {
			break
		} else if err != nil { // as the lines are
			records = nil
			break
		}
		if records = append(records, record); len(records) > maxCells {
			return nil, fmt.Errorf("it has more than %d rows: split it into several files", maxCells)
		}
	}
	if !w.objects(records) {
		w.codeLines("json", withoutEscapes(text))
	}
	w.finish(p)
	return p, nil
}

// readJSON reads an array of objects, or an object with one, as rows, and other JSON as it is.
func readJSON(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	var list []json.RawMessage
	var members map[string]json.RawMessage
	switch {
	case strings.Count(text, ",") > maxCells:
		w.code("json", withoutEscapes(text))
	case json.Unmarshal([]byte(text), &list) == nil && w.objects(list):
	case json.Unmarshal([]byte(text), &members) == nil && len(members) == 1 && w.onlyMember(members):
	default:
		w.codeLines("json", withoutEscapes(text))
	}
	w.finish(p)
	return p, nil
}

func (w *writer) onlyMember(members map[string]json.RawMessage) bool {
	for name, value := range members {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || len(list) == 0 || list[0] == nil || bytes.TrimSpace(list[0])[0] != '{' {
			return false
		}
		w.heading(2, clip(name, maxTitle), "")
		return w.objects(list)
	}
	return false
}

// objects writes JSON objects as the rows of a table, whose columns are their members in the order in which they
// come. It reports false, and writes nothing, where they are no objects.
func (w *writer) objects(list []json.RawMessage) bool {
	if len(list) == 0 {
		return false
	}
	var names []string
	places := map[string]int{}
	rows := make([][]string, 0, len(list)+1)
	rows = append(rows, nil)
	cells := 0
	for _, raw := range list {
		d := json.NewDecoder(bytes.NewReader(raw))
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return false
		}
		row := make([]string, len(names))
		for d.More() {
			key, err := d.Token()
			name, ok := key.(string)
			var value json.RawMessage
			if err != nil || !ok || d.Decode(&value) != nil {
				return false
			}
			at, known := places[name]
			if !known {
				at = len(names)
				places[name] = at
				names = append(names, name)
			}
			for len(row) <= at {
				row = append(row, "")
			}
			row[at] = valueText(value)
		}
		if cells += len(row) + 1; cells > maxCells || len(names) > maxColumns {
			return false
		}
		rows = append(rows, row)
	}
	rows[0] = slices.Clone(names)
	w.table(rows, 1)
	return true
}

// valueText is a JSON value as text: a text as it is, and a list of them behind each other.
func valueText(raw json.RawMessage) string {
	var text string
	var list []string
	switch {
	case string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &list) == nil:
		return strings.Join(list, ", ")
	}
	return withoutEscapes(string(raw))
}

// escaped is an escape of JSON.
var escaped = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4})+|\\.`)

// withoutEscapes has letters of JSON that are written by their number, which could not be found, as they are, and
// spaces for the ends of lines within a text, however these are written: each line stays where it is.
func withoutEscapes(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(e string) string {
		var plain string
		switch {
		case e == `\n` || e == `\r` || e == `\t` || e == `\f` || e == `\b`:
			return " "
		case strings.HasPrefix(e, `\u`) && json.Unmarshal([]byte(`"`+e+`"`), &plain) == nil && !strings.ContainsAny(plain, `"\`):
			return strings.Map(func(r rune) rune {
				if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
					return ' '
				}
				return r
			}, plain)
		}
		return e
	})
}
