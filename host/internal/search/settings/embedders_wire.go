package settings

// wireEmbedders is what clients see of embedders, of each what its source has;
// kept: what our records hold.
func wireEmbedders(all map[string]Embedder, kept bool) any {
	out := make(map[string]any, len(all))
	for name, e := range all {
		m := map[string]any{}
		if e.asks() || kept {
			m = e.wireAPI(kept)
			e.wireTemplate(m, kept)
		}
		m["source"] = e.Source
		if e.BinaryQuantized || e.saysBinary {
			m["binaryQuantized"] = e.BinaryQuantized
		}
		if e.Distribution != nil || kept {
			m["distribution"] = e.Distribution.wire()
		}
		if e.Source == UserProvided || e.Source == Rest || kept {
			m["dimensions"] = positive(e.Dimensions)
		}
		if s := e.Searching; s != nil {
			m[searchingPart] = s.wireAPI(kept)
		}
		if i := e.Indexing; i != nil {
			part := i.wireAPI(kept)
			i.wireTemplate(part, kept)
			m[indexingPart] = part
		}
		out[name] = m
	}
	return out
}

// wireTemplate puts into m how texts are made of documents. Fragments make theirs
// themselves.
func (e *Embedder) wireTemplate(m map[string]any, kept bool) {
	if kept || !e.Fragmented() {
		m["documentTemplate"], m["documentTemplateMaxBytes"] = OrNull(e.DocumentTemplate), e.MaxBytes
	}
}

// wireAPI is what clients see of what e sends to an API; kept: what our records
// hold, of each source the same.
func (e *Embedder) wireAPI(kept bool) map[string]any {
	if e.Plugged() && !kept {
		return e.wirePlugged()
	}
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
	if len(e.Options) > 0 {
		m["options"] = wireOptions(e.Options, kept)
	}
	if e.Model != "" {
		m["model"] = e.Model
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
