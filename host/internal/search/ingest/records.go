// Package ingest turns what clients send into documents: [Records] reads a body of
// JSON, NDJSON or CSV record by record, in bounded memory, and a [Checker] makes a
// document of each, with its id, its place on Earth and the vectors that it brings.
// Errors are those that a client sees, and name the record.
//
// Nothing here knows of indexes: what is done with the documents is the business
// of package search.
package ingest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/lines"
	"github.com/parley-search/parley/host/internal/search/attribute"
)

// A BodyFormat is how a body holds documents.
type BodyFormat string

// The formats, by the word that comes after the slash in their content type.
const (
	JSON   BodyFormat = "json"     // an array of objects, or one object
	NDJSON BodyFormat = "x-ndjson" // an object a line
	CSV    BodyFormat = "csv"      // a line of names, then a line a document
)

// A Record is one document of a body, before anybody looked at what it holds:
// JSON in UTF-8. The bytes are good until the next one is read.
type Record struct {
	n    int // from 1
	Line int // that it begins at, from 1
	Body []byte
}

// A Records reads the documents of a body one after the other: its memory is
// that of the largest of them.
type Records interface {
	// next returns io.EOF after the last one. Any other error is an
	// [apierr.Error] about the body, or one of reading it.
	Next() (Record, error)
}

// NewRecords reads r. delimiter stands between the columns of CSV. lend is asked for the bytes
// by which a record is larger than those before; nil: nobody is.
func NewRecords(r io.Reader, f BodyFormat, delimiter byte, lend func(n int) error) Records {
	limit := &perRecord{r: r, lend: lend}
	b := bufio.NewReaderSize(limit, 64<<10)
	switch f {
	case NDJSON:
		limit.Records = &lineRecords{r: lines.NewReader(b, math.MaxInt)} // limit bounds it
	case CSV:
		limit.Records = newTable(b, delimiter)
	default:
		limit.Records = &jsonRecords{r: b, line: 1, column: 1}
	}
	return limit
}

// maxRecord bounds the bytes of one document, roughly: what bounds a body may
// be more than memory holds.
const maxRecord = 32 << 20

// A perRecord bounds what is read for one record.
type perRecord struct {
	Records
	r       io.Reader
	read    int // since the record before
	lend    func(n int) error
	largest int // what was lent for
}

func (p *perRecord) Next() (Record, error) {
	p.read = 0
	return p.Records.Next()
}

// Read implements [io.Reader].
func (p *perRecord) Read(b []byte) (int, error) {
	if p.read > maxRecord {
		return 0, apierr.Newf(apierr.MalformedPayload, "A document of the body is over %d MiB, or does not end.", maxRecord>>20)
	}
	n, err := p.r.Read(b)
	p.read += n
	if more := p.read - p.largest; more > 0 && p.lend != nil {
		if full := p.lend(more); full != nil {
			return n, full
		}
		p.largest = p.read
	}
	return n, err
}

// checkRecord wants b, which begins at a place of the body, to be one JSON
// value in UTF-8.
func checkRecord(b []byte, line, column int) error {
	if !json.Valid(b) {
		var v any
		err := json.Unmarshal(b, &v)
		at := len(b)
		if se, ok := errors.AsType[*json.SyntaxError](err); ok && !strings.HasPrefix(se.Error(), "unexpected end") {
			at = max(int(se.Offset)-1, 0)
		}
		return notJSON(err, b[:min(at, len(b))], line, column)
	}
	if !utf8.Valid(b) {
		at := 0
		for r, n := utf8.DecodeRune(b[at:]); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(b[at:]) {
			at += n
		}
		line, column = behind(b[:at], line, column)
		return apierr.Newf(apierr.MalformedPayload, "The body is not UTF-8, at line %d, column %d.", line, column)
	}
	return nil
}

func notJSON(err error, before []byte, line, column int) error {
	line, column = behind(before, line, column)
	return apierr.Newf(apierr.MalformedPayload, "The body is not JSON: %v, at line %d, column %d.", err, line, column)
}

// behind returns the place behind b, which begins at the given one.
func behind(b []byte, line, column int) (int, int) {
	breaks := bytes.Count(b, []byte("\n"))
	if breaks == 0 {
		return line, column + len(b)
	}
	return line + breaks, len(b) - bytes.LastIndexByte(b, '\n')
}

// lineRecords reads NDJSON. Empty lines count for nothing, and a line may have several
// objects.
type lineRecords struct {
	r    *lines.Reader
	rest []byte // of the line, in buf
	n    int
	line int
	buf  []byte // the line
}

func (l *lineRecords) Next() (Record, error) {
	for {
		if b := l.rest; len(b) > 0 {
			l.n++
			column := 1 + len(bytes.TrimRight(l.buf, "\r\n \t")) - len(b)
			l.rest = nil
			if at := endOfObject(b); at < len(b) {
				b, l.rest = b[:at], bytes.TrimSpace(b[at:])
			}
			return Record{l.n, l.line, b}, checkRecord(b, l.line, column)
		}
		b, err := l.r.Next()
		if err != nil {
			return Record{}, err
		}
		l.line++
		l.buf, l.rest = b, bytes.TrimSpace(b)
	}
}

