package indexapi

import (
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/search"
)

// SearchIndex answers POST /indexes/:uid/search.
func (s *Server) SearchIndex(r *request.Call) error {
	var b struct {
		searchRequest
		Passages *passagesRequest `json:"passages"`
	}
	if err := r.Decode(&b, soloFields); err != nil {
		return err
	}
	if err := b.Personalize.check("personalize"); err != nil {
		return err
	}
	return s.find(r, b.query(), b.Passages, b.performance())
}

func (s *Server) find(r *request.Call, q search.Query, asked *passagesRequest, performance bool) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	answer := r.NewDocuments(`{"hits":[`)
	q.Show = showIn(answer, q.ShowRankingScore)
	res, err := s.Search.Search(r.Base, r.Caller, uid, q)
	if err != nil {
		return err
	}
	r.Found = res
	b := newSearchBody(res, &q, performance)
	b.Metadata = s.metadata(r, uid, "")
	q.Show = nil
	if b.Passages, err = s.passages(r, uid, q, asked); err != nil {
		return err
	}
	if err := answer.CloseList(b); err != nil {
		return err
	}
	return answer.End()
}

// metadata says what a search was, where its client asks for that by a header.
type metadata struct {
	QueryUID   string `json:"queryUid"`
	IndexUID   string `json:"indexUid"`
	PrimaryKey string `json:"primaryKey,omitempty"` // "": not known, as of an index on a remote
	Remote     string `json:"remote,omitempty"`     // that answered; "": this host
}

func (s *Server) metadata(r *request.Call, uid, remote string) *metadata {
	if r.Get("Meili-Include-Metadata") == "" {
		return nil
	}
	m := &metadata{QueryUID: newRequestUID(), IndexUID: uid, Remote: remote}
	if info, err := s.Search.Index(r.Caller, uid); err == nil && remote == "" {
		m.PrimaryKey = info.PrimaryKey
	}
	return m
}

// showIn returns what writes a hit into an answer, with its score or without.
func showIn(answer *request.Documents, score bool) func(h *search.Hit) error {
	return func(h *search.Hit) error {
		answer.Add(h.Document, membersOf(h, score)...)
		return nil
	}
}
