package search

import (
	"context"
	"io"
	"strconv"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/text"
)

// What the tests see of the inside.

// Records calls f for the documents of a body and returns the error behind the
// last.
func Records(r io.Reader, format ingest.BodyFormat, delimiter byte, f func(line int, body []byte)) error {
	records := ingest.NewRecords(r, format, delimiter, nil)
	for {
		r, err := records.Next()
		if err != nil {
			return err
		}
		f(r.Line, r.Body)
	}
}

// Dedupe is what is done to a document in which a name comes twice.
var Dedupe = ingest.Dedupe

// Enter takes a place among the searches that run.
func (s *Service) Enter(ctx context.Context) (leave func(), err error) { return s.gate.enter(ctx) }

// ParseQuery writes what a query asks for: units by words, phrases in quotes,
// what goes on with a star, what is excluded with a minus.
func ParseQuery(q string, stop ...string) (units []string) {
	qp := text.QueryParser{Prefix: true, Analyzer: text.NewAnalyzer(nil, nil, nil, stop, nil)}
	p := qp.Parse(q)
	for _, u := range p.Units {
		s := text.JoinTerms(u.Words)
		if u.Phrase {
			s = strconv.Quote(s)
		}
		if u.Prefix {
			s += "*"
		}
		units = append(units, s)
	}
	for _, ws := range p.Excluded {
		units = append(units, "-"+text.JoinTerms(ws))
	}
	return units
}

// Waiting is how many searches wait.
func (s *Service) Waiting() int { return int(s.gate.waiting.Load()) }

// StopRepairs keeps folders as they are until the service is opened anew.
func StopRepairs(s *Service) { s.indexes.StopRepairs() }

// MemoryUsed is what Go has from the system and uses, in bytes.
func MemoryUsed() int64 { return bleveindex.ReadMemory().Used() }

// CountVectors counts what an index has of vectors anew.
func (s *Service) CountVectors(ctx context.Context, uid string) (documents, vectors int, err error) {
	m := s.indexes.Find(uid).Meta().Clone()
	err = index.RecountVectors(ctx, s.opts.DB, m)
	return m.Vectors.Documents, m.Vectors.Vectors, err
}

// QuestionPairs is how many words of a question are looked up joined, and how many pairs of characters.
func QuestionPairs(q string) (joined, pairs int) {
	_, of, both := questionWords(text.NewAnalyzer(nil, nil, nil, nil, nil), q)
	for _, list := range of {
		joined += len(list)
	}
	return joined, len(both)
}
