package search

import (
	"math"
	"strconv"
)

// appendNumber appends f in ten bytes that sort as the numbers do. No byte is
// above 0x7f: bleve's columns use 0xff between terms.
func appendNumber(dst []byte, f float64) []byte {
	bits := math.Float64bits(f + 0) // no negative zero
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	for shift := 63; shift >= 0; shift -= 7 {
		dst = append(dst, byte(bits>>shift)&0x7f)
	}
	return dst
}

// parseNumber is the inverse of appendNumber.
func parseNumber(b []byte) float64 {
	var bits uint64
	for _, c := range b {
		bits = bits<<7 | uint64(c)
	}
	if bits>>63 == 1 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

// nextKey returns the smallest string above all that begin with prefix, nil
// where there is none.
func nextKey(prefix []byte) []byte {
	b := append([]byte(nil), prefix...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// number returns the value of a JSON number that is finite as a float64.
func number(v []byte) (float64, bool) {
	if c := v[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// numberText is f as text: without an exponent where people write none.
func numberText(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-9 || a >= 1e18) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
