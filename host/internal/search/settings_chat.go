package search

import (
	"encoding/json"
	"fmt"
	"strings"

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
func (c *ChatSettings) patch(v json.RawMessage) error {
	d := defaultChat()
	return patchObject(v, "chat", map[string]func(json.RawMessage, bool) error{
		"description": func(v json.RawMessage, null bool) error {
			if null {
				c.Description = d.Description
				return nil
			}
			if err := readText(v, maxDescription, &c.Description); err != nil {
				return fmt.Errorf("description %w", err)
			}
			return nil
		},
		"documentTemplate": func(v json.RawMessage, null bool) error {
			if null {
				c.DocumentTemplate = ""
				return nil
			}
			var t string
			err := readText(v, maxTemplate, &t)
			if err == nil && t == defaultTemplate {
				t = ""
			}
			if err == nil && t != "" {
				_, err = parseTemplate(t)
			}
			if err != nil {
				return apierr.Newf(apierr.InvalidChatSettingDocTemplate, "Setting `chat.documentTemplate`: %s.", err)
			}
			c.DocumentTemplate = t
			return nil
		},
		"documentTemplateMaxBytes": func(v json.RawMessage, null bool) error {
			if null {
				c.MaxBytes = d.MaxBytes
				return nil
			}
			n, err := readInt(v, 1, maxTemplateBytes)
			if err != nil {
				return fmt.Errorf("documentTemplateMaxBytes %w", err)
			}
			c.MaxBytes = n
			return nil
		},
		"searchParameters": func(v json.RawMessage, null bool) error {
			if null {
				c.Search = ChatSearchParameters{}
				return nil
			}
			return c.Search.patch(v)
		},
	})
}

func (p *ChatSearchParameters) patch(v json.RawMessage) error {
	return patchObject(v, "chat.searchParameters", map[string]func(json.RawMessage, bool) error{
		"limit": func(v json.RawMessage, null bool) error {
			if p.Limit = nil; null {
				return nil
			}
			n, err := readInt(v, 0, maxTotalHits)
			if err != nil {
				return fmt.Errorf("searchParameters.limit %w", err)
			}
			p.Limit = &n
			return nil
		},
		"matchingStrategy": func(v json.RawMessage, null bool) error {
			if p.MatchingStrategy = ""; null {
				return nil
			}
			switch s := Strategy(strings.Trim(string(v), `"`)); s {
			case Last, All, Frequency:
				p.MatchingStrategy = s
				return nil
			}
			return fmt.Errorf("searchParameters.matchingStrategy is %.100s; expected \"last\", \"all\" or \"frequency\"", v)
		},
		"rankingScoreThreshold": func(v json.RawMessage, null bool) error {
			if p.RankingScoreThreshold = nil; null {
				return nil
			}
			f, ok := number(v)
			if !ok || f < 0 || f > 1 {
				return fmt.Errorf("searchParameters.rankingScoreThreshold is %.100s; expected a number from 0 to 1", v)
			}
			p.RankingScoreThreshold = &f
			return nil
		},
	})
}

// patchObject calls the reader of each member of v; null says that it is to be
// reset.
func patchObject(v json.RawMessage, path string, readers map[string]func(v json.RawMessage, null bool) error) error {
	if v[0] != '{' {
		return fmt.Errorf("%s is %s; expected an object or null", path, jsonType(v))
	}
	var err error
	eachMember(v, func(rawKey, v []byte) bool {
		key := unquote(rawKey)
		read, ok := readers[key]
		if !ok {
			err = fmt.Errorf("unknown field `%.100s` in %s; known are %s", key, path, strings.Join(sortedKeys(readers), ", "))
		} else {
			err = read(v, v[0] == 'n')
		}
		return err == nil
	})
	return err
}

func readText(v json.RawMessage, limit int, dst *string) error {
	if v[0] != '"' {
		return fmt.Errorf("is %s; expected a string or null", jsonType(v))
	}
	s := unquote(v)
	if len(s) > limit {
		return fmt.Errorf("has %d bytes; expected at most %d", len(s), limit)
	}
	*dst = s
	return nil
}

func readInt(v json.RawMessage, low, high int) (int, error) {
	var n int
	if err := json.Unmarshal(v, &n); err != nil || n < low || n > high {
		return 0, fmt.Errorf("is %.100s; expected a whole number from %d to %d", v, low, high)
	}
	return n, nil
}
