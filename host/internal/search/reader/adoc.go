package reader

import (
	"context"
	"strings"
)

// readAsciiDoc reads AsciiDoc.
func readAsciiDoc(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p := &Page{Encoding: encoding}
	r := adocReader{w: newWriter(ctx), values: map[string]string{}}
	for i, line := range strings.Split(text, "\n") {
		if r.block == "" {
			r.w.place(i + 1)
		}
		r.line(line)
	}
	r.end()
	r.w.finish(p)
	return p, nil
}

type adocReader struct {
	w      *writer
	values map[string]string // of attributes
	block  string            // the line that began the block under way, and ends it
	lines  []string          // of this block
}

// adocBlocks are what blocks begin and end with whose lines are as they are: code, literal text, and comments.
var adocBlocks = []string{"----", "....", "////", "++++", "```"}

// end ends the block under way.
func (r *adocReader) end() {
	text := strings.Join(r.lines, "\n")
	switch {
	case r.block == "":
	case strings.HasPrefix(r.block, "////"):
		r.w.leaveOut("comments", text)
	case strings.HasPrefix(r.block, "++++"):
		r.w.writeFragment(text)
	default:
		r.w.code("", text)
	}
	r.block, r.lines = "", nil
}

func (r *adocReader) line(line string) {
	bare := strings.TrimRight(line, " \t")
	if r.block != "" {
		if bare == r.block {
			r.end()
		} else {
			r.lines = append(r.lines, line)
		}
		return
	}
	for _, b := range adocBlocks {
		if strings.HasPrefix(bare, b) && (strings.Trim(bare, b[:1]) == "" || b == "```") {
			r.block = bare
			if b == "```" {
				r.block = b
			}
			return
		}
	}
	switch marks := len(bare) - len(strings.TrimLeft(bare, "=")); {
	case bare == "":
		r.w.block()
	case strings.HasPrefix(bare, "//"):
		r.w.leaveOut("comments", bare)
	case bare[0] == '[' && strings.HasSuffix(bare, "]"):
		r.w.leaveOut("attributes of blocks", bare)
	case r.attribute(bare), r.macro(bare):
	case marks == len(bare) && marks > 3, bare == "====", bare == "****", bare == "____", bare == "|===", bare == "--":
		r.w.block() // the beginning or the end of a block
	case marks > 0 && marks <= 6 && len(bare) > marks && bare[marks] == ' ':
		r.w.heading(marks, r.inline(bare[marks+1:]), "")
	case len(bare) > 1 && bare[0] == '.' && bare[1] != '.' && bare[1] != ' ': // a title
		r.w.block()
		r.put(bare[1:] + ":")
		r.w.block()
	default:
		r.put(line)
	}
}

func (r *adocReader) put(line string) {
	r.w.b.WriteString(plainLine(clean(strings.TrimRight(r.inline(line), " \t"))) + "\n")
}

// attribute reads ":name: value".
func (r *adocReader) attribute(line string) bool {
	rest, ok := strings.CutPrefix(line, ":")
	if !ok {
		return false
	}
	name, value, ok := strings.Cut(rest, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") || value != "" && value[0] != ' ' || len(value) > maxReplaced {
		return false
	}
	r.values[name] = strings.TrimSpace(value)
	r.w.leaveOut("attributes of the page", line)
	return true
}

// macro reads a line that is a macro for a block: what is included, and conditions.
func (r *adocReader) macro(line string) bool {
	name, rest, ok := strings.Cut(line, "::")
	target, text, isMacro := strings.Cut(strings.TrimSuffix(rest, "]"), "[")
	if !ok || !isMacro || !strings.HasSuffix(rest, "]") || strings.ContainsAny(name, " \t") {
		return false
	}
	switch name {
	case "include":
		r.put("(includes " + target + ")")
	case "ifdef", "ifndef", "ifeval", "endif":
		if text == "" || name == "ifeval" {
			r.w.leaveOut("conditions", line)
		} else {
			r.w.leaveOut("conditions", target)
			r.put(text)
		}
	case "image", "video", "audio":
		r.w.leaveOut("files of pictures", target)
		r.put(text)
	default:
		return false
	}
	return true
}

// inline is a line with its attributes filled in, and links with their addresses.
func (r *adocReader) inline(line string) string {
	var b textBuilder
	for line != "" {
		at := strings.IndexAny(line, "{[`<")
		if at < 0 {
			break
		}
		switch line[at] {
		case '{':
			name, rest, ok := cutNear(line[at+1:], "}")
			value, known := r.values[name]
			b.WriteString(line[:at])
			if ok && known {
				b.WriteString(value)
				line = rest
			} else {
				b.WriteByte('{')
				line = line[at+1:]
			}
		case '`':
			code, rest, ok := strings.Cut(line[at+1:], "`")
			if !ok {
				b.WriteString(line)
				return b.String()
			}
			b.WriteString(line[:at] + "`" + strings.TrimSuffix(strings.TrimPrefix(code, "+"), "+") + "`")
			line = rest
		case '<':
			ref, rest, ok := cutNear(line[at:], ">>")
			if !ok || !strings.HasPrefix(ref, "<<") {
				b.WriteString(line[:at+1])
				line = line[at+1:]
				continue
			}
			target, text, named := strings.Cut(ref[2:], ",")
			if !named {
				text = target
			} else {
				r.w.leaveOut("targets of links within the files", target)
			}
			b.WriteString(line[:at] + strings.TrimSpace(text))
			line = rest
		case '[':
			start := strings.LastIndexAny(line[:at], " \t(") + 1
			text, rest, ok := cutNear(line[at+1:], "]")
			target := line[start:at]
			if !ok || !strings.Contains(target, ":") {
				b.WriteString(line[:at+1])
				line = line[at+1:]
				continue
			}
			b.WriteString(line[:start] + r.linked(target, text))
			line = rest
		}
	}
	b.WriteString(line)
	return b.String()
}

// linked is a macro within a line as text: a link, a footnote, a key.
func (r *adocReader) linked(target, text string) string {
	name, rest, _ := strings.Cut(target, ":")
	switch name {
	case "link", "xref", "mailto", "image":
		if name == "mailto" {
			rest = target
		}
		if !isAddress(rest) {
			r.w.leaveOut("targets of links within the files", rest)
		}
		return linkText(text, rest)
	case "http", "https", "ftp":
		return linkText(text, target)
	case "kbd", "btn", "menu", "pass", "stem", "indexterm":
		return strings.TrimSpace(rest + " " + text)
	}
	if before, ok := strings.CutSuffix(target, "footnote:"); ok { // it stands at the end of a word
		return before + " (" + text + ")"
	}
	return target + "[" + text + "]"
}
