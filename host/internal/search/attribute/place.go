package attribute

import (
	"math"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// Geo is the attribute that the two geo conditions are about.
const Geo = "_geo"

// EarthRadius is the mean one, in metres.
const EarthRadius = 6_371_008.8

// Distance is the length in metres of the way between two places.
func Distance(lat1, lng1, lat2, lng2 float64) float64 {
	const rad = math.Pi / 180
	sLat := math.Sin((lat2 - lat1) * rad / 2)
	sLng := math.Sin((lng2 - lng1) * rad / 2)
	h := sLat*sLat + math.Cos(lat1*rad)*math.Cos(lat2*rad)*sLng*sLng
	return 2 * EarthRadius * math.Asin(math.Sqrt(min(h, 1)))
}

// The paths of a place's parts.
const (
	GeoLat = Geo + ".lat"
	GeoLng = Geo + ".lng"
)

// Coordinate returns a latitude or longitude, which may be written as a string.
func Coordinate(v []byte) (float64, bool) {
	if v[0] == '"' {
		text := strings.TrimSpace(rawjson.Unquote(v))
		if text == "" {
			return 0, false
		}
		v = []byte(text)
	}
	return rawjson.Number(v)
}

// LastCoordinate returns the largest of several numbers for a part, which is the one
// that a column has.
func LastCoordinate(values [][]byte) (float64, bool) {
	last, found := math.Inf(-1), false
	for _, v := range values {
		if x, ok := Coordinate(v); ok {
			last, found = max(last, x), true
		}
	}
	return last, found
}
