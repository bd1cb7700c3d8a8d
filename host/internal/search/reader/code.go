package reader

import (
	"context"
	"errors"
	"html"
	"regexp"
	"strings"
)

// languages are the languages of source code, configuration and markup by file name extension, as fences call
// them.
var languages = map[string]string{
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp", ".css": "css", ".dart": "dart", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang", ".go": "go",
	".gradle": "groovy", ".groovy": "groovy", ".hs": "haskell", ".java": "java", ".js": "javascript", ".jsx": "jsx", ".kt": "kotlin", ".lua": "lua", ".m": "objectivec", ".mjs": "javascript",
	".ml": "ocaml", ".php": "php", ".pl": "perl", ".ps1": "powershell", ".py": "python", ".r": "r", ".rb": "ruby", ".rs": "rust", ".scala": "scala", ".scss": "scss", ".sh": "sh", ".bash": "sh",
	".sql": "sql", ".svelte": "svelte", ".swift": "swift", ".ts": "typescript", ".tsx": "tsx", ".vue": "vue", ".zig": "zig", ".proto": "protobuf", ".graphql": "graphql", ".tf": "hcl",
	".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".conf": "", ".properties": "properties", ".env": "sh", ".xml": "xml", ".tex": "tex", ".bib": "bibtex",
	".diff": "diff", ".patch": "diff", ".log": "", ".service": "ini", ".cmake": "cmake", ".vb": "vb", ".bat": "bat", ".jsonc": "json", ".json5": "json", ".org": "org",
}

// readCode returns what reads source code of a language as it is, with the lines that passages begin on.
func readCode(language string) readFunc {
	return func(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
		text, encoding, err := decode(data, declaredCode(data))
		if err != nil {
			return nil, err
		}
		if language == "properties" {
			text = withoutEscapes(text) // Java writes letters by their number
		}
		if strings.Count(text, "\x00")*100 > len(text) {
			return nil, errors.New("it is no text: its bytes are those of a program or of data")
		}
		p, w := &Page{Encoding: encoding}, newWriter(ctx)
		w.codeLines(language, text)
		w.finish(p)
		return p, nil
	}
}

// codingLine is what source code says of its encoding in one of its first lines, as Python and Emacs have it, or
// style sheets.
var codingLine = regexp.MustCompile(`(?i)(?:coding[:=]|@charset)[ \t]*["']?([-\w.]+)`)

// declaredCode is the encoding that source code or XML says it has.
func declaredCode(data []byte) string {
	if name := declaredXML(data); name != "" {
		return name
	}
	if m := codingLine.FindSubmatch(data[:min(len(data), 200)]); m != nil {
		return string(m[1])
	}
	return ""
}

// codeLines writes text as it is, and notes where its lines are.
func (w *writer) codeLines(language, text string) {
	text = clean(text)
	body := strings.TrimLeft(text, "\n")
	number := 1 + len(text) - len(body)
	w.block()
	start := w.b.Len()
	w.code(language, text)
	if strings.Count(body, "\n") > maxPlaces {
		return
	}
	at := start + strings.IndexByte(w.b.String()[start:], '\n') + 1
	for line := range strings.Lines(strings.TrimRight(body, "\n")) {
		w.marks = append(w.marks, Mark{At: min(start, at), Line: number})
		at += len(line)
		number++
		start = at
	}
}

// readSubtitles reads what is said in SRT and WebVTT files.
func readSubtitles(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	var said []string
	write := func() {
		if len(said) > 0 {
			w.line()
			w.b.WriteString(plainLine(clean(strings.Join(said, " "))) + "\n")
		}
		said = nil
	}
	web, style, alone := false, false, 0 // alone: the lines since a blank one
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		alone++
		switch {
		case line == "":
			write()
			style, alone = false, 0
		case strings.Contains(line, "-->"):
			// The number of it is before, or the name.
			if n := len(said); n > 0 && (web && alone == 2 || strings.Trim(said[n-1], "0123456789") == "") {
				w.leaveOut("numbers of subtitles", said[n-1])
				said = said[:n-1]
			}
			write()
			w.leaveOut("times of subtitles", line)
		case strings.HasPrefix(line, "WEBVTT") && !web:
			web = true
			w.leaveOut("settings of subtitles", line)
		case style || web && alone == 1 && (line == "STYLE" || line == "REGION"):
			style = true
			w.leaveOut("settings of subtitles", line)
		default:
			if line = withoutTags(line); web {
				line = html.UnescapeString(line)
			}
			said = append(said, line)
		}
	}
	write()
	w.finish(p)
	return p, nil
}

// withoutTags takes the tags of voices and fonts off a line.
func withoutTags(line string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "<")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		tag, after, ok := cutNear(rest, ">")
		if name := strings.TrimLeft(tag, "/"); !ok || name == "" || strings.IndexByte("ibucvrf0123456789l", name[0]) < 0 {
			b.WriteByte('<')
			line = rest
			continue
		}
		if voice, ok := strings.CutPrefix(tag, "v "); ok {
			b.WriteString(voice + ": ")
		}
		line = after
	}
}
