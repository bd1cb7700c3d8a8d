package settings

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/template"
)

// ChatSettings say how the chat uses an index.
type ChatSettings struct {
	Description      string // what the model is told of the index
	DocumentTemplate string // Liquid; "": the searchable attributes, "name: value" a line
	MaxBytes         int    // of a rendered document
	// PassagesOff: a search answers with the beginnings of documents, as it does where there is a template
	// or MaxBytes was set. Else it answers with the passages that were found.
	PassagesOff  bool
	PassageBytes int // of a passage; 0: 1500
	ResultBytes  int // of a search's answer in passages; 0: 8000
	Search       ChatSearchParameters
}

// Sizes of passages, in bytes.
const (
	defaultPassageBytes, minPassageBytes, maxPassageBytes = 1500, 200, 8000
	defaultResultBytes, minResultBytes, maxResultBytes    = 8000, 500, 64000
)

func (c *ChatSettings) PassageLimit() int { return cmp.Or(c.PassageBytes, defaultPassageBytes) }
func (c *ChatSettings) ResultLimit() int  { return cmp.Or(c.ResultBytes, defaultResultBytes) }

// Passages reports whether a search for q answers with passages. What somebody set about how documents
// are shown goes before, so that settings made for that keep their meaning; a default that is sent back
// sets nothing.
func (c *ChatSettings) Passages(q string) bool {
	set := c.DocumentTemplate != "" || c.MaxBytes != defaultMaxBytes || c.Search.Sort != nil
	return !c.PassagesOff && !set && strings.TrimSpace(q) != ""
}

// passagesWire is the setting passages.
func (c *ChatSettings) passagesWire() string {
	if c.PassagesOff {
		return "off"
	}
	return "auto"
}

// ChatSearchParameters hold for each search of the chat.
type ChatSearchParameters struct {
	Limit                 *int
	MatchingStrategy      Strategy // "": last
	RankingScoreThreshold *float64
	Sort                  []string // nil: as the setting rankingRules says
	Distinct              string   // "": as the setting distinctAttribute says
	AttributesToSearchOn  []string // nil: all that are searchable
	Hybrid                *Hybrid  // nil: by words alone
}

const (
	defaultMaxBytes = 400
	// MaxRenderedBytes bounds what a template may be set to render.
	MaxRenderedBytes = 64 << 10
	maxDescription   = 8 << 10
)

func defaultChat() ChatSettings { return ChatSettings{MaxBytes: defaultMaxBytes} }

// wire is c as a client sees it.
func (c *ChatSettings) wire() any {
	return struct {
		Description string         `json:"description"`
		Template    string         `json:"documentTemplate"`
		MaxBytes    int            `json:"documentTemplateMaxBytes"`
		Passages    string         `json:"passages"`
		Passage     int            `json:"passageMaxBytes"`
		Result      int            `json:"resultMaxBytes"`
		Search      map[string]any `json:"searchParameters"`
	}{c.Description, ShownTemplate(c.DocumentTemplate), c.MaxBytes, c.passagesWire(), c.PassageLimit(), c.ResultLimit(), c.Search.wire()}
}

// ShownTemplate is a template as a client sees it; "" is the default one.
func ShownTemplate(template string) string { return cmp.Or(template, defaultTemplate) }

// wire is what of p is set.
func (p *ChatSearchParameters) wire() map[string]any {
	m := map[string]any{}
	if p.Limit != nil {
		m["limit"] = *p.Limit
	}
	if p.MatchingStrategy != "" {
		m["matchingStrategy"] = p.MatchingStrategy
	}
	if p.RankingScoreThreshold != nil {
		m["rankingScoreThreshold"] = *p.RankingScoreThreshold
	}
	if p.Sort != nil {
		m["sort"] = p.Sort
	}
	if p.Distinct != "" {
		m["distinct"] = p.Distinct
	}
	if p.AttributesToSearchOn != nil {
		m["attributesToSearchOn"] = p.AttributesToSearchOn
	}
	if h := p.Hybrid; h != nil {
		m["hybrid"] = struct {
			Embedder string  `json:"embedder"`
			Ratio    float64 `json:"semanticRatio"`
		}{h.Embedder, *h.SemanticRatio}
	}
	return m
}

