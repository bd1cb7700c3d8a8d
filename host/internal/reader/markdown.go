package reader

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// readMarkdown reads Markdown, with front matter.
func readMarkdown(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	return readMarked(data, false)
}

// readMDX reads Markdown with modules and components.
func readMDX(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	return readMarked(data, true)
}

func readMarked(data []byte, mdx bool) (*Page, error) {
	source, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, &writer{}
	source = p.takeFrontMatter(source, w)
	writeMarkdown(w, source, mdx)
	w.finish(p)
	return p, nil
}

// Bounds of what the parser is given: what goes beyond is written as it is.
const (
	// maxMarks bounds how many marks of quotations and lists a line begins with: each is a level that the
	// parser goes into.
	maxMarks = 100
	// maxEffort bounds the characters of a paragraph times those of them that may begin something, for which
	// the parser may look through all of it, and maxEffortInAll the sum.
	maxEffort, maxEffortInAll = 64 << 20, 1 << 30
)

// writeMarkdown writes the text of Markdown.
func writeMarkdown(w *writer, source string, mdx bool) {
	if !isParsable(source) {
		w.plain(source)
		return
	}
	m := markdownReader{w: w, source: []byte(source), mdx: mdx}
	known := parser.NewContext()
	m.write(markdownParser(mdx).Parse(text.NewReader(m.source), parser.WithContext(known)))
	for _, r := range known.References() {
		w.leaveOut("definitions of links", string(r.Label())+" "+string(r.Destination())+" "+string(r.Title()))
	}
}

// isParsable reports whether a parser of Markdown goes through a text in time and in depth.
func isParsable(source string) bool {
	size, begins, effort := 0, 0, 0
	for line := range strings.Lines(source) {
		marks, rest := countMarks(line)
		if marks > maxMarks {
			return false
		}
		if marks > 0 || rest == "" || rest[0] == '|' || rest[0] == '#' { // a block of its own
			effort += size * begins
			size, begins = 0, 0
		}
		size += len(line)
		for i := range len(line) {
			switch line[i] {
			case '[', '<', '`', '*', '_', '~', '!', '&':
				begins++
			}
		}
		if size*begins > maxEffort || effort > maxEffortInAll {
			return false
		}
	}
	return true
}

// countMarks counts the marks of quotations and items that a line begins with.
func countMarks(line string) (marks int, rest string) {
	for rest = strings.TrimSpace(line); rest != "" && marks <= maxMarks; marks++ {
		switch {
		case rest[0] == '>':
			rest = rest[1:]
		case isItemMark(rest):
			_, rest, _ = strings.Cut(rest, " ")
		default:
			return marks, rest
		}
		rest = strings.TrimLeft(rest, " \t")
	}
	return marks, rest
}

// isItemMark reports whether a line begins with the mark of a list's item.
func isItemMark(line string) bool {
	mark, _, ok := strings.Cut(line, " ")
	return ok && mark != "" && (strings.Trim(mark, "-*+") == "" && len(mark) == 1 || strings.TrimLeft(mark, "0123456789") == "." || strings.TrimLeft(mark, "0123456789") == ")")
}

// markdownParser returns a parser of CommonMark with tables, strikethrough, tasks, definitions and footnotes,
// which stay where they are written. In MDX, what HTML would be is components in text, and indented text is
// no code.
func markdownParser(mdx bool) parser.Parser {
	p := goldmark.DefaultParser()
	if mdx {
		p = parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(moduleParser{}, 50),
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)
	}
	p.AddOptions(
		parser.WithBlockParsers(
			util.Prioritized(footnoteParser{}, 90),
			util.Prioritized(extension.NewDefinitionListParser(), 101),
			util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
		),
		parser.WithInlineParsers(util.Prioritized(extension.NewStrikethroughParser(), 500), util.Prioritized(extension.NewTaskCheckBoxParser(), 0)),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	return p
}

// kindFootnote is the kind of a footnote: what begins with "[^label]:", and what is indented below.
var kindFootnote = ast.NewNodeKind("Footnote")

type footnote struct {
	ast.BaseBlock
	label string
}

func (*footnote) Kind() ast.NodeKind              { return kindFootnote }
func (n *footnote) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// A footnoteParser has footnotes where they are written, whether something refers to them or not.
type footnoteParser struct{}

func (footnoteParser) Trigger() []byte { return []byte{'['} }

