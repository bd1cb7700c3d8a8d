package reader

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// Bounds of front matter, in bytes.
const (
	maxFrontMatter = 64 << 10
	maxMeta        = 4 << 10 // as JSON: each passage of the page has it
)

// readMarkdown reads Markdown, with front matter in YAML and with what MDX adds.
func readMarkdown(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	p := &Page{}
	text = p.takeFrontMatter(text)
	p.Text = takeTitle(cleanMarkdown(text), &p.Title)
	return p, nil
}

// takeFrontMatter reads what is between two lines of three hyphens at the beginning, and returns the rest.
// What is not YAML is left out with all but its title: front matter is written by hand, and a page is
// worth more than its notes.
func (p *Page) takeFrontMatter(text string) (rest string) {
	body, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text
	}
	front, rest, ok := strings.Cut(body, "\n---\n")
	if !ok || len(front) > maxFrontMatter {
		return text // a rule, and not front matter
	}
	var meta map[string]any
	if err := yaml.Unmarshal([]byte(front), &meta); err != nil {
		if m := titleLine.FindStringSubmatch(front); m != nil {
			p.Title = m[1]
		}
		return rest
	}
	if b, err := json.Marshal(meta); err == nil && len(b) <= maxMeta { // keys of YAML may be other than texts
		p.Meta = meta
	}
	p.Title, _ = meta["title"].(string)
	for _, key := range []string{"lang", "language"} {
		if lang, ok := meta[key].(string); ok && p.Lang == "" {
			p.Lang = lang
		}
	}
	return rest
}

var (
	titleLine   = regexp.MustCompile(`(?m)^title:\s*["']?(.*?)["']?\s*$`)
	mdxLine     = regexp.MustCompile(`^(import|export)\s.*$`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	htmlTag     = regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>`)
	image       = regexp.MustCompile(`!\[([^\]\n]*)\]\([^)\n]*\)`)
	link        = regexp.MustCompile(`\[([^\]\n]+)\]\([^)\n]*\)`)
)

// cleanMarkdown takes away what a reader of the page does not see: comments, tags, the targets of links
// and the modules of MDX. Fenced code stays as it is. Headings that are underlined get hashes.
func cleanMarkdown(text string) string {
	var b strings.Builder
	lines := strings.Split(htmlComment.ReplaceAllString(text, ""), "\n")
	fence := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		bare := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
		case mdxLine.MatchString(line):
			continue
		default:
			line = link.ReplaceAllString(image.ReplaceAllString(line, "$1"), "$1")
			line = htmlTag.ReplaceAllString(line, "")
			if level := underline(lines, i); level > 0 {
				line = strings.Repeat("#", level) + " " + bare
				i++
			}
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// underline returns the level of the heading that line i is by the line below it, 0 where it is none.
func underline(lines []string, i int) int {
	if i+1 == len(lines) || strings.TrimSpace(lines[i]) == "" || i > 0 && strings.TrimSpace(lines[i-1]) != "" {
		return 0
	}
	if s := lines[i]; s[0] == ' ' || s[0] == '\t' || s[0] == '|' || s[0] == '-' || s[0] == '>' || s[0] == '*' {
		return 0
	}
	below := strings.TrimRight(lines[i+1], " ")
	switch {
	case len(below) < 3:
		return 0
	case strings.Trim(below, "=") == "":
		return 1
	case strings.Trim(below, "-") == "":
		return 2
	}
	return 0
}

// takeTitle takes the first heading of the first level out of a text where title is empty or the same.
func takeTitle(text string, title *string) string {
	rest := text
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			break
		}
		rest = rest[len(line):]
	}
	first, after, _ := strings.Cut(rest, "\n")
	name, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return text
	}
	name, _ = passage.CutAnchor(strings.TrimSpace(strings.NewReplacer("`", "", "*", "").Replace(name)))
	if *title == "" {
		*title = name
	}
	if strings.EqualFold(*title, name) {
		return after
	}
	return text
}

// readText reads plain text.
func readText(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	text, err := decode(data)
	return &Page{Text: text}, err
}

