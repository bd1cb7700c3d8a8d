package manifest_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// The contract's page names each member that a manifest may have.
func TestReadmeNamesMembers(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page2, found := strings.Cut(string(page), "\n## The manifest\n")
	section, _, end := strings.Cut(page2, "\n## Limits\n")
	if !found || !end {
		t.Fatal("README.md has lost its section on the manifest")
	}
	words := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(section, -1) {
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(code, -1) {
			words[word] = true
		}
	}
	var check func(in string, typ reflect.Type)
	check = func(in string, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !words[name] {
				t.Errorf("README.md does not name %s%s", in, name)
			}
			check(in+name+".", field.Type)
		}
	}
	check("", reflect.TypeFor[abi.Manifest]())
}