func (footnoteParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], []byte("[^")) {
		return nil, parser.NoChildren
	}
	end := bytes.Index(line[at:], []byte("]:"))
	if end < 3 || bytes.ContainsAny(line[at+2:at+end], " \t[]") {
		return nil, parser.NoChildren
	}
	n := &footnote{label: string(line[at+2 : at+end])}
	reader.Advance(at + end + 2)
	return n, parser.HasChildren
}

func (footnoteParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Continue | parser.HasChildren
	}
	at, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	if at < 0 {
		return parser.Close
	}
	reader.AdvanceAndSetPadding(at, padding)
	return parser.Continue | parser.HasChildren
}

func (footnoteParser) Close(ast.Node, text.Reader, parser.Context) {}
func (footnoteParser) CanInterruptParagraph() bool                 { return true }
func (footnoteParser) CanAcceptIndentedLine() bool                 { return false }

// kindModule is the kind of what MDX imports and exports.
var kindModule = ast.NewNodeKind("Module")

type module struct{ ast.BaseBlock }

func (*module) Kind() ast.NodeKind              { return kindModule }
func (n *module) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// A moduleParser takes what MDX imports and exports, up to a blank line.
type moduleParser struct{}

func (moduleParser) Trigger() []byte { return []byte{'i', 'e'} }

func (moduleParser) Open(parent ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if parent.Kind() != ast.KindDocument || !isModule(string(line)) {
		return nil, parser.NoChildren
	}
	n := &module{}
	n.Lines().Append(segment)
	return n, parser.NoChildren
}

func (moduleParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Close
	}
	n.Lines().Append(segment)
	return parser.Continue | parser.NoChildren
}

func (moduleParser) Close(ast.Node, text.Reader, parser.Context) {}
func (moduleParser) CanInterruptParagraph() bool                 { return false }
func (moduleParser) CanAcceptIndentedLine() bool                 { return false }

// isModule reports whether a line imports or exports, and is no prose that begins with one of these words.
func isModule(line string) bool {
	if rest, ok := strings.CutPrefix(line, "import "); ok {
		rest = strings.TrimSpace(rest)
		return rest != "" && (strings.ContainsAny(rest[:1], `"'{*`) || strings.Contains(rest, " from '") || strings.Contains(rest, ` from "`))
	}
	rest, ok := strings.CutPrefix(line, "export ")
	if !ok {
		return false
	}
	word, more, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch word {
	case "const", "let", "var", "function", "async", "class":
		return strings.ContainsAny(more, "={(")
	case "default":
		return true
	}
	return strings.HasPrefix(word, "{") || word == "*"
}

// A markdownReader writes what a parser has made of Markdown. It goes over the tree without calling itself:
// emphasis may nest as deep as a file is long.
type markdownReader struct {
	w      *writer
	source []byte
	mdx    bool
	lists  []int // numbers of the next items of the lists under way; 0: without numbers
	mark   string
	closed map[string]bool // whether the source ends an element of that name anywhere
}

// write writes a tree of blocks.
func (m *markdownReader) write(root ast.Node) {
	for n, entering := root, true; n != nil; {
		down := false
		if entering {
			down = m.enter(n)
		} else {
			m.leave(n)
		}
		switch {
		case entering && down && n.FirstChild() != nil:
			n = n.FirstChild()
		case entering && down:
			entering = false
		case n == root:
			return
		case n.NextSibling() != nil:
			n, entering = n.NextSibling(), true
		default:
			n, entering = n.Parent(), false
		}
	}
}

