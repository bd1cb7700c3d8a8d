package reader

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

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
	end := footnoteMark(string(line[at:]))
	if end == 0 {
		return nil, parser.NoChildren
	}
	n := &footnote{label: string(line[at+2 : at+end-2])}
	reader.Advance(at + end)
	return n, parser.HasChildren
}

// footnoteMark is the length of the mark of a footnote that a line begins with; 0: there is none.
func footnoteMark(line string) int {
	if !strings.HasPrefix(line, "[^") {
		return 0
	}
	end := strings.Index(line, "]:")
	if end < 3 || strings.ContainsAny(line[2:end], " \t[]") {
		return 0
	}
	return end + 2
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
