package reader

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// inline is the text within a block.
func (m *markdownReader) inline(root ast.Node) string {
	b := &m.inText
	b.Reset()
	var links []int // where the texts of links under way begin
	for n, entering := root.FirstChild(), true; n != nil; {
		down := false
		switch t := n.(type) {
		case *ast.Text:
			m.plain(b, t)
		case *ast.String:
			b.Write(t.Value)
		case *ast.CodeSpan:
			if entering {
				m.codeSpan(b, t)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(t.Label(m.source))
			}
		case *ast.RawHTML:
			if entering {
				b.WriteString(m.inlineTag(string(t.Segments.Value(m.source))))
			}
		case *extast.TaskCheckBox:
			if t.IsChecked {
				b.WriteString("[x] ")
			} else {
				b.WriteString("[ ] ")
			}
		case *ast.Link:
			if down = entering; down {
				links = append(links, b.Len())
			} else {
				at := links[len(links)-1]
				links = links[:len(links)-1]
				m.closeLink(b, at, string(t.Destination))
				m.w.leaveOut("titles of links", string(t.Title))
			}
		case *ast.Image:
			if down = entering; !down {
				m.w.leaveOut("titles of links", string(t.Title))
				m.w.leaveOut("files of pictures", string(t.Destination))
			}
		default:
			down = entering
		}
		switch {
		case down && n.FirstChild() != nil:
			n = n.FirstChild()
		case down:
			entering = false
		case n.NextSibling() != nil:
			n, entering = n.NextSibling(), true
		default:
			if n, entering = n.Parent(), false; n == root {
				return b.String()
			}
		}
	}
	return b.String()
}

// closeLink ends a link whose text begins at at.
func (m *markdownReader) closeLink(b *bytes.Buffer, at int, target string) {
	if !isAddress(target) {
		m.w.leaveOut("targets of links within the files", target)
		return
	}
	text := string(b.Bytes()[at:])
	link := linkText(text, target)
	if link == strings.TrimSpace(text) {
		m.w.leaveOut("targets of links that their text says", target)
	} else {
		b.Truncate(at)
		b.WriteString(link)
	}
}

// plain writes a stretch of text, with what is escaped as it is meant.
func (m *markdownReader) plain(b *bytes.Buffer, t *ast.Text) {
	value := t.Segment.Value(m.source)
	if !t.IsRaw() && (bytes.IndexByte(value, '\\') >= 0 || bytes.IndexByte(value, '&') >= 0) {
		value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
	}
	if t.SoftLineBreak() || t.HardLineBreak() {
		b.Write(bytes.TrimRight(value, " \t"))
		b.WriteByte('\n')
		return
	}
	b.Write(value)
}

// codeSpan writes code within a line, byte for byte.
func (m *markdownReader) codeSpan(b *bytes.Buffer, n *ast.CodeSpan) {
	var code strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			code.Write(c.Segment.Value(m.source))
		case *ast.String:
			code.Write(c.Value)
		}
	}
	text := strings.ReplaceAll(code.String(), "\n", " ")
	tick := "`"
	for strings.Contains(text, tick) {
		tick += "`"
	}
	if len(tick) > 1 {
		text = " " + text + " "
	}
	b.WriteString(tick)
	b.WriteString(text)
	b.WriteString(tick)
}

// inlineTag is what a tag or comment within text is as text: what is no element of HTML is a placeholder, or
// in MDX a component, whose words are kept.
func (m *markdownReader) inlineTag(raw string) string {
	if !m.isTag(raw) {
		return raw
	}
	if strings.HasPrefix(raw, "<!") || strings.HasPrefix(raw, "<?") {
		m.w.leaveOut("comments", raw)
		return ""
	}
	words := countWords(raw)
	defer func() { m.w.noteLeft("tags of HTML", words) }()
	if name, rest := cutName(raw); (name == "br" || name == "hr") && strings.IndexAny(rest, "-:") != 0 {
		return "\n"
	}
	if !strings.Contains(raw, "=") {
		return ""
	}
	said := ""
	z := html.NewTokenizer(strings.NewReader(raw))
	z.Next()
	t := z.Token()
	for _, a := range t.Attr {
		if spoken[a.Key] && a.Val != "" {
			said += a.Val + " "
			words -= countWords(a.Val)
		}
	}
	return said
}

// spoken are the attributes that are text for whoever reads a page.
var spoken = map[string]bool{"alt": true, "title": true, "label": true, "caption": true, "summary": true, "description": true, "header": true, "heading": true}

// asTags writes what is no tag in a stretch of HTML as text.
func (m *markdownReader) asTags(raw string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(raw)); ; {
		t := z.Next()
		token := string(z.Raw())
		if t == html.ErrorToken {
			b.WriteString(token)
			return b.String()
		}
		if (t == html.StartTagToken || t == html.EndTagToken || t == html.SelfClosingTagToken) && !m.isTag(token) {
			token = html.EscapeString(token)
		} else if t != html.TextToken && t != html.CommentToken {
			m.w.leaveOut("tags of HTML", token)
		}
		b.WriteString(token)
	}
}

// isTag reports whether what looks like a tag is one: of an element of HTML, and not a word in angle brackets
// that happens to be called so, which has neither attributes nor an end. In MDX all are.
func (m *markdownReader) isTag(raw string) bool {
	if m.mdx || strings.HasPrefix(raw, "<!") || strings.HasPrefix(raw, "<?") {
		return true
	}
	name, rest := cutName(raw)
	ends, known := elements[name]
	if !known || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, ":") {
		return false
	}
	return !ends || strings.HasPrefix(raw, "</") || strings.Contains(rest, "=") || strings.HasSuffix(rest, "/>") || m.hasEnd(name)
}

// cutName returns the name in a tag, in lower case, and what is behind it.
func cutName(tag string) (name, rest string) {
	tag = strings.TrimLeft(tag, "</")
	end := 0
	for end < len(tag) && (tag[end]|0x20 >= 'a' && tag[end]|0x20 <= 'z' || tag[end] >= '0' && tag[end] <= '9') {
		end++
	}
	return strings.ToLower(tag[:end]), tag[end:]
}

// hasEnd reports whether an element called name is ended anywhere.
func (m *markdownReader) hasEnd(name string) bool {
	if m.closed == nil {
		m.closed = map[string]bool{}
		_, ends, _ := bytes.Cut(m.source, []byte("</"))
		for end := range bytes.SplitSeq(ends, []byte("</")) {
			name, _ := cutName(string(end[:min(len(end), 16)]))
			if _, known := elements[name]; known {
				m.closed[name] = true
			}
		}
	}
	return m.closed[name]
}

// elements are the elements of HTML, and whether a tag of one has to be followed by its end, or has
// attributes.
var elements = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`a abbr acronym address article aside audio b bdi bdo big blink blockquote button canvas center cite code data datalist del details dfn dialog dir div dl em
		embed fieldset figcaption figure font footer form frame frameset g h1 h2 h3 h4 h5 h6 head header hgroup i iframe ins kbd label legend link main map mark marquee math menu
		meta meter nav nobr noscript object ol optgroup output path picture pre progress q ruby s samp script search section select slot small source span strike strong style sub
		summary sup svg table template textarea time title tt u ul var video input area base param track`) {
		all[name] = true
	}
	for _, name := range strings.Fields("br hr img wbr p li dt dd tr td th thead tbody tfoot caption col colgroup option rt rp rb body html") {
		all[name] = false
	}
	return all
}()