// readRST reads reStructuredText: headings are underlined, each kind of line a level in the order in
// which they come; directives are taken away, their contents stay.
func readRST(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(text, "\n")
	var kinds []string
	var b strings.Builder
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if kind := ruleOf(line); kind != "" && i+2 < len(lines) && ruleOf(lines[i+2]) == kind && strings.TrimSpace(lines[i+1]) != "" {
			continue // a line above a heading
		}
		if i+1 < len(lines) && strings.TrimSpace(line) != "" && line[0] != ' ' {
			if kind := ruleOf(lines[i+1]); kind != "" && len(strings.TrimSpace(lines[i+1])) >= len([]rune(line))-1 {
				level := len(kinds) + 1
				for k, known := range kinds {
					if known == kind {
						level = k + 1
					}
				}
				if level > len(kinds) {
					kinds = append(kinds, kind)
				}
				fmt.Fprintf(&b, "\n%s %s\n\n", strings.Repeat("#", min(level, 6)), strings.TrimSpace(line))
				i++
				continue
			}
		}
		if m := rstDirective.FindStringSubmatch(line); m != nil {
			line = ""
			if !rstUnsaid[m[1]] {
				line = m[2]
			}
			for i+1 < len(lines) && rstOption.MatchString(lines[i+1]) {
				i++
			}
		} else if strings.HasPrefix(strings.TrimSpace(line), ".. ") { // a comment, or where a link leads
			line = ""
		}
		b.WriteString(rstRole.ReplaceAllString(line, "$1"))
		b.WriteByte('\n')
	}
	p := &Page{}
	p.Text = takeTitle(b.String(), &p.Title)
	return p, nil
}

var (
	rstDirective = regexp.MustCompile(`^\s*\.\. ([A-Za-z][A-Za-z0-9_:.+-]*?)::\s*(.*)$`)
	rstOption    = regexp.MustCompile(`^\s+:[A-Za-z][A-Za-z0-9_ -]*:(\s|$)`)
)

// rstUnsaid are the directives whose argument is not for readers: a language, a file. Of others it is the
// beginning of what they say.
var rstUnsaid = map[string]bool{
	"code": true, "code-block": true, "sourcecode": true, "highlight": true, "literalinclude": true, "include": true,
	"image": true, "figure": true, "toctree": true, "contents": true, "raw": true, "role": true,
	"currentmodule": true, "module": true, "index": true, "only": true,
}

// rstRole is a role or link: :ref:`text <target>`.
var rstRole = regexp.MustCompile("(?::[a-z:]+:)?`([^`<\n]+?)(?:\\s*<[^`>\n]*>)?`_{0,2}")

// ruleOf returns the character that a line of three or more repeats, if it is one of punctuation.
func ruleOf(line string) string {
	line = strings.TrimRight(line, " ")
	if len(line) < 3 || !strings.ContainsRune("=-~^\"'`#*+.:_", rune(line[0])) || strings.Trim(line, line[:1]) != "" {
		return ""
	}
	return line[:1]
}

var (
	adocHeading   = regexp.MustCompile(`^(={1,6})\s+(\S.*)$`)
	adocAttribute = regexp.MustCompile(`^:[A-Za-z0-9_!-]+:.*$`)
	adocBlock     = regexp.MustCompile(`^\[[^\]]*\]$`)
	adocLink      = regexp.MustCompile(`(?:link|xref|https?)[:a-zA-Z0-9_./#?&=%~+-]*\[([^\]]*)\]`)
)

// readAsciiDoc reads AsciiDoc.
func readAsciiDoc(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(bare, "----") && strings.Trim(bare, "-") == "", strings.HasPrefix(bare, "....") && strings.Trim(bare, ".") == "":
			code = !code
			line = "```"
		case code:
		case adocAttribute.MatchString(line), adocBlock.MatchString(line), strings.HasPrefix(line, "//"):
			continue
		default:
			if m := adocHeading.FindStringSubmatch(line); m != nil {
				line = strings.Repeat("#", len(m[1])) + " " + m[2]
			}
			line = adocLink.ReplaceAllString(line, "$1")
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	p := &Page{}
	p.Text = takeTitle(b.String(), &p.Title)
	return p, nil
}
