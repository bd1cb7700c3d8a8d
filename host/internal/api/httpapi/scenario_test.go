package httpapi_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// A scenario is one request and what must come of it.
type scenario struct {
	name           string
	method, path   string
	body           string
	header         []string // pairs, see rig.do
	status         int
	code           string   // of an error
	contains       []string // in the body
	excludes       []string
	responseHeader []string // pairs that must be there
}

// requestUIDs are the names of searches, which differ each time.
var requestUIDs = regexp.MustCompile(`,"requestUid":"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)

func (r *rig) play(t *testing.T, list []scenario) {
	t.Helper()
	for _, sc := range list {
		t.Run(sc.name, func(t *testing.T) {
			a := r.do(sc.method, sc.path, sc.body, sc.header...)
			if a.status != sc.status {
				t.Errorf("%s %s = %d, want %d: %s", sc.method, sc.path, a.status, sc.status, a.body)
			}
			if sc.code != "" {
				checkError(t, a, sc.code)
			}
			body := requestUIDs.ReplaceAllString(a.body, "")
			for _, want := range sc.contains {
				if !strings.Contains(body, want) {
					t.Errorf("%s %s: body %s, want %q in it", sc.method, sc.path, a.body, want)
				}
			}
			for _, not := range append(sc.excludes, demoKey, master) {
				if strings.Contains(a.body, not) {
					t.Errorf("%s %s: body %s, want no %q in it", sc.method, sc.path, a.body, not)
				}
			}
			for i := 0; i+1 < len(sc.responseHeader); i += 2 {
				if got := a.header.Get(sc.responseHeader[i]); got != sc.responseHeader[i+1] {
					t.Errorf("%s %s: header %s = %q, want %q", sc.method, sc.path, sc.responseHeader[i], got, sc.responseHeader[i+1])
				}
			}
		})
	}
}

// checkError checks the shape of an error, which is the same everywhere but on
// /v1.
func checkError(t *testing.T, a answer, code string) {
	t.Helper()
	var e struct {
		Message, Code, Type, Link string
		Error                     *struct {
			Message, Type, Code string
			Param               *string
		}
	}
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Errorf("error body %s: %v", a.body, err)
		return
	}
	if e.Code != code || e.Message == "" || e.Type == "" || !strings.HasSuffix(e.Link, "#error-"+code) {
		t.Errorf("error = %s, want code %s with message, type and link", a.body, code)
	}
	if e.Error != nil && (e.Error.Message != e.Message || e.Error.Code != code || e.Error.Type != e.Type) {
		t.Errorf("nested error of %s: %v, want the same text", a.body, e.Error)
	}
	if got := a.header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("content type of an error = %q", got)
	}
}
