package main

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/parley-search/parley/host"
)

// terminalWidth is how many columns the terminal behind w has; 0: there is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !host.IsTerminal(f) {
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

// stripControls returns text without what a terminal would obey: answers and documents
// come from others.
func stripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// A wrapper writes text that comes in pieces to a terminal, with lines broken
// between words. Lines of code, between fences, are left as they are.
type wrapper struct {
	w      io.Writer
	width  int // of the terminal; 0: no line is broken
	column int
	word   strings.Builder // what came of a word that is not over
	line   strings.Builder // the line of the text so far, as far as a fence may be told by it
	fenced bool
}

const fence = "```"

// add takes a piece.
func (p *wrapper) add(piece string) error {
	var out strings.Builder
	for _, r := range stripControls(piece) {
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
			if p.width == 0 {
				p.put(&out)
			}
		}
	}
	_, err := io.WriteString(p.w, out.String())
	return err
}

// put writes the word, or space, that is gathered.
func (p *wrapper) put(out *strings.Builder) {
	word := p.word.String()
	if word == "" {
		return
	}
	p.word.Reset()
	wide := runewidth.StringWidth(word)
	if p.width > 0 && !p.fenced && p.column+wide > p.width {
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

// end writes what is left, and ends the line.
func (p *wrapper) end() error {
	var out strings.Builder
	p.put(&out)
	if p.column > 0 {
		out.WriteByte('\n')
		p.column = 0
	}
	_, err := io.WriteString(p.w, out.String())
	return err
}
