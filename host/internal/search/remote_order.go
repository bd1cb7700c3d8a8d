package search

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A wireStep is an orderStep between two hosts.
type wireStep struct {
	Texts  *float64 `json:"texts,omitempty"` // the score, weighed
	Blank  bool     `json:"blank,omitempty"`
	Kind   string   `json:"kind,omitempty"` // "number", "text", "none", or "hidden": not for clients' eyes
	Number float64  `json:"number,omitempty"`
	Text   string   `json:"text,omitempty"`
	Geo    bool     `json:"geo,omitempty"`
	Down   bool     `json:"down,omitempty"`
}

// Order is what orders h beside the hits of another host, and what makes it
// distinct, as far as clients may see the values; see [FederationHeader].
func (h *FederatedHit) Order() (order, distinct json.RawMessage, byMeaning bool) {
	steps := make([]wireStep, len(h.order))
	for i := range h.order {
		steps[i] = h.order[i].wire(h.weight)
	}
	var err error
	if order, err = json.Marshal(steps); err == nil && !h.hidden {
		distinct, err = json.Marshal(h.distinct)
	}
	if err != nil {
		panic("search: encode the order of a hit: " + err.Error()) // numbers and texts
	}
	return order, distinct, h.byMeaning
}

func (s *orderStep) wire(weight float64) wireStep {
	if s.texts {
		return wireStep{Texts: new(s.score * weight), Blank: s.blank}
	}
	out := wireStep{Geo: s.kind == settings.GeoRule, Down: s.down}
	switch {
	case s.hidden:
		out.Kind = "hidden"
	case s.key.Kind == 0:
		out.Kind, out.Number = "number", s.key.Number
	case s.key.Kind == 1:
		out.Kind, out.Text = "text", s.key.Text
	default:
		out.Kind = "none"
	}
	return out
}

func (s *wireStep) step() orderStep {
	if s.Texts != nil {
		return orderStep{texts: true, score: *s.Texts, blank: s.Blank}
	}
	out := orderStep{kind: settings.FieldRule, down: s.Down, hidden: s.Kind == "hidden"}
	if s.Geo {
		out.kind = settings.GeoRule
	}
	switch s.Kind {
	case "number":
		out.key = folder.SortKey{Number: s.Number}
	case "text":
		out.key = folder.SortKey{Kind: 1, Text: s.Text}
	default:
		out.key = folder.SortKey{Kind: 2}
	}
	return out
}
