package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/plugin"
)

var (
	formSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)
	errStop    = errors.New("stop") // ends the reading; the reason is in the parser
)

// parseLock reads b strictly: what it does not know it does not guess at, as
// the file decides what may run.
func parseLock(file string, b []byte) (*Lock, error) {
	p := &parser{file: file, b: b, dec: json.NewDecoder(bytes.NewReader(b))}
	p.dec.UseNumber()
	l := &Lock{Sources: map[string]string{}, Plugins: map[string]*Entry{}}
	if err := p.lock(l); err != nil {
		return nil, p.err
	}
	return l, nil
}

// A parser reads a lock token by token, since only that tells where things
// stand. Each method returns errStop once err is set.
type parser struct {
	file string
	b    []byte
	dec  *json.Decoder
	err  error
}

func (p *parser) lock(l *Lock) error {
	if !utf8.Valid(p.b) {
		return p.fail(0, "the file is not UTF-8")
	}
	plugins, sources := false, false
	err := p.object(map[string]func() error{
		"format": func() error {
			at := p.dec.InputOffset()
			if err := p.number(&l.Format); err != nil {
				return err
			}
			if l.Format > lockFormat {
				return p.fail(at, "the format is %d, and this parley reads 1 to %d: use the one that wrote it", l.Format, lockFormat)
			}
			return nil
		},
		"sources": func() error {
			sources = true
			return p.owners(l.Sources, plugin.ValidName)
		},
		"plugins": func() error {
			plugins = true
			return p.each("a plugin's name", plugin.ValidName, func(name string) error {
				l.Plugins[name] = &Entry{Pinned: map[string]*Pin{}}
				return p.entry(l.Plugins[name])
			})
		},
	})
	if err != nil {
		return err
	}
	if l.Format == 0 || !plugins {
		return p.fail(p.dec.InputOffset(), "format or plugins is missing")
	}
	if sources && l.Format == 1 {
		return p.fail(p.dec.InputOffset(), "a lock of format 1 has no sources: the format that has is %d", lockFormat)
	}
	at := p.dec.InputOffset()
	if _, err := p.dec.Token(); err != io.EOF {
		return p.fail(at, "there is more after the end of the lock")
	}
	return nil
}

func (p *parser) entry(e *Entry) error {
	err := p.object(map[string]func() error{
		"use":        func() error { return p.text(&e.Use, "a semantic version such as 1.2.0", plugin.ValidVersion) },
		"constraint": func() error { return p.constraint(&e.Constraint) },
		"before": func() error {
			e.Before = &Former{}
			return p.object(map[string]func() error{
				"use": func() error {
					return p.text(&e.Before.Use, "a semantic version such as 1.2.0", plugin.ValidVersion)
				},
				"constraint": func() error { return p.constraint(&e.Before.Constraint) },
				"sources": func() error {
					e.Before.Sources = map[string]string{}
					return p.owners(e.Before.Sources, func(s string) bool { return s == "" || plugin.ValidName(s) })
				},
			})
		},
		"pinned": func() error {
			return p.each("a semantic version such as 1.2.0", plugin.ValidVersion, func(version string) error {
				e.Pinned[version] = &Pin{Grants: Grants{HTTP: []string{}, Secrets: []string{}}}
				return p.pin(e.Pinned[version])
			})
		},
	})
	if err != nil {
		return err
	}
	at := p.dec.InputOffset()
	if e.Pinned[e.Use] == nil {
		return p.fail(at, "the version in use, %q, is not among the pinned", e.Use)
	}
	if e.Before != nil && e.Pinned[e.Before.Use] == nil {
		return p.fail(at, "the version before, %q, is not among the pinned", e.Before.Use)
	}
	return nil
}

func (p *parser) pin(v *Pin) error {
	err := p.object(map[string]func() error{
		"sha256": func() error { return p.text(&v.SHA256, "64 hexadecimal digits", formSHA256.MatchString) },
		"abi":    func() error { return p.number(&v.ABI) },
		"from": func() error {
			return p.text(&v.From, "a URL or a reference such as oci://registry.example.com/openai:1.0.0", validOrigin)
		},
		"grants": func() error {
			return p.object(map[string]func() error{
				"http":    func() error { return p.texts(&v.Grants.HTTP) },
				"secrets": func() error { return p.texts(&v.Grants.Secrets) },
				"auth":    func() error { return p.texts(&v.Grants.Auth) },
			})
		},
	})
	if err == nil && (v.SHA256 == "" || v.ABI == 0) {
		return p.fail(p.dec.InputOffset(), "sha256 or abi is missing")
	}
	return err
}

