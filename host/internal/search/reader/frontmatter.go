package reader

import (
	"encoding/json"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Bounds of front matter, in bytes.
const (
	maxFrontMatter = 64 << 10
	maxMeta        = 4 << 10 // as JSON: each passage of the page has it
)

// frontMatters are the forms of front matter by the line that it begins with, and the lines that end it.
var frontMatters = map[string]struct {
	ends []string
	read func([]byte, any) error
}{
	"---": {[]string{"---", "..."}, yaml.Unmarshal},
	"+++": {[]string{"+++"}, toml.Unmarshal},
	"{":   {[]string{"}"}, json.Unmarshal},
}

// described are the members of front matter that are text of the page.
var described = []string{"subtitle", "description", "summary", "abstract", "excerpt", "tagline"}

// takeFrontMatter reads the front matter that a text begins with, in YAML, TOML or JSON, writes what of it is
// text, and returns the rest. What cannot be read is text as it is: it is written by hand.
func (p *Page) takeFrontMatter(text string, w *writer) (rest string) {
	first, body, _ := strings.Cut(text, "\n")
	form, ok := frontMatters[strings.TrimRight(first, " \t")]
	if !ok {
		return text
	}
	front, rest := "", ""
	for at := 0; at < len(body) && at <= maxFrontMatter; {
		line, _, _ := strings.Cut(body[at:], "\n")
		next := min(at+len(line)+1, len(body))
		for _, end := range form.ends {
			if strings.TrimRight(line, " \t") == end {
				front, rest = body[:at], body[next:]
				if first[0] == '{' {
					front = "{\n" + front + "}"
				}
				return p.readFrontMatter(front, rest, form.read, w)
			}
		}
		at = next
	}
	return text // a rule, and not front matter
}

func (p *Page) readFrontMatter(front, rest string, read func([]byte, any) error, w *writer) string {
	var meta map[string]any
	if err := read([]byte(front), &meta); err != nil {
		if strings.Contains(front, "\n\n") { // text between two rules
			return front + "\n\n" + rest
		}
		for line := range strings.SplitSeq(front, "\n") {
			if title, ok := strings.CutPrefix(line, "title:"); ok && p.Title == "" {
				p.Title = strings.Trim(strings.TrimSpace(title), `"'`)
			}
		}
		w.paragraph(front)
		return rest
	}
	if b, err := json.Marshal(meta); err == nil && len(b) <= maxMeta { // keys of YAML may be other than texts
		p.Meta = meta
		w.leaveOut("front matter, which is in meta", front)
	} else {
		w.leaveOut("front matter that is too large for meta", front)
	}
	p.Title, _ = meta["title"].(string)
	for _, key := range []string{"lang", "language"} {
		if lang, ok := meta[key].(string); ok && p.Lang == "" {
			p.Lang = lang
		}
	}
	for _, key := range described {
		if text, ok := meta[key].(string); ok {
			w.paragraph(text)
		}
	}
	return rest
}
