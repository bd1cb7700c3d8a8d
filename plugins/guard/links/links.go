package main

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/guard"
)

// links lets an answer lead to hosts of a list, and to those that the passages come from.
// Links and images to others lose their target: the text of a link stays, its address goes.
type links struct {
	hosts guard.Config[[]string]
	state []byte
}

// Bounds of what it looks at, in bytes.
const (
	maxLink  = 4000     // a link with all that belongs to it
	maxBack  = 24       // how far rules look back from where a link shows
	maxHosts = 32 << 10 // of the passages
)

// removed stands where an address was that was shown itself.
const removed = "(link removed)"

func readHosts(in *guard.In) ([]string, error) {
	return strings.Fields(strings.ToLower(strings.ReplaceAll(in.Option("hosts"), ",", " "))), nil
}

func (g *links) Check(in *guard.In, out *guard.Out) error {
	if in.Stage == guard.Passages {
		g.remember(in, out)
		return nil
	}
	listed, err := g.hosts.Of(in, readHosts)
	if err != nil {
		return err
	}
	found := strings.Split(string(in.State), "\n")
	allowed := func(host string) bool {
		for _, h := range listed {
			if rest, ok := strings.CutPrefix(h, "*"); h == host || ok && strings.HasSuffix(host, rest) {
				return true
			}
		}
		return host != "" && in.Option("passages") != "false" && slices.Contains(found, host)
	}
	text, taken := in.Text(), false
	for from := 0; ; {
		l, ok := next(text, from, in.Last)
		open := ok && l.open && !in.Last
		if ok && l.end-l.start > maxLink {
			out.Note(0)
			out.Refuse(0, l.start, "The answer had a link that is too long.")
			return nil
		}
		if open || !ok {
			hold := len(text)
			if open {
				if hold = l.start; hold > from && text[hold-1] > ' ' && text[hold-1] < utf8.RuneSelf {
					hold-- // it decides what the link is
				}
			}
			if !in.Last {
				hold = min(hold, max(from, lastWord(text)))
			}
			if !in.Last || hold < len(text) {
				out.Hold(hold)
			}
			break
		}
		if !l.leadsTo(text, allowed) {
			out.Edit(0, l.start, l.end-l.start, l.without)
			taken = true
		}
		from = l.end
	}
	if taken {
		out.Note(0)
	}
	return nil
}

// remember keeps the hosts that passages come from.
func (g *links) remember(in *guard.In, out *guard.Out) {
	g.state = append(g.state[:0], in.State...)
	for _, item := range in.Items {
		if item.Kind != abi.ItemURL {
			continue
		}
		host := hostOf(item.Text)
		if host == "" || slices.Contains(strings.Split(string(g.state), "\n"), host) || len(g.state)+len(host) > maxHosts {
			continue
		}
		g.state = append(append(g.state, host...), '\n')
	}
	out.State(g.state)
}

// lastWord returns where the ASCII word begins that text ends with, at most maxBack bytes
// back: what may turn out to be a link's beginning.
func lastWord(text []byte) int {
	i := len(text)
	for i > 0 && len(text)-i < maxBack && text[i-1] > ' ' && text[i-1] < utf8.RuneSelf {
		i--
	}
	return i
}

// A link is a place of a text that leads somewhere.
type link struct {
	start, end int    // all that goes where the target is not allowed
	from, to   int    // the target
	relative   bool   // the target may be a path
	without    string // what stands there without the target
	open       bool   // the text ends before the link does
}

func (l link) leadsTo(text []byte, allowed func(host string) bool) bool {
	target := bytes.TrimSpace(text[l.from:l.to])
	if l.relative {
		target = bytes.TrimSuffix(bytes.TrimPrefix(target, []byte("<")), []byte(">"))
		if isPath(target) {
			return true
		}
	}
	return allowed(hostOf(target))
}

