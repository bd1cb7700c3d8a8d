package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// said returns the texts of a file that are said in the reader's language, as i18n.js
// puts them together: what stands in braces by its number.
func said(source string) map[string]bool {
	all := map[string]bool{}
	// read takes the template that begins at i, and returns where it ends.
	var read func(i int) (string, int)
	read = func(i int) (string, int) {
		var text strings.Builder
		for n := 0; ; {
			switch {
			case source[i] == '`':
				return text.String(), i
			case strings.HasPrefix(source[i:], "${"):
				fmt.Fprintf(&text, "{%d}", n)
				n++
				i += 2
				for depth := 1; depth > 0; i++ {
					switch source[i] {
					case '`':
						_, i = read(i + 1)
					case '{':
						depth++
					case '}':
						depth--
					}
				}
			default:
				text.WriteByte(source[i])
				i++
			}
		}
	}
	for _, at := range regexp.MustCompile("[^\\w$.]t`").FindAllStringIndex(source, -1) {
		text, _ := read(at[1])
		all[text] = true
	}
	return all
}

// cut is the beginning of a text that i18n.js looks for.
func cut(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 10)])
}

// TestLanguages wants each text of the page in each language, with the same places, and
// none that nobody says.
func TestLanguages(t *testing.T) {
	files := Files()
	all := map[string]bool{}
	for name, f := range files {
		if name != "i18n.js" {
			maps.Copy(all, said(string(f.Body)))
		}
	}
	if len(all) < 100 {
		t.Fatalf("the page says %d texts", len(all))
	}
	place := regexp.MustCompile(`\{\d\}`)
	languages := regexp.MustCompile(`\b(\w\w): "`).FindAllStringSubmatch(string(files["i18n.js"].Body), -1)
	if len(languages) < 3 {
		t.Fatalf("i18n.js has the languages %q", languages)
	}
	for _, m := range languages {
		if m[1] == "en" {
			continue
		}
		_, body, _ := strings.Cut(string(files[m[1]+".js"].Body), "texts = ")
		body = regexp.MustCompile(`(?m)^\t(\w+):`).ReplaceAllString(body, `"$1":`)
		var texts map[string]string
		if err := json.Unmarshal([]byte(strings.Replace(strings.TrimSuffix(strings.TrimSpace(body), ";"), ",\n}", "\n}", 1)), &texts); err != nil {
			t.Fatalf("%s.js: %v", m[1], err)
		}
		keys := map[string]string{} // what a text is under: its beginning, where no other begins so
		for text := range all {
			begin := cut(text)
			for other := range all {
				if other != text && cut(other) == begin {
					begin = text
				}
			}
			keys[begin] = text
		}
		for key, text := range keys {
			got, ok := texts[key]
			want, has := place.FindAllString(text, -1), place.FindAllString(got, -1)
			slices.Sort(has)
			if !ok || !slices.Equal(want, has) {
				t.Errorf("%s.js says %q at %q for %q", m[1], got, key, text)
			}
		}
		for key := range texts {
			if keys[key] == "" {
				t.Errorf("%s.js has %q, which nobody says", m[1], key)
			}
		}
	}
}
