package federate

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/rank"
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
// distinct, as far as clients may see the values; see [Header].
func (h *Hit) Order() (order, distinct json.RawMessage, byMeaning bool) {
	steps := make([]wireStep, len(h.Place.Order))
	for i := range h.Place.Order {
		steps[i] = newWireStep(&h.Place.Order[i], h.weight)
	}
	var err error
	if order, err = json.Marshal(steps); err == nil && !h.Place.Hidden {
		distinct, err = json.Marshal(h.Place.Distinct)
	}
	if err != nil {
		panic("search: encode the order of a hit: " + err.Error()) // numbers and texts
	}
	return order, distinct, h.Place.ByMeaning
}

func newWireStep(s *rank.OrderStep, weight float64) wireStep {
	if s.Texts {
		return wireStep{Texts: new(s.Score * weight), Blank: s.Blank}
	}
	out := wireStep{Geo: s.Kind == settings.GeoRule, Down: s.Down}
	switch {
	case s.Hidden:
		out.Kind = "hidden"
	case s.Key.Kind == 0:
		out.Kind, out.Number = "number", s.Key.Number
	case s.Key.Kind == 1:
		out.Kind, out.Text = "text", s.Key.Text
	default:
		out.Kind = "none"
	}
	return out
}

func (s *wireStep) step() rank.OrderStep {
	if s.Texts != nil {
		return rank.OrderStep{Texts: true, Score: *s.Texts, Blank: s.Blank}
	}
	out := rank.OrderStep{Kind: settings.FieldRule, Down: s.Down, Hidden: s.Kind == "hidden"}
	if s.Geo {
		out.Kind = settings.GeoRule
	}
	switch s.Kind {
	case "number":
		out.Key = bleveindex.SortKey{Number: s.Number}
	case "text":
		out.Key = bleveindex.SortKey{Kind: 1, Text: s.Text}
	default:
		out.Key = bleveindex.SortKey{Kind: 2}
	}
	return out
}
