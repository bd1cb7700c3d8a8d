package cli

import (
	"context"
	"encoding/json"

	"github.com/parley-search/parley/examples/quickstart"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/search/reader"
)

// seedSamples loads the films and the documentation, and returns how many films there are.
func (d demo) seedSamples(ctx context.Context, h *host.Host) (documents int, err error) {
	samples, err := d.samples(ctx)
	for i := 0; i < len(samples) && err == nil; i++ {
		documents, err = h.Seed(ctx, samples[i])
	}
	return documents, err
}

// samples are the documentation and the films, in this order.
func (d demo) samples(ctx context.Context) ([]host.Seed, error) {
	docs, err := host.Documentation(ctx, "https://github.com/parley-search/parley/blob/main/host")
	if err != nil {
		return nil, err
	}
	return []host.Seed{{
		Workspace:     docsIndex,
		Settings:      d.settings(docsIndex),
		Index:         docsIndex,
		IndexSettings: withDescription(reader.IndexSettings, "The documentation of Parley, this service: options, routes, plugins, security, telemetry."),
		Documents:     docs,
	}, {
		Workspace: demoWorkspace,
		Settings:  d.settings(demoIndex),
		Index:     demoIndex,
		IndexSettings: []byte(`{"searchableAttributes":["title","director","genre","distributor","basis","rated","year"],` +
			`"filterableAttributes":["director","genre","year","rated","imdb","minutes"],` +
			`"chat":{"description":"Films up to 2012: title, director, genre, year, length, rating, distributor and IMDb rating."}}`),
		Documents: quickstart.Movies,
	}}, nil
}

// withDescription adds to settings of an index what the model is told of it.
func withDescription(settings, description string) []byte {
	var m map[string]any
	_ = json.Unmarshal([]byte(settings), &m) // a constant
	m["chat"] = map[string]any{"description": description}
	b, _ := json.Marshal(m)
	return b
}
