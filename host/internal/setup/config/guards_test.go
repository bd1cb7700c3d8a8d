package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// TestGuardsOption reads names of guards, or a file that says more of each. What they
// do then is chat's TestGuardFaults.
//
//parley:option guards
func TestGuardsOption(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "guards.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, test := range []struct {
		value string
		want  []guard.Use
		wrong string
	}{
		{"mask, links", []guard.Use{{Plugin: "mask"}, {Plugin: "links"}}, ""},
		{file(`[{"plugin":"mask","stages":["answer"]}]`), []guard.Use{{Plugin: "mask", Stages: []string{"answer"}}}, ""},
		{"Mask", nil, `names "Mask"`},
		{"none.json", nil, "cannot be read"},
		{file(`{}`), nil, "must be an array"},
		{file(`[{"plugin":"mask","stages":["doors"]}]`), nil, `[0].stages[0] is "doors"`},
	} {
		var c Config
		err := guardsKind(func(c *Config) *[]guard.Use { return &c.Guards }).set(&c, test.value)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want %s", test.value, err, test.wrong)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(c.Guards, test.want) {
			t.Errorf("%s: %+v, %v, want %+v", test.value, c.Guards, err, test.want)
		}
	}
}
