package reader

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// readMarkdown reads Markdown, with front matter.
func readMarkdown(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	return readMarked(ctx, data, false)
}

// readMDX reads Markdown with modules and components.
func readMDX(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	return readMarked(ctx, data, true)
}

func readMarked(ctx context.Context, data []byte, mdx bool) (*Page, error) {
	source, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	w.b.Grow(len(source))
	body := p.takeFrontMatter(source, w)
	writeMarkdown(w, body, mdx, 1+max(strings.Count(source, "\n")-strings.Count(body, "\n"), 0))
	w.finish(p)
	return p, nil
}

// writeMarkdown writes the text of Markdown, whose first line is this one of the file; 0: not known.
func writeMarkdown(w *writer, source string, mdx bool, line int) {
	if !isParsable(source) {
		w.plain(source, line)
		return
	}
	m := markdownReader{w: w, source: make([]byte, 0, len(source)+1), mdx: mdx, line: line}
	if m.source = append(m.source, source...); !strings.HasSuffix(source, "\n") {
		m.source = append(m.source, '\n') // without it, the parser cuts what a last fence says
	}
	known := parser.NewContext()
	p := markdownParser()
	if mdx {
		p = mdxParser()
	}
	m.write(p.Parse(lineInput{text.NewReader(m.source), w.b.ctx}, parser.WithContext(known)))
	for _, r := range known.References() {
		w.leaveOut("definitions of links", string(r.Label())+" "+string(r.Destination())+" "+string(r.Title()))
	}
}

// markdownParser and mdxParser are the parsers of all files: a notebook has a text for each of its cells.
var (
	markdownParser = sync.OnceValue(func() parser.Parser { return newMarkdownParser(false) })
	mdxParser      = sync.OnceValue(func() parser.Parser { return newMarkdownParser(true) })
)

// newMarkdownParser returns a parser of CommonMark with tables, strikethrough, tasks, definitions and footnotes,
// which stay where they are written. In MDX, what HTML would be is components in text, and indented text is
// no code.
func newMarkdownParser(mdx bool) parser.Parser {
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

// A markdownReader writes what a parser has made of Markdown. It goes over the tree without calling itself:
// emphasis may nest as deep as a file is long.
type markdownReader struct {
	w      *writer
	source []byte
	mdx    bool
	lists  []int // numbers of the next items of the lists under way; 0: without numbers
	mark   string
	inText bytes.Buffer    // what inline puts together
	listed int             // where the list under way begins
	items  int             // of it
	linked int             // items that are a link
	closed map[string]bool // the names of elements that the source ends anywhere; nil: not looked for yet

	line, at int // a line of the file, 0: not known, and where in source it is
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
	m.place(n)
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
			rows = append(rows, append(cells, m.beyondColumns(row)...))
		}
		m.w.table(rows, 1)
	case *ast.List:
		start := 0
		if n.IsOrdered() {
			start = max(n.Start, 1)
		}
		if len(m.lists) == 0 {
			m.listed, m.items, m.linked = m.w.b.Len(), 0, 0
		}
		m.lists = append(m.lists, start)
		return true
	case *ast.ListItem:
		m.items++
		if isLink(n.FirstChild()) {
			m.linked++
		}
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

// place notes on which line of the file a block begins.
func (m *markdownReader) place(n ast.Node) {
	if m.line == 0 || n.Type() != ast.TypeBlock {
		return
	}
	for c := n; c != nil; c = c.FirstChild() { // a table has its lines in its cells
		at := -1
		if t, ok := c.(*ast.Text); ok {
			at = t.Segment.Start
		} else if c.Type() == ast.TypeBlock && c.Lines().Len() > 0 {
			at = c.Lines().At(0).Start
		}
		if at >= m.at {
			m.line += bytes.Count(m.source[m.at:at], []byte("\n"))
			m.at = at
			m.w.place(m.line)
			return
		}
	}
}

func (m *markdownReader) leave(n ast.Node) {
	switch n.(type) {
	case *ast.List, *footnote, *extast.DefinitionDescription:
		m.lists = m.lists[:len(m.lists)-1]
	}
	if n.Kind() == ast.KindList && len(m.lists) == 0 && m.linked >= minListing && 10*m.linked >= 8*m.items {
		m.w.lists = append(m.w.lists, listing{m.listed, m.w.b.Len()})
	}
}

// beyondColumns are the cells of a row that its table has no columns for, as they are written: the parser drops them.
func (m *markdownReader) beyondColumns(row ast.Node) []string {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return nil
	}
	rest, _, _ := bytes.Cut(m.source[last.Lines().At(0).Stop:], []byte("\n"))
	text := strings.Trim(string(rest), " \t\r|")
	if text == "" {
		return nil
	}
	return strings.Split(text, "|")
}

// isLink reports whether a block is a link and nothing else.
func isLink(block ast.Node) bool {
	return block != nil && block.ChildCount() == 1 && block.FirstChild().Kind() == ast.KindLink
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
func (m *markdownReader) lines(n ast.Node) string {
	var b strings.Builder
	lines := n.Lines()
	if last := lines.Len() - 1; last >= 0 {
		b.Grow(lines.At(last).Stop - lines.At(0).Start)
	}
	for i := range lines.Len() {
		line := lines.At(i)
		b.Write(line.Value(m.source))
	}
	return b.String()
}
