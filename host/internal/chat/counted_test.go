package chat

import "testing"

// TestAddCounts: of what the providers of two rounds count numbers are added up, and
// of all else the later one counts.
func TestAddCounts(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{``, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, ``, `{"a":1}`},
		{`{"a":1,"o":{"x":2,"s":"t"}}`, `{"b":3,"o":{"x":4,"s":"u"}}`, `{"a":1,"b":3,"o":{"s":"u","x":6}}`},
		{`{"cost":0.1}`, `{"cost":0.2}`, `{"cost":0.3}`},
		{`{"n":123456789012}`, `{"n":1}`, `{"n":123456789013}`},
		{`{"a":null,"b":1,"c":{}}`, `{"a":1,"b":null,"c":1}`, `{"a":1,"b":1,"c":1}`},
		{`{"a":1e308}`, `{"a":1e308}`, `{"a":1e308}`},
	} {
		if got := string(addCounts([]byte(tt.a), []byte(tt.b))); got != tt.want {
			t.Errorf("addCounts(%s, %s) = %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}
