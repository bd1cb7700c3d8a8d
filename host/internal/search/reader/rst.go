package reader

import (
	"context"
	"slices"
	"strings"
)

// readRST reads reStructuredText: headings are underlined, each kind of line a level in the order in which
// they come; directives are taken away, their contents stay.
func readRST(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p := &Page{Encoding: encoding}
	r := rstReader{w: newWriter(ctx), lines: strings.Split(strings.ReplaceAll(text, "\t", "        "), "\n"), replaced: map[string]string{}}
	for _, line := range r.lines {
		if name, text, ok := rstReplacement(line); ok && len(text) <= maxReplaced {
			r.replaced[name] = text
		}
	}
	for r.at < len(r.lines) {
		r.line()
	}
	r.w.finish(p)
	return p, nil
}

type rstReader struct {
	w        *writer
	lines    []string
	at       int
	kinds    []string          // of lines below headings, in the order of their levels
	replaced map[string]string // what is written for |name|
}

// maxReplaced bounds the text that a name stands for, in bytes. A longer one stays where it is defined.
const maxReplaced = 1000

// rstReplacement reads ".. |name| replace:: text".
func rstReplacement(line string) (name, text string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), ".. |")
	if !ok {
		return "", "", false
	}
	name, rest, ok = strings.Cut(rest, "|")
	if !ok {
		return "", "", false
	}
	_, text, ok = strings.Cut(rest, "replace::")
	return name, strings.TrimSpace(text), ok
}

// line writes the next line, with those that belong to it.
func (r *rstReader) line() {
	line := r.lines[r.at]
	r.at++
	r.w.place(r.at)
	if kind := ruleOf(line); kind != "" && r.at+1 < len(r.lines) && ruleOf(r.lines[r.at+1]) == kind && strings.TrimSpace(r.lines[r.at]) != "" {
		return // a line above a heading
	}
	bare := strings.TrimSpace(line)
	if bare != "" && r.at < len(r.lines) && (line[0] != ' ' || r.at > 1 && ruleOf(r.lines[r.at-2]) != "") {
		if kind := ruleOf(r.lines[r.at]); kind != "" && len(strings.TrimSpace(r.lines[r.at])) >= len([]rune(bare))-1 {
			r.heading(bare, kind)
			return
		}
	}
	switch {
	case bare == "":
		r.w.block()
	case strings.HasPrefix(bare, ".. ") || bare == "..":
		r.explicit(line, strings.TrimSpace(bare[2:]))
	case isRSTTable(bare):
		if text := strings.Trim(bare, "+|= -"); text != "" {
			r.put(line)
		}
	default:
		r.put(line)
	}
}

func isRSTTable(bare string) bool {
	return (strings.HasPrefix(bare, "+-") || strings.HasPrefix(bare, "+=") || strings.HasPrefix(bare, "==")) && strings.Trim(bare, "+-= ") == ""
}

// put writes a line of text.
func (r *rstReader) put(line string) {
	line = r.inline(line)
	if strings.HasSuffix(line, "::") && strings.TrimSpace(line) != "::" {
		line = line[:len(line)-1] // code comes
	}
	r.w.b.WriteString(plainLine(clean(strings.TrimRight(line, " "))) + "\n")
}

func (r *rstReader) heading(text, kind string) {
	r.at++
	if r.at > 2 && ruleOf(r.lines[r.at-3]) == kind {
		kind += kind // with a line above, too
	}
	level := slices.Index(r.kinds, kind) + 1
	if level == 0 {
		r.kinds = append(r.kinds, kind)
		level = len(r.kinds)
	}
	r.w.heading(level, r.inline(text), "")
}

// rstUnsaid are the directives whose argument is not for readers: a language, a file. Of others it is the
// beginning of what they say.
var rstUnsaid = map[string]bool{
	"code": true, "code-block": true, "sourcecode": true, "highlight": true,
	"image": true, "figure": true, "toctree": true, "contents": true, "raw": true, "role": true,
	"currentmodule": true, "module": true, "index": true, "only": true, "default-role": true,
}