// patch reads an object over c: a value sets, null resets, what is absent
// stays; the same within searchParameters.
func (c *ChatSettings) patch(v value) error {
	d := defaultChat()
	return v.fields(map[string]fieldReader{
		"description":              orDefault(&c.Description, d.Description, func(v value, t *string) error { return v.text(t, maxDescription) }),
		"documentTemplate":         orDefault(&c.DocumentTemplate, d.DocumentTemplate, readChatTemplate),
		"documentTemplateMaxBytes": orDefault(&c.MaxBytes, d.MaxBytes, func(v value, n *int) error { return v.integer(n, 1, MaxRenderedBytes) }),
		"passages": orDefault(&c.PassagesOff, false, func(v value, off *bool) error {
			var s string
			err := choice(v, &s, "auto", "off")
			*off = s == "off"
			return err
		}),
		"passageMaxBytes":  orDefault(&c.PassageBytes, 0, func(v value, n *int) error { return v.integer(n, minPassageBytes, maxPassageBytes) }),
		"resultMaxBytes":   orDefault(&c.ResultBytes, 0, func(v value, n *int) error { return v.integer(n, minResultBytes, maxResultBytes) }),
		"searchParameters": orDefault(&c.Search, d.Search, func(v value, p *ChatSearchParameters) error { return p.patch(v) }),
	})
}

// readChatTemplate reads a template; the default one, sent back, is none.
func readChatTemplate(v value, dst *string) error {
	var t string
	err := v.text(&t, template.MaxSource)
	if err == nil && t == defaultTemplate {
		t = ""
	}
	if err == nil && t != "" {
		if _, err = template.Parse(t); err != nil {
			err = fmt.Errorf("`%s`: %w", v.path, err)
		}
	}
	if err != nil {
		return apierr.Newf(indexerr.InvalidChatSettingDocTemplate, "%s", EndSentence(err.Error()))
	}
	*dst = t
	return nil
}

func (p *ChatSearchParameters) patch(v value) error {
	return v.fields(map[string]fieldReader{
		"limit": orDefault(&p.Limit, nil, func(v value, dst **int) error {
			*dst = new(int)
			return v.integer(*dst, 0, MaxTotalHits)
		}),
		"matchingStrategy": orDefault(&p.MatchingStrategy, "", func(v value, s *Strategy) error { return choice(v, s, Last, All, Frequency, Any) }),
		"rankingScoreThreshold": orDefault(&p.RankingScoreThreshold, nil, func(v value, dst **float64) error {
			*dst = new(float64)
			return v.number(*dst, 0, 1)
		}),
		"sort": orDefault(&p.Sort, nil, func(v value, dst *[]string) error {
			return v.names(dst, "sort criteria such as \"year:desc\"", func(v value, text string) error {
				if _, err := parseCriterion(text); err != nil {
					return fmt.Errorf("%w: %w", v.wrong("a sort criterion"), err)
				}
				return nil
			})
		}),
		"distinct":             orDefault(&p.Distinct, "", readAttribute),
		"attributesToSearchOn": orDefault(&p.AttributesToSearchOn, nil, readStarred),
		"hybrid":               orDefault(&p.Hybrid, nil, readHybrid),
	})
}

// defaultRatio weighs meaning and words alike.
const defaultRatio = 0.5

// readHybrid reads an object over what dst has.
func readHybrid(v value, dst **Hybrid) error {
	embedder, ratio := "", defaultRatio
	if h := *dst; h != nil {
		embedder, ratio = h.Embedder, *h.SemanticRatio
	}
	err := v.fields(map[string]fieldReader{
		"embedder":      orDefault(&embedder, "", func(v value, name *string) error { return v.name(name, "the name of an embedder") }),
		"semanticRatio": orDefault(&ratio, defaultRatio, func(v value, f *float64) error { return v.number(f, 0, 1) }),
	})
	*dst = &Hybrid{embedder, &ratio}
	return err
}
