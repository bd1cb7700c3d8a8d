package cmdutil

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/parley-search/parley/host/internal/base/logs"
)

// TerminalWidth is how many columns the terminal behind w has; 0: there is none.
func TerminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !logs.IsTerminal(f) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	switch {
	case err != nil:
		return 0 // a device, but no terminal
	case width == 0:
		return 80 // one that does not say
	}
	return width
}

// StripControls returns text without what a terminal would obey: answers and documents
// come from others.
func StripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// A Wrapper writes text that comes in pieces to a terminal, with lines broken
// between words. Lines of code, between fences, are left as they are.
type Wrapper struct {
	Out    io.Writer
	Width  int // of the terminal; 0: no line is broken
	column int
	word   strings.Builder // what came of a word that is not over
	line   strings.Builder // the line of the text so far, as far as a fence may be told by it
	fenced bool
}

const fence = "```"

// Add takes a piece.
func (p *Wrapper) Add(piece string) error {
	var out strings.Builder
	for _, r := range StripControls(piece) {
		if p.line.Len() < len(fence) && r != '\n' {
			p.line.WriteRune(r)
		}
		switch {
		case r == '\n':
			p.put(&out)
			if p.line.String() == fence {
				p.fenced = !p.fenced
			}
			p.line.Reset()
			out.WriteRune(r)
			p.column = 0
		case r == ' ' || r == '\t':
			p.put(&out)
			p.word.WriteRune(r)
			p.put(&out)
		default:
			p.word.WriteRune(r)
			if p.Width == 0 {
				p.put(&out)
			}
		}
	}
	_, err := io.WriteString(p.Out, out.String())
	return err
}

// put writes the word, or space, that is gathered.
func (p *Wrapper) put(out *strings.Builder) {
	word := p.word.String()
	if word == "" {
		return
	}
	p.word.Reset()
	wide := runewidth.StringWidth(word)
	if p.Width > 0 && !p.fenced && p.column+wide > p.Width {
		if word == " " || word == "\t" {
			return // the next word begins a line
		}
		if p.column > 0 {
			out.WriteByte('\n')
			p.column = 0
		}
	}
	out.WriteString(word)
	p.column += wide
}

// End writes what is left, and ends the line.
func (p *Wrapper) End() error {
	var out strings.Builder
	p.put(&out)
	if p.column > 0 {
		out.WriteByte('\n')
		p.column = 0
	}
	_, err := io.WriteString(p.Out, out.String())
	return err
}