// explicit writes what begins with two dots: a directive, a footnote, where a link leads, or a comment. line
// is the whole one, and text what is behind the dots.
func (r *rstReader) explicit(line, text string) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	name, argument, isDirective := strings.Cut(text, "::")
	switch {
	case strings.HasPrefix(text, "[") && strings.Contains(text, "]"): // a footnote
		r.put(line[:indent] + text)
	case strings.HasPrefix(text, "_"):
		target := text[strings.LastIndex(text, ":")+1:]
		if label, address, ok := strings.Cut(text[1:], ": "); ok && isAddress(strings.TrimSpace(address)) {
			r.put(line[:indent] + strings.Trim(label, "`") + ": " + strings.TrimSpace(address))
			return
		}
		r.w.leaveOut("names of places", text[:len(text)-len(target)])
	case isDirective && isRSTName(name):
		argument = strings.TrimSpace(argument)
		name = name[strings.LastIndex(name, "|")+1:]
		name = strings.TrimSpace(name)
		switch {
		case name == "include" || name == "literalinclude":
			r.put(line[:indent] + "(includes " + argument + ")")
		case name == "replace" && len(argument) <= maxReplaced:
			r.w.leaveOut("definitions of replacements", text)
		case rstUnsaid[name]:
			r.w.leaveOut("arguments of directives", argument)
		case argument != "":
			r.put(line[:indent] + argument)
		}
		r.w.leaveOut("names of directives", name)
		for r.at < len(r.lines) {
			key, value, ok := rstOption(r.lines[r.at])
			if !ok {
				break
			}
			if key == "alt" || key == "caption" || key == "name" && name == "admonition" || key == "header" && name == "csv-table" {
				r.put(line[:indent] + value)
			} else {
				r.w.leaveOut("options of directives", r.lines[r.at])
			}
			r.at++
		}
	default:
		r.w.leaveOut("comments", text)
		for r.at < len(r.lines) && strings.HasPrefix(r.lines[r.at], strings.Repeat(" ", indent+1)) {
			r.w.leaveOut("comments", r.lines[r.at])
			r.at++
		}
	}
}

func isRSTName(name string) bool {
	if strings.HasPrefix(name, "|") {
		return strings.Count(name, "|") == 2
	}
	return name != "" && !strings.Contains(name, " ")
}

// rstOption reads a line such as "   :header-rows: 1".
func rstOption(line string) (key, value string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	if rest == line || !strings.HasPrefix(rest, ":") {
		return "", "", false
	}
	key, value, ok = strings.Cut(rest[1:], ":")
	return key, strings.TrimSpace(value), ok && key != "" && (value == "" || value[0] == ' ')
}

// rstLiteral are the roles whose text is as it is written.
var rstLiteral = map[string]bool{"code": true, "literal": true, "samp": true, "math": true, "file": true, "kbd": true, "command": true, "program": true, "regexp": true}

// inline is a line without the marks of roles and links, which keep their addresses.
func (r *rstReader) inline(line string) string {
	var b textBuilder
	for line != "" {
		at := strings.IndexAny(line, "`|\\")
		if at < 0 || at+1 == len(line) {
			break
		}
		role, before := "", line[:at]
		if line[at] == '`' && !strings.HasPrefix(line[at:], "``") && strings.Contains(line[at+1:], "`") {
			role, before = roleBefore(before)
		}
		b.WriteString(before)
		mark := line[at : at+1]
		line = line[at:]
		switch {
		case mark == `\`:
			if line[1] != ' ' {
				b.WriteByte(line[1])
			}
			line = line[2:]
			continue
		case mark == "|":
			name, rest, ok := strings.Cut(line[1:], "|")
			text, known := r.replaced[name]
			if ok && known {
				b.WriteString(text)
				line = strings.TrimLeft(rest, "_")
				continue
			}
			b.WriteString(mark)
			line = line[1:]
			continue
		case strings.HasPrefix(line, "``"):
			code, rest, ok := strings.Cut(line[2:], "``")
			if !ok {
				b.WriteString(line)
				return b.String()
			}
			b.WriteString("`" + code + "`")
			line = rest
			continue
		}
		text, rest, ok := strings.Cut(line[1:], "`")
		if !ok {
			break
		}
		r.w.leaveOut("names of roles", role)
		isLink := strings.HasPrefix(rest, "_")
		line = strings.TrimLeft(rest, "_")
		if open := strings.LastIndex(text, " <"); open >= 0 && strings.HasSuffix(text, ">") && (isLink || role != "" && !rstLiteral[role]) {
			target := text[open+2 : len(text)-1]
			if !isAddress(target) {
				r.w.leaveOut("targets of links within the files", target)
			}
			text = linkText(text[:open], target)
		}
		b.WriteString(text)
	}
	b.WriteString(line)
	return b.String()
}

// roleBefore takes a role such as ":ref:" off the end of a text.
func roleBefore(text string) (role, before string) {
	if !strings.HasSuffix(text, ":") {
		return "", text
	}
	name := strings.TrimRightFunc(text[:len(text)-1], func(c rune) bool { return 'a' <= c && c <= 'z' || c == '-' || c == '+' || c == ':' })
	role = text[len(name) : len(text)-1]
	if !strings.HasPrefix(role, ":") || len(role) < 2 {
		return "", text
	}
	return role[1:], name
}

// ruleOf returns the character that a line of three or more repeats, if it is one of punctuation.
func ruleOf(line string) string {
	line = strings.TrimRight(line, " ")
	if len(line) < 3 || !strings.ContainsRune("=-~^\"'`#*+.:_<>", rune(line[0])) || strings.Trim(line, line[:1]) != "" {
		return ""
	}
	return line[:1]
}
