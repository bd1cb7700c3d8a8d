package httpapi

import (
	"bytes"
	"fmt"

	"github.com/parley-search/parley/host/internal/feature"
)

// featuresBody is every feature and whether it is on, in the order of the
// table.
type featuresBody feature.Set

func (b featuresBody) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	sep := byte('{')
	feature.Set(b).Each(func(name feature.Feature, on bool) {
		fmt.Fprintf(&out, "%c%q:%t", sep, name, on)
		sep = ','
	})
	out.WriteByte('}')
	return out.Bytes(), nil
}

// getFeatures answers GET /experimental-features.
func (s *Server) getFeatures(r *call) error { return ok(r, featuresBody(s.Features.Now())) }

// patchFeatures answers PATCH /experimental-features. What is not named, or
// null, stays as it is.
func (s *Server) patchFeatures(r *call) error {
	var b map[string]*bool
	if err := s.decode(r, &b, nil); err != nil {
		return err
	}
	named := map[string]bool{}
	for name, on := range b {
		if on != nil {
			named[name] = *on
		}
	}
	set, err := s.Features.Patch(s.ctx, named)
	if err != nil {
		return err
	}
	return ok(r, featuresBody(set))
}