// owners reads which plugin answers each source.
func (p *parser) owners(into map[string]string, valid func(string) bool) error {
	return p.each("a source, 1 to 64 letters, digits, _ and -", plugin.ValidSource, func(source string) error {
		var name string
		err := p.text(&name, "a plugin's name", valid)
		into[source] = name
		return err
	})
}

func (p *parser) constraint(into *string) error {
	return p.text(into, "a version constraint such as 1.2.3, ~1.2 or ^1", func(s string) bool {
		_, err := plugin.ParseConstraint(s)
		return err == nil
	})
}

// object reads an object whose fields are those of read, each at most once.
func (p *parser) object(read map[string]func() error) error {
	known := slices.Sorted(maps.Keys(read))
	return p.each("one of: "+strings.Join(known, ", "), func(name string) bool { return read[name] != nil },
		func(name string) error { return read[name]() })
}

// each reads an object of any names that are valid, each at most once.
func (p *parser) each(want string, valid func(string) bool, value func(name string) error) error {
	if err := p.open('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		at := p.dec.InputOffset()
		t, err := p.token()
		if err != nil {
			return err
		}
		name, _ := t.(string) // where More is true in an object, a name
		switch {
		case !valid(name):
			return p.fail(at, "%s stands here, and may be %s", shown(name), want)
		case seen[name]:
			return p.fail(at, "%s comes twice", shown(name))
		}
		seen[name] = true
		if err := value(name); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

func (p *parser) text(into *string, want string, valid func(string) bool) error {
	at := p.dec.InputOffset()
	t, err := p.token()
	if err != nil {
		return err
	}
	s, ok := t.(string)
	if !ok || !valid(s) {
		return p.fail(at, "%s stands here, and must be %s", shown(t), want)
	}
	*into = s
	return nil
}

func (p *parser) texts(into *[]string) error {
	if err := p.open('[', "a list"); err != nil {
		return err
	}
	*into = []string{}
	for p.dec.More() {
		var s string
		if err := p.text(&s, "a string", func(string) bool { return true }); err != nil {
			return err
		}
		*into = append(*into, s)
	}
	_, err := p.token()
	return err
}

func (p *parser) number(into *int) error {
	at := p.dec.InputOffset()
	t, err := p.token()
	if err != nil {
		return err
	}
	n, ok := t.(json.Number)
	if v, err := n.Int64(); ok && err == nil && v >= 1 && v < 1<<31 {
		*into = int(v)
		return nil
	}
	return p.fail(at, "%s stands here, and must be an integer from 1", shown(t))
}

func (p *parser) open(delim json.Delim, want string) error {
	at := p.dec.InputOffset()
	t, err := p.token()
	if err == nil && t != delim {
		return p.fail(at, "%s stands here, and must be %s", shown(t), want)
	}
	return err
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if err == nil {
		return t, nil
	}
	at := p.dec.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset - 1
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, p.fail(int64(len(p.b)), "the file ends too early")
	}
	return nil, p.fail(at, "it is not JSON: %v", err)
}

// fail notes what is wrong with what begins after the byte at: white space and
// punctuation before it are passed over.
func (p *parser) fail(at int64, format string, args ...any) error {
	n := max(0, min(int(at), len(p.b)))
	n += len(p.b[n:]) - len(bytes.TrimLeft(p.b[n:], " \t\r\n,:"))
	before := p.b[:n]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	p.err = fmt.Errorf("read plugin lock: %s:%d:%d: %s: fix it there, or take the last good one from version control", p.file, line, column, fmt.Sprintf(format, args...))
	return errStop
}

// shown is a token for a message, bounded.
func shown(t json.Token) string {
	switch v := t.(type) {
	case nil:
		return "null"
	case json.Delim:
		if v == '{' {
			return "an object"
		}
		return "a list"
	case json.Number:
		return cut(v.String())
	case string:
		return fmt.Sprintf("%q", cut(v))
	default:
		return fmt.Sprint(v)
	}
}

// cut bounds what a message shows of what anybody may have written.
func cut(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}
