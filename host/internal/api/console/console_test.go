package console

import (
	"regexp"
	"strings"
	"testing"
)

// TestFiles holds the page to what it promises: small, of known types, without markup made of text,
// without anything inline or from elsewhere.
func TestFiles(t *testing.T) {
	files := Files()
	size := 0
	for name, f := range files {
		size += len(f.Body)
		if f.Type == "" || f.ETag == "" {
			t.Errorf("%s has the type %q and the tag %q", name, f.Type, f.ETag)
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", ".style.", "style=\""} {
			if strings.Contains(string(f.Body), bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"|(?m)^import .* from "([^"]*)"`).FindAllStringSubmatch(string(f.Body), -1) {
			at := m[1] + m[2]
			if _, ok := files[strings.TrimPrefix(at, "./")]; !ok && !strings.HasPrefix(at, "data:") && !strings.HasPrefix(at, "#") {
				t.Errorf("%s names %q, which is no file of the page", name, at)
			}
		}
	}
	if size > 220_000 {
		t.Errorf("the page has %d bytes, want at most 220,000", size)
	}
	if _, ok := files["index.html"]; !ok || len(files) < 5 {
		t.Errorf("%d files", len(files))
	}
}
