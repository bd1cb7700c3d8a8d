package indexapi

import (
	"math"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/retrieval"
)

// passagesRequest asks for passages beside the hits of a search by itself.
type passagesRequest struct {
	MaxBytes *int `json:"maxBytes"` // null: as the index's chat settings say
	Explain  bool `json:"explain"`  // say why these were found
}

// passagesBody are the places of documents that answer a question, best first.
type passagesBody struct {
	// Coverage is how much of the question, by what its words are worth, one of the best has: 0 to 1.
	Coverage float64          `json:"coverage"`
	Hits     []passageBody    `json:"hits"`
	Words    []retrieval.Word `json:"words,omitempty"`  // of the question, the worthiest first
	NoRoom   *int             `json:"noRoom,omitempty"` // further passages that have a word of it
}

type passageBody struct {
	ID       string   `json:"id"`   // of the document
	Name     string   `json:"name"` // of the place: file › heading
	Title    string   `json:"title"`
	URL      string   `json:"url,omitempty"`
	Text     string   `json:"text"`
	Coverage *float64 `json:"coverage,omitempty"` // of this passage, where the answer is explained
}

// passages finds what a request asks for; nil where it asks for none.
func (s *Server) passages(r *request.Call, uid string, q search.Query, asked *passagesRequest) (*passagesBody, error) {
	if asked == nil {
		return nil, nil
	}
	size := 0
	if asked.MaxBytes != nil {
		size = max(*asked.MaxBytes, 1) // 0 is no size either
	}
	found, err := s.Search.Passages(r.Base, r.Caller, uid, q, size)
	if err != nil {
		return nil, err
	}
	b := &passagesBody{Hits: []passageBody{}}
	if found.Coverage != nil {
		b.Coverage = math.Round(*found.Coverage*100) / 100
	}
	if asked.Explain {
		b.Words, b.NoRoom = found.Words, &found.NoRoom
	}
	for _, h := range found.Hits {
		p := passageBody{ID: h.ID, Name: h.Name(), Title: h.Title, URL: h.URL, Text: h.Text}
		if asked.Explain {
			p.Coverage = new(math.Round(h.Score*100) / 100)
		}
		b.Hits = append(b.Hits, p)
	}
	return b, nil
}