// endOfObject is where the first of the objects in b ends, and len(b) where there is
// but one, or anything else.
func endOfObject(b []byte) int {
	d := json.NewDecoder(bytes.NewReader(b))
	var first json.RawMessage
	if json.Valid(b) || d.Decode(&first) != nil {
		return len(b)
	}
	at := int(d.InputOffset())
	if next := bytes.TrimSpace(b[at:]); first[0] != '{' || len(next) == 0 || next[0] != '{' {
		return len(b)
	}
	return at
}

// A table reads CSV: the first line names the fields, each with its type behind
// a colon ("price:number", "sold:boolean", else text). An empty cell is null. A
// cell "latitude,longitude" of the column `_geo` is a place.
type table struct {
	csv   *csv.Reader
	names [][]byte // as JSON
	types []byte   // 'n', 'b' or 't'
	n     int
	buf   []byte
}

func newTable(r *bufio.Reader, delimiter byte) *table {
	if b, _ := r.Peek(3); string(b) == "\xef\xbb\xbf" {
		_, _ = r.Discard(3) // the byte order mark that spreadsheets write
	}
	c := csv.NewReader(r)
	c.Comma = rune(delimiter)
	if delimiter == 0 {
		c.Comma = ','
	}
	c.ReuseRecord = true
	return &table{csv: c}
}

func (t *table) Next() (Record, error) {
	if t.names == nil {
		if err := t.header(); err != nil {
			return Record{}, err
		}
	}
	cells, err := t.csv.Read()
	if err != nil {
		return Record{}, csvFault(err)
	}
	t.n++
	line, _ := t.csv.FieldPos(0)
	t.buf = append(t.buf[:0], '{')
	for i, cell := range cells {
		if i > 0 {
			t.buf = append(t.buf, ',')
		}
		t.buf = append(append(t.buf, t.names[i]...), ':')
		if t.buf, err = t.cell(t.buf, i, cell, line); err != nil {
			return Record{}, err
		}
	}
	t.buf = append(t.buf, '}')
	return Record{t.n, line, t.buf}, nil
}

// header reads the line of names.
func (t *table) header() error {
	cells, err := t.csv.Read()
	if err != nil {
		return csvFault(err)
	}
	seen := map[string]bool{}
	for i, cell := range cells {
		name, kind := cell, byte('t')
		if n, typ, ok := attribute.CutLast(cell, ":"); ok {
			switch typ {
			case "number":
				name, kind = n, 'n'
			case "boolean":
				name, kind = n, 'b'
			case "string":
				name = n
			}
		}
		if !utf8.ValidString(name) {
			return apierr.Newf(apierr.MalformedPayload, "Column %d of the CSV has a name that is not UTF-8.", i+1)
		}
		if seen[name] {
			return apierr.Newf(apierr.MalformedPayload, "Two columns of the CSV are called `%.100s`.", name)
		}
		seen[name] = true
		t.names = append(t.names, quote(name))
		t.types = append(t.types, kind)
	}
	return nil
}

// cell appends the value of a cell as JSON.
func (t *table) cell(b []byte, i int, cell string, line int) ([]byte, error) {
	bad := func(is string) ([]byte, error) {
		return nil, apierr.Newf(apierr.MalformedPayload, "Line %d of the CSV, column %s: `%.100s` is %s.", line, t.names[i], cell, is)
	}
	if strings.TrimSpace(cell) == "" && (t.types[i] != 't' || cell == "") {
		return append(b, "null"...), nil
	}
	switch t.types[i] {
	case 'n':
		n := strings.TrimSpace(cell)
		if !jsonNumber(n) {
			return bad("not a number")
		}
		return append(b, n...), nil
	case 'b':
		switch n := strings.ToLower(strings.TrimSpace(cell)); n {
		case "true", "false":
			return append(b, n...), nil
		}
		return bad("neither true nor false")
	}
	if !utf8.ValidString(cell) {
		return nil, apierr.Newf(apierr.MalformedPayload, "Line %d of the CSV, column %s: it is not UTF-8.", line, t.names[i])
	}
	if string(t.names[i]) == `"`+attribute.Geo+`"` {
		if b, ok := appendPlace(b, cell); ok {
			return b, nil
		}
	}
	return append(b, quote(cell)...), nil
}

// jsonNumber reports whether a text is a number as JSON writes them.
func jsonNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && json.Valid([]byte(s))
}

// csvFault is an error of the CSV, or of reading it, as a client reads it.
func csvFault(err error) error {
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return apierr.Newf(apierr.MalformedPayload, "Line %d of the CSV, byte %d: %s.", pe.Line, pe.Column, strings.TrimPrefix(fmt.Sprint(pe.Err), "parse error: "))
	}
	return err
}

// quote writes s as JSON, without escaping what only HTML minds.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("encode string: " + err.Error()) // a string has no way to fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// EachRecord calls f for each document of a body, whatever it holds, and
// returns the first error, [io.EOF] at the end. The bytes are good within f
// only.
func EachRecord(r io.Reader, format BodyFormat, delimiter byte, f func(Record) error) error {
	records := NewRecords(r, format, delimiter, nil)
	for {
		rec, err := records.Next()
		if err != nil {
			return err
		}
		if err := f(rec); err != nil {
			return err
		}
	}
}
