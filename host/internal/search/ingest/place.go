package ingest

import (
	"fmt"
	"math"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
)

// checkGeo wants a document's `_geo` to be a place on Earth, null or absent:
// no condition about places would ever find another one. Its parts may be
// members of their own, `_geo.lat` and `_geo.lng`, as columns of CSV make them.
func checkGeo(doc []byte) error {
	c := placeCheck{limits: map[string]float64{"lat": 90, "lng": 180}}
	rawjson.EachMember(doc, func(key, v []byte) bool {
		name := rawjson.Unquote(key)
		part, dotted := strings.CutPrefix(name, attribute.Geo+".")
		switch {
		case string(v) == "null":
		case dotted:
			c.part(part, v)
		case name != attribute.Geo:
		case v[0] != '{':
			c.fault("its `%s` is %s", attribute.Geo, rawjson.KindOf(v))
		default:
			c.any = true
			rawjson.EachMember(v, func(key, v []byte) bool { c.part(rawjson.Unquote(key), v); return true })
		}
		return c.err == nil
	})
	for _, name := range []string{"lat", "lng"} {
		if _, missing := c.limits[name]; missing && c.any {
			c.fault("its `%s` has no `%s`", attribute.Geo, name)
		}
	}
	return c.err
}

// A placeCheck looks at the parts of one place.
type placeCheck struct {
	limits map[string]float64 // of the parts not seen yet
	any    bool               // there is a place
	err    error              // the first fault
}

// part checks one part; it may say more of the place than where it is.
func (c *placeCheck) part(name string, v []byte) {
	limit, ok := c.limits[name]
	if !ok {
		return
	}
	c.any = true
	delete(c.limits, name)
	if x, ok := attribute.Coordinate(v); ok && math.Abs(x) <= limit {
		return
	}
	found := rawjson.KindOf(v)
	if v[0] == '"' || found == "a number" {
		found = fmt.Sprintf("%.40s", v)
	}
	c.fault("its `%s.%s` is %s", attribute.Geo, name, found)
}

func (c *placeCheck) fault(format string, args ...any) {
	if c.err == nil {
		c.err = apierr.Newf(indexerr.InvalidDocumentGeoField, format+"; expected {\"lat\": a number from -90 to 90, \"lng\": a number from -180 to 180}, or null", args...)
	}
}

// appendPlace appends what a cell of a column `_geo` says, "latitude,longitude",
// as JSON; ok is false where it says something else.
func appendPlace(b []byte, cell string) (_ []byte, ok bool) {
	lat, lng, two := strings.Cut(cell, ",")
	lat, lng = strings.TrimSpace(lat), strings.TrimSpace(lng)
	if !two || !jsonNumber(lat) || !jsonNumber(lng) {
		return b, false
	}
	return fmt.Appendf(b, `{"lat":%s,"lng":%s}`, lat, lng), true
}
