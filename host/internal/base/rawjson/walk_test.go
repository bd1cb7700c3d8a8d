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

func TestNull(t *testing.T) {
	for _, tt := range []struct {
		in           string
		null, absent bool
	}{
		{"", false, true}, {" ", false, true}, {"null", true, true}, {" null\n", true, true}, {`"null"`, false, false}, {"0", false, false}, {"{}", false, false},
	} {
		if got := IsNull([]byte(tt.in)); got != tt.null {
			t.Errorf("IsNull(%q) = %v, want %v", tt.in, got, tt.null)
		}
		if got := IsAbsent([]byte(tt.in)); got != tt.absent {
			t.Errorf("IsAbsent(%q) = %v, want %v", tt.in, got, tt.absent)
		}
	}
}
