package chat

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// maxCountedDepth bounds how deep what a provider counts nests.
const maxCountedDepth = 8

// addCounts adds what the providers of two rounds count, two checked objects or
// nothing: numbers are added up, of all else the later one counts.
func addCounts(a, b []byte) []byte { return addCount(a, b, 0) }

func addCount(a, b json.RawMessage, depth int) json.RawMessage {
	if rawjson.IsAbsent(a) || depth > maxCountedDepth {
		return b
	}
	if rawjson.IsAbsent(b) {
		return a
	}
	sum, isObject := jsonbody.ObjectOf(a)
	later, alike := jsonbody.ObjectOf(b)
	if isObject && alike {
		for name, v := range later {
			sum[name] = addCount(sum[name], v, depth+1)
		}
		return sum.Append(nil)
	}
	x, ok := rawjson.Number(a)
	y, also := rawjson.Number(b)
	if !ok || !also || math.IsInf(x+y, 0) {
		return b
	}
	total := x + y
	if total != math.Trunc(total) { // prices have a few digits, and their sum as floats more
		const parts = 1e12
		total = math.Round(total*parts) / parts
	}
	return strconv.AppendFloat(nil, total, 'f', -1, 64)
}
