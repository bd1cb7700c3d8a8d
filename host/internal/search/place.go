package search

import (
	"fmt"

	"github.com/parley-search/parley/host/internal/apierr"
)

// places reports whether conditions or criteria about places are allowed.
func (s *Settings) places() bool { return s.filterable(geoAttr) || s.sortable(geoAttr) }

// checkGeo wants a document's `_geo` to be a place on Earth, null or absent:
// no condition about places would ever find another one.
func checkGeo(doc []byte) (err error) {
	const want = `expected {"lat": a number from -90 to 90, "lng": a number from -180 to 180}, or null`
	eachMember(doc, func(key, v []byte) bool {
		if unquote(key) != geoAttr || string(v) == "null" {
			return true
		}
		if v[0] != '{' {
			err = apierr.Newf(apierr.InvalidDocumentGeoField, "its `%s` is %s; %s", geoAttr, jsonType(v), want)
			return false
		}
		limits := map[string]float64{"lat": 90, "lng": 180}
		eachMember(v, func(key, v []byte) bool {
			name := unquote(key)
			limit, ok := limits[name]
			if !ok {
				return true // it says more of the place
			}
			delete(limits, name)
			if x, ok := number(v); ok && x >= -limit && x <= limit {
				return true
			}
			found := jsonType(v)
			if found == "a number" {
				found = fmt.Sprintf("%.40s", v)
			}
			err = apierr.Newf(apierr.InvalidDocumentGeoField, "its `%s.%s` is %s; %s", geoAttr, name, found, want)
			return false
		})
		for _, name := range []string{"lat", "lng"} {
			if _, missing := limits[name]; missing && err == nil {
				err = apierr.Newf(apierr.InvalidDocumentGeoField, "its `%s` has no `%s`; %s", geoAttr, name, want)
			}
		}
		return false
	})
	return err
}
