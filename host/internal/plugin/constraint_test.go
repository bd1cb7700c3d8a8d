package plugin_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
)

func TestConstraint(t *testing.T) {
	tests := []struct {
		constraint string
		allows     []string
		refuses    []string
	}{
		{"", []string{"0.0.1", "3.2.1", "1.0.0-rc.1"}, nil},
		{"1.2.3", []string{"1.2.3"}, []string{"1.2.4", "1.2.2", "1.2.3-rc.1"}},
		{"=1.2.3-rc.1", []string{"1.2.3-rc.1"}, []string{"1.2.3"}},
		{"~1.2.3", []string{"1.2.3", "1.2.9"}, []string{"1.2.2", "1.3.0", "1.2.4-rc.1", "1.3.0-rc.1"}},
		{"~1.2", []string{"1.2.0", "1.2.9"}, []string{"1.1.9", "1.3.0"}},
		{"~1", []string{"1.0.0", "1.9.0"}, []string{"0.9.0", "2.0.0"}},
		{"^1.2.3", []string{"1.2.3", "1.10.0"}, []string{"1.2.2", "2.0.0"}},
		{"^1", []string{"1.0.0", "1.99.99"}, []string{"2.0.0"}},
		{"^0", []string{"0.0.1", "0.9.0"}, []string{"1.0.0"}},
		{"^0.2", []string{"0.2.0", "0.2.9"}, []string{"0.3.0", "0.1.9"}},
		{"^0.2.3", []string{"0.2.3", "0.2.9"}, []string{"0.2.2", "0.3.0"}},
		{"^0.0.3", []string{"0.0.3"}, []string{"0.0.4", "0.0.2"}},
		{"~0.0.3", []string{"0.0.3", "0.0.4"}, []string{"0.1.0"}},
	}
	for _, tt := range tests {
		c, err := plugin.ParseConstraint(tt.constraint)
		if err != nil {
			t.Errorf("ParseConstraint(%q): %v", tt.constraint, err)
			continue
		}
		for _, v := range tt.allows {
			if !c.Allows(v) {
				t.Errorf("%q does not allow %s", tt.constraint, v)
			}
		}
		for _, v := range tt.refuses {
			if c.Allows(v) {
				t.Errorf("%q allows %s", tt.constraint, v)
			}
		}
	}
	for _, s := range []string{"1", "1.2", "v1.2.3", "~", "^x", "~1.2.3.4", "~1.2.3-rc", ">=1.0.0", "*", " ^1", "^01", "~1.", "~9999999999"} {
		if _, err := plugin.ParseConstraint(s); err == nil {
			t.Errorf("ParseConstraint(%q): no error", s)
		}
	}
}
