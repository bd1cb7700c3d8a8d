package settings

// wireEmbedders is what clients see of embedders, of each what its source has;
// kept: what our records hold.
func wireEmbedders(all map[string]Embedder, kept bool) any {
	out := make(map[string]any, len(all))
	for name, e := range all {
		m := map[string]any{}
		if e.Source == Rest || kept {
			m = e.wireRest(kept)
			m["documentTemplate"], m["documentTemplateMaxBytes"] = OrNull(e.DocumentTemplate), e.MaxBytes
		}
		m["source"] = e.Source
		if e.BinaryQuantized || kept {
			m["binaryQuantized"] = e.BinaryQuantized
		}
		if e.Distribution != nil || kept {
			m["distribution"] = e.Distribution.wire()
		}
		if e.Source != Composite {
			m["dimensions"] = positive(e.Dimensions)
		}
		if s := e.Searching; s != nil {
			m[searchingPart] = s.wireRest(kept)
		}
		if i := e.Indexing; i != nil {
			part := i.wireRest(kept)
			part["documentTemplate"], part["documentTemplateMaxBytes"] = OrNull(i.DocumentTemplate), i.MaxBytes
			m[indexingPart] = part
		}
		out[name] = m
	}
	return out
}

// wireRest is what clients see of what e sends to an API.
func (e *Embedder) wireRest(kept bool) map[string]any {
	m := map[string]any{
		"source":     e.Source,
		"url":        OrNull(e.URL),
		"apiKey":     e.Key.wire(kept),
		"dimensions": positive(e.Dimensions),
		"request":    e.Request,
		"response":   e.Response,
		"headers":    wireHeaders(e.Headers, kept),
	}
	if e.Headers == nil && !kept {
		m["headers"] = map[string]string{}
	}
	if len(e.IndexingFragments) > 0 {
		m["indexingFragments"] = wireFragments(e.IndexingFragments)
	}
	if len(e.SearchFragments) > 0 {
		m["searchFragments"] = wireFragments(e.SearchFragments)
	}
	return m
}

func (d *Distribution) wire() any {
	if d == nil {
		return nil
	}
	return struct {
		Mean  float64 `json:"mean"`
		Sigma float64 `json:"sigma"`
	}{d.Mean, d.Sigma}
}

// positive is n, or nil where it is zero.
func positive(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
