package bleveindex

import (
	"math"

	"github.com/parley-search/parley/host/internal/search/attribute"
)

// Places returns where each of docs, which are sorted, is, in degrees; +Inf where it
// is nowhere.
func (v *View) Places(docs []uint32) (lats, lngs []float64, err error) {
	lats, lngs = make([]float64, len(docs)), make([]float64, len(docs))
	for i := range docs {
		lats[i], lngs[i] = math.Inf(1), math.Inf(1)
	}
	err = v.FirstNumbers(fieldNumber+attribute.GeoLat, docs, func(i int, _, last float64) { lats[i] = last })
	if err == nil {
		err = v.FirstNumbers(fieldNumber+attribute.GeoLng, docs, func(i int, _, last float64) { lngs[i] = last })
	}
	return lats, lngs, err
}

// Distances returns how far each of docs, which are sorted, is from a place, in
// metres; +Inf where it has none.
func (v *View) Distances(lat, lng float64, docs []uint32) ([]float64, error) {
	lats, lngs, err := v.Places(docs)
	out := lats
	for i := range out {
		if math.IsInf(lats[i], 1) || math.IsInf(lngs[i], 1) {
			out[i] = math.Inf(1)
		} else {
			out[i] = attribute.Distance(lat, lng, lats[i], lngs[i])
		}
	}
	return out, err
}
