package adminapi

import (
	"bytes"
	"fmt"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/feature"
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

// GetFeatures answers GET /experimental-features.
func (s *Server) GetFeatures(r *request.Call) error { return r.OK(featuresBody(s.Features.Now())) }

// PatchFeatures answers PATCH /experimental-features. What is not named, or
// null, stays as it is.
func (s *Server) PatchFeatures(r *request.Call) error {
	var b map[string]*bool
	if err := r.Decode(&b, nil); err != nil {
		return err
	}
	named := map[string]bool{}
	for name, on := range b {
		if on != nil {
			named[name] = *on
		}
	}
	set, err := s.Features.Patch(r.Base, named)
	if err != nil {
		return err
	}
	return r.OK(featuresBody(set))
}