// isPath reports whether a target of Markdown stays on the page's own host, or opens a
// program for mail or phones without words in it.
func isPath(target []byte) bool {
	first := target
	if i := bytes.IndexAny(target, "/?#"); i >= 0 {
		first = target[:i]
	}
	if bytes.ContainsAny(first, "&\\\x00\t\n\r%") || bytes.HasPrefix(target, []byte("//")) || bytes.HasPrefix(target, []byte(`/\`)) {
		return false
	}
	scheme, rest, ok := bytes.Cut(first, []byte(":"))
	if !ok {
		return !hasPrefixFold(target, "www.")
	}
	name := strings.ToLower(string(scheme))
	return (name == "mailto" || name == "tel") && !bytes.ContainsAny(target, "?&") && len(rest) > 0
}

// hostOf returns the host of an address, in lower case; "" where it has none that is
// written plainly.
func hostOf(address []byte) string {
	rest := address
	if i := bytes.IndexByte(address, ':'); i >= 0 && !bytes.ContainsAny(address[:i], "/\\?#.") {
		rest = address[i+1:]
		if !bytes.HasPrefix(rest, []byte("//")) {
			return ""
		}
	}
	rest = bytes.TrimPrefix(rest, []byte("//"))
	if i := bytes.IndexAny(rest, "/\\?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := bytes.IndexByte(rest, ':'); i >= 0 && bytes.IndexByte(rest, '@') < 0 {
		rest = rest[:i]
	}
	host := strings.TrimSuffix(strings.ToLower(string(rest)), ".")
	for _, c := range host {
		if c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return host
}

// schemes are those that browsers follow without // as well.
var schemes = []string{"http", "https", "ftp", "ws", "wss", "file"}

// next returns the first link at or behind from.
func next(text []byte, from int, last bool) (link, bool) {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case ']':
			if i+1 == len(text) {
				return link{start: i, end: i, open: true}, !last
			}
			if l, ok := bracket(text, i); ok {
				return l, true
			}
		case ':':
			if l, ok := address(text, from, i); ok && (l.open && !last || len(bytes.Trim(text[i+1:max(l.to, i+1)], `/\\`)) > 0) {
				return l, true
			}
		case '/', '\\':
			if i > from && strings.IndexByte(`"'=(<`, text[i-1]) >= 0 && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '\\') {
				if l := bare(text, from, i); bytes.IndexByte(text[l.from:l.to], '.') > 0 || l.open && !last {
					return l, true
				}
			}
		case 'w', 'W':
			// Whatever stands before it: that may have been let go in a call before.
			if bytes.HasPrefix(text[i:], []byte("www.")) || bytes.HasPrefix(text[i:], []byte("WWW.")) {
				if l := bare(text, from, i); l.to > i+4 || l.open && !last {
					return l, true
				}
			}
		}
	}
	return link{}, false
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

// isName reports whether c may be in the name of a scheme.
func isName(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '-' || c == '.'
}

// address returns the link whose scheme ends with the colon at i.
func address(text []byte, from, i int) (link, bool) {
	start := i
	for start > from && i-start < 20 && isName(text[start-1]) {
		start--
	}
	if start == i {
		return link{}, false
	}
	known := slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, string(text[start:i])) })
	after := text[i+1:]
	switch {
	case len(after) == 0, !known && len(after) == 1 && after[0] == '/':
		return link{start: start, end: i, open: true}, true
	case bytes.HasPrefix(after, []byte("//")), known && (after[0] == '/' || after[0] == '\\' || isName(after[0]) || after[0] == '['):
		return bare(text, from, start), true
	}
	return link{}, false
}

// bare returns the link that an address beginning at start is, with < and > around it.
func bare(text []byte, from, start int) link {
	end, parens := start, 0
	for end < len(text) {
		r, n := utf8.DecodeRune(text[end:])
		if r <= ' ' || strings.ContainsRune("<>\"`|{}]", r) || r == 0xA0 || r >= 0x3000 && r <= 0x3020 || r >= 0xFF01 && r <= 0xFF1F || r == 0xFF5E {
			break
		}
		if r == '(' {
			parens++
		}
		if r == ')' {
			if parens--; parens < 0 {
				break
			}
		}
		end += n
	}
	l := link{start: start, end: end, from: start, to: end, without: removed, open: end == len(text)}
	for l.to > start+1 && strings.IndexByte(".,;:!?*_'", text[l.to-1]) >= 0 {
		l.to--
	}
	l.end = l.to
	if start > from && text[start-1] == '<' && l.end == end && end < len(text) && text[end] == '>' {
		l.start, l.end = start-1, end+1
	}
	return l
}

// bracket returns the link whose text ends with the ] at i: [text](target "title"), or
// the target of a reference: [name]: target.
func bracket(text []byte, i int) (l link, ok bool) {
	sign := text[i+1]
	if sign != '(' && sign != ':' {
		return l, false
	}
	l = link{start: i, relative: true, without: "]"}
	at := skipSpaces(text, i+2)
	l.from = at
	parens := 0
	for at < len(text) && text[at] > ' ' {
		if text[at] == '(' {
			parens++
		}
		if text[at] == ')' && sign == '(' {
			if parens--; parens < 0 {
				break
			}
		}
		at++
	}
	l.to, l.end = at, at
	if at == len(text) {
		l.open = true
		return l, true
	}
	if sign == ':' {
		l.start, l.without = l.from, "#"
		return l, true
	}
	if text[at] == ')' {
		l.end = at + 1
		return l, true
	}
	// A title, or no link at all: up to the ) of the same paragraph.
	for end := at; ; end++ {
		switch {
		case end == len(text):
			l.end, l.open = end, true
			return l, true
		case text[end] == ')':
			l.end = end + 1
			return l, true
		case end-at > 300, text[end] == '\n' && end+1 < len(text) && text[end+1] == '\n':
			return l, true
		}
	}
}

// skipSpaces returns where the spaces end that text[at:] begins with, at most eight.
func skipSpaces(text []byte, at int) int {
	for n := 0; n < 8 && at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0; n++ {
		at++
	}
	return at
}
