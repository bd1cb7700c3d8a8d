package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/template"
)

// QueryText returns what e, which is called name, is asked about for a query:
// its words or, where e has fragments, the one of them that fits. A mistake is
// an [apierr.Error].
func (e *Embedder) QueryText(ctx context.Context, name, q string, media map[string]json.RawMessage) (string, error) {
	wrong := func(format string, args ...any) (string, error) {
		return "", apierr.Newf(indexerr.VectorEmbeddingError, "Embedder `%.150s` "+format, append([]any{name}, args...)...)
	}
	switch {
	case !e.Fragmented() && media != nil:
		return wrong("makes vectors of texts alone: it has no `searchFragments` for the `media` of a query.")
	case !e.Fragmented():
		return q, nil
	case len(e.SearchFragments) == 0:
		return wrong("has no `searchFragments`: set them, or send the query's own vector in `vector`.")
	}
	all, err := template.ParseFragments(e.SearchFragments)
	if err != nil {
		return "", fmt.Errorf("read search fragments of embedder %q: %w", name, err)
	}
	with := map[string]any{}
	if strings.TrimSpace(q) != "" {
		with["q"] = q
	}
	if media != nil {
		raw, err := json.Marshal(media)
		if err != nil {
			return "", fmt.Errorf("encode media: %w", err)
		}
		var v map[string]any
		if err := template.DecodeNumbers(raw, &v); err != nil {
			return "", fmt.Errorf("decode media: %w", err)
		}
		with["media"] = template.Plain(v)
	}
	found, text := "", ""
	budget := template.NewBudget(ctx)
	for _, f := range all {
		rendered, ok := f.Render(budget, with)
		if ctx.Err() != nil {
			return "", fmt.Errorf("render search fragments: %w", ctx.Err())
		}
		switch {
		case !ok:
		case text != "":
			return wrong("has several search fragments that fit the query, `%.100s` and `%.100s` among them: send `media` that only one of them has all values of.", found, f.Name)
		default:
			found, text = f.Name, rendered
		}
	}
	if text == "" {
		return wrong("has no search fragment that fits the query: send all values, in `q` and `media`, that one of them shows; they are `%.300s`.", strings.Join(slices.Sorted(maps.Keys(e.SearchFragments)), "`, `"))
	}
	return text, nil
}
