package search

import (
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/apierr"
)

// ChatSettings say how the chat uses an index.
type ChatSettings struct {
	Description      string // what the model is told of the index
	DocumentTemplate string // Liquid; "": the searchable attributes, "name: value" a line
	MaxBytes         int    // of a rendered document
	Search           ChatSearchParameters
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
	// maxTemplateBytes bounds what a template may be set to render.
	maxTemplateBytes = 64 << 10
	maxDescription   = 8 << 10
)

func defaultChat() ChatSettings { return ChatSettings{MaxBytes: defaultMaxBytes} }

// wire is c as a client sees it.
func (c *ChatSettings) wire() any {
	template := c.DocumentTemplate
	if template == "" {
		template = defaultTemplate
	}
	return struct {
		Description string         `json:"description"`
		Template    string         `json:"documentTemplate"`
		MaxBytes    int            `json:"documentTemplateMaxBytes"`
		Search      map[string]any `json:"searchParameters"`
	}{c.Description, template, c.MaxBytes, c.Search.wire()}
}

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

// query is a search of the chat for q.
func (p *ChatSearchParameters) query(q string) Query {
	out := Query{Q: q, Limit: p.Limit, MatchingStrategy: p.MatchingStrategy, Sort: p.Sort, Distinct: p.Distinct, AttributesToSearchOn: p.AttributesToSearchOn, Hybrid: p.Hybrid}
	if p.RankingScoreThreshold != nil {
		out.RankingScoreThreshold = *p.RankingScoreThreshold
	}
	return out
}

// patch reads an object over c: a value sets, null resets, what is absent
// stays; the same within searchParameters.
func (c *ChatSettings) patch(v value) error {
	d := defaultChat()
	return v.fields(map[string]fieldReader{
		"description":              orDefault(&c.Description, d.Description, func(v value, t *string) error { return v.text(t, maxDescription) }),
		"documentTemplate":         orDefault(&c.DocumentTemplate, d.DocumentTemplate, readChatTemplate),
		"documentTemplateMaxBytes": orDefault(&c.MaxBytes, d.MaxBytes, func(v value, n *int) error { return v.integer(n, 1, maxTemplateBytes) }),
		"searchParameters":         orDefault(&c.Search, d.Search, func(v value, p *ChatSearchParameters) error { return p.patch(v) }),
	})
}

// readChatTemplate reads a template; the default one, sent back, is none.
func readChatTemplate(v value, dst *string) error {
	var t string
	err := v.text(&t, maxTemplate)
	if err == nil && t == defaultTemplate {
		t = ""
	}
	if err == nil && t != "" {
		if _, err = parseTemplate(t); err != nil {
			err = fmt.Errorf("`%s`: %w", v.path, err)
		}
	}
	if err != nil {
		return apierr.Newf(apierr.InvalidChatSettingDocTemplate, "%s", ended(err.Error()))
	}
	*dst = t
	return nil
}

func (p *ChatSearchParameters) patch(v value) error {
	return v.fields(map[string]fieldReader{
		"limit": orDefault(&p.Limit, nil, func(v value, dst **int) error {
			*dst = new(int)
			return v.integer(*dst, 0, maxTotalHits)
		}),
		"matchingStrategy": orDefault(&p.MatchingStrategy, "", func(v value, s *Strategy) error { return choice(v, s, Last, All, Frequency) }),
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

// checkChat checks that the other settings let the chat search as it is to.
func (s *Settings) checkChat() error {
	p := &s.Chat.Search
	_, err := s.sortRules(p.Sort)
	if err == nil {
		_, err = s.distinct(p.Distinct)
	}
	for _, a := range p.AttributesToSearchOn {
		if err == nil && a != "*" && !s.searchableTop(a) {
			err = fmt.Errorf("attributesToSearchOn has `%.100s`, which is not among the setting searchableAttributes", a)
		}
	}
	if err == nil && p.Hybrid != nil {
		err = s.checkChatHybrid(p.Hybrid)
	}
	if e, ok := err.(*apierr.Error); ok {
		err = errors.New(e.Message)
	}
	if err != nil {
		err = fmt.Errorf("`chat.searchParameters`: %w", err)
	}
	return err
}

// checkChatHybrid checks the embedder of the chat's searches. It has to make
// vectors of what a model asks: nobody sends one along.
func (s *Settings) checkChatHybrid(h *Hybrid) error {
	if h.Embedder == "" {
		return errors.New("hybrid.embedder is missing: send the name of one of the setting embedders")
	}
	e, ok := s.Embedders[h.Embedder]
	switch {
	case !ok:
		return fmt.Errorf("hybrid.embedder is `%.100s`, which is not among the setting embedders", h.Embedder)
	case e.Source == UserProvided:
		return fmt.Errorf("hybrid.embedder is `%.100s`, whose source `%s` makes no vectors of what a model asks; name an embedder of source `%s` or `%s`, or set hybrid to null", h.Embedder, UserProvided, Rest, Composite)
	}
	asked, name := e.forQueries(h.Embedder)
	if _, err := asked.queryText(name, "what a model asks", nil); err != nil {
		return fmt.Errorf("hybrid.embedder is `%.100s`, which makes no vector of what a model asks: %s", h.Embedder, apierr.From(err).Message)
	}
	return nil
}