// enter writes a block, or reports that what is in it is to be written.
func (m *markdownReader) enter(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Heading:
		title, anchor := passage.CutAnchor(strings.Join(strings.Fields(m.inline(n)), " "))
		if len(title) > passage.MaxHeading {
			m.text(title)
		} else {
			m.w.heading(n.Level, title, anchor)
			m.w.leaveOut("anchors of headings", anchor)
		}
	case *ast.Paragraph, *ast.TextBlock:
		m.text(m.inline(n))
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Value(m.source))
		}
		m.mark = ""
		m.w.code(info, m.lines(n))
	case *ast.CodeBlock:
		m.w.code("", m.lines(n))
	case *ast.HTMLBlock:
		raw := m.lines(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(m.source))
		}
		m.w.writeFragment(m.asTags(raw))
	case *module:
		m.w.leaveOut("modules of MDX", m.lines(n))
	case *extast.Table:
		var rows [][]string
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			var cells []string
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cells = append(cells, m.inline(cell))
			}
			rows = append(rows, cells)
		}
		m.w.table(rows, 1)
	case *ast.List:
		start := 0
		if n.IsOrdered() {
			start = max(n.Start, 1)
		}
		m.lists = append(m.lists, start)
		return true
	case *ast.ListItem:
		if list, ok := n.Parent().(*ast.List); ok && !list.IsTight && len(m.lists) == 1 {
			m.w.block() // items that stand apart may come into passages of their own
		}
		m.mark = "-"
		if number := &m.lists[len(m.lists)-1]; *number > 0 {
			m.mark = strconv.Itoa(*number) + "."
			*number++
		}
		return true
	case *footnote:
		m.lists, m.mark = append(m.lists, 0), "[^"+n.label+"]:"
		return true
	case *extast.DefinitionTerm:
		m.text(m.inline(n))
	case *extast.DefinitionDescription:
		m.lists, m.mark = append(m.lists, 0), ":"
		return true
	default:
		return n.Type() != ast.TypeInline
	}
	return false
}

func (m *markdownReader) leave(n ast.Node) {
	switch n.(type) {
	case *ast.List, *footnote, *extast.DefinitionDescription:
		m.lists = m.lists[:len(m.lists)-1]
	}
}

// text writes a paragraph, or a part of an item.
func (m *markdownReader) text(text string) {
	if len(m.lists) == 0 {
		m.w.paragraph(text)
		return
	}
	m.w.item(len(m.lists)-1, m.mark, text)
	m.mark = ""
}

// lines are the lines of a block as they are.
func (m *markdownReader) lines(n ast.Node) string { return string(n.Lines().Value(m.source)) }

// inline is the text within a block.
func (m *markdownReader) inline(root ast.Node) string {
	var b strings.Builder
	var links []int // where the texts of links under way begin
	for n, entering := root.FirstChild(), true; n != nil; {
		down := false
		switch t := n.(type) {
		case *ast.Text:
			b.Write(m.plain(t))
		case *ast.String:
			b.Write(t.Value)
		case *ast.CodeSpan:
			if entering {
				m.codeSpan(&b, t)
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
				m.closeLink(&b, at, string(t.Destination))
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
func (m *markdownReader) closeLink(b *strings.Builder, at int, target string) {
	if !isAddress(target) {
		m.w.leaveOut("targets of links within the files", target)
		return
	}
	text := b.String()
	link := linkText(text[at:], target)
	if link == strings.TrimSpace(text[at:]) {
		m.w.leaveOut("targets of links that their text says", target)
	} else {
		rest := strings.Clone(text[:at])
		b.Reset()
		b.WriteString(rest)
		b.WriteString(link)
	}
}

// plain is a stretch of text, with what is escaped as it is meant.
func (m *markdownReader) plain(t *ast.Text) []byte {
	value := t.Segment.Value(m.source)
	if !t.IsRaw() && bytes.ContainsAny(value, `\&`) {
		value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
	}
	if t.SoftLineBreak() || t.HardLineBreak() {
		value = append(bytes.TrimRight(bytes.Clone(value), " \t"), '\n')
	}
	return value
}

// codeSpan writes code within a line, byte for byte.
func (m *markdownReader) codeSpan(b *strings.Builder, n *ast.CodeSpan) {
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
	b.WriteString(tick + text + tick)
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
	z := html.NewTokenizer(strings.NewReader(raw))
	z.Next()
	t := z.Token()
	words := countWords(raw)
	defer func() { m.w.noteLeft("tags of HTML", words) }()
	if t.Data == "br" || t.Data == "hr" {
		return "\n"
	}
	said := ""
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
	name := strings.ToLower(strings.TrimLeft(raw, "</"))
	end := strings.IndexFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if end <= 0 {
		return false
	}
	name, rest := name[:end], name[end:]
	ends, known := elements[name]
	if !known || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, ":") {
		return false
	}
	return !ends || strings.HasPrefix(raw, "</") || strings.Contains(rest, "=") || strings.HasSuffix(rest, "/>") || m.hasEnd(name)
}

// hasEnd reports whether an element called name is ended anywhere.
func (m *markdownReader) hasEnd(name string) bool {
	if has, ok := m.closed[name]; ok {
		return has
	}
	if m.closed == nil {
		m.closed = map[string]bool{}
	}
	has := bytes.Contains(bytes.ToLower(m.source), []byte("</"+name))
	m.closed[name] = has
	return has
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
