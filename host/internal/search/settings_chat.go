package search

import (
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
	params := map[string]any{}
	if p := c.Search; p.Limit != nil {
		params["limit"] = *p.Limit
	}
	if p := c.Search; p.MatchingStrategy != "" {
		params["matchingStrategy"] = p.MatchingStrategy
	}
	if p := c.Search; p.RankingScoreThreshold != nil {
		params["rankingScoreThreshold"] = *p.RankingScoreThreshold
	}
	template := c.DocumentTemplate
	if template == "" {
		template = defaultTemplate
	}
	return struct {
		Description string         `json:"description"`
		Template    string         `json:"documentTemplate"`
		MaxBytes    int            `json:"documentTemplateMaxBytes"`
		Search      map[string]any `json:"searchParameters"`
	}{c.Description, template, c.MaxBytes, params}
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
	})
}
