package bleveindex

import (
	"math"
)

// AppendNumber appends f in ten bytes that sort as the numbers do. No byte is
// above 0x7f: bleve's columns use 0xff between terms.
func AppendNumber(dst []byte, f float64) []byte {
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

// ParseNumber is the inverse of AppendNumber.
func ParseNumber(b []byte) float64 {
	var bits uint64
	for _, c := range b {
		bits = bits<<7 | uint64(c)
	}
	if bits>>63 == 1 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

// NextKey returns the smallest string above all that begin with prefix, nil
// where there is none.
func NextKey(prefix []byte) []byte {
	b := append([]byte(nil), prefix...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}
