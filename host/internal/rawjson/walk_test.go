package rawjson

import "testing"

func TestMerge(t *testing.T) {
	for _, tt := range [][3]string{
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{`{}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":{"c":2}}`, `{"a":{"c":2}}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1}`, `{"\u0061":2,"a":3}`, `{"a":3}`},
		{`{}`, `{"a":1,"a":2}`, `{"a":2}`},
	} {
		if got := string(Merge([]byte(tt[0]), []byte(tt[1]))); got != tt[2] {
			t.Errorf("%s over %s = %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
}
