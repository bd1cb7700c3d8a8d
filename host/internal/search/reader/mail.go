package reader

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
)

// Bounds of a message.
const (
	maxMailParts = 1000
	maxMailDepth = 8
	maxMboxParts = 200_000 // messages of a mailbox, and their parts
)

// mailFields are the fields of a message that are text.
var mailFields = []string{"From", "To", "Cc", "Date"}

// readMail reads a message: its fields, text and attachments.
func readMail(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	p, m := &Page{}, mailReader{ctx: ctx, r: r, w: newWriter(ctx)}
	subject, err := m.message(data, 0, 0)
	if err != nil {
		return nil, err
	}
	p.Title = subject
	m.w.finish(p)
	return p, nil
}

// readMbox reads a mailbox: a section a message.
func readMbox(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	p, m, all := &Page{}, mailReader{ctx: ctx, r: r, w: newWriter(ctx)}, 0
	first := true
	for one := range bytes.SplitSeq(append([]byte("\n"), bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))...), []byte("\nFrom ")) {
		_, message, ok := bytes.Cut(one, []byte("\n"))
		if first || !ok || len(bytes.TrimSpace(message)) == 0 {
			first = false
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if all += 1 + m.parts; all > maxMboxParts {
			return nil, fmt.Errorf("it has more than %d messages and parts of them: split it into several files", maxMboxParts)
		}
		m.parts = 0
		if _, err := m.message(message, 1, 0); err != nil {
			m.w.noteLeft("messages that cannot be read: "+err.Error(), 1)
		}
	}
	m.w.finish(p)
	return p, nil
}

type mailReader struct {
	ctx   context.Context
	r     *Reader
	w     *writer
	in    *bufio.Reader // of messages, one after the other; they are read whole before another is
	parts int
	// attached is where attachments are written: beside the forms of a text, of which one is chosen. nil: w.
	attached *writer
}

// decodeField decodes a field of a header.
func decodeField(value string) string {
	d := mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		if e := encodingNamed(charset); e != nil {
			return e.NewDecoder().Reader(r), nil
		}
		return nil, fmt.Errorf("the encoding %q is not known", charset)
	}}
	if text, err := d.DecodeHeader(value); err == nil {
		return text
	}
	return value
}

// message writes a message, which depth others are around; level is that of the heading which its
// subject is, 0: it is none.
func (m *mailReader) message(data []byte, level, depth int) (subject string, err error) {
	if m.in == nil {
		m.in = bufio.NewReader(nil)
	}
	m.in.Reset(bytes.NewReader(data))
	msg, err := mail.ReadMessage(m.in)
	if err != nil { // a line of its head is none
		text, _, err := decode(data, "")
		m.w.block()
		m.w.plain(text, 0)
		return "", err
	}
	subject = decodeField(msg.Header.Get("Subject"))
	if level > 0 {
		m.w.heading(min(level, 6), clip(subject, maxTitle), "")
	}
	fields := ""
	for _, name := range mailFields {
		if value := decodeField(msg.Header.Get(name)); value != "" {
			fields += name + ": " + value + "\n"
		}
	}
	m.w.paragraph(fields)
	m.leaveFields(textproto.MIMEHeader(msg.Header))
	body, err := io.ReadAll(io.LimitReader(msg.Body, MaxFile))
	if err != nil {
		return "", fmt.Errorf("read the message: %w", err)
	}
	return subject, m.part(textproto.MIMEHeader(msg.Header), body, depth)
}

// leaveFields notes the fields of a head that are no text.
func (m *mailReader) leaveFields(header textproto.MIMEHeader) {
	for name, values := range header {
		if name != "Subject" && !slices.Contains(mailFields, name) {
			m.w.leaveOut("fields of messages", name+" "+strings.Join(values, " "))
		}
	}
}

// part writes a part of a message: its text, or what is attached.
func (m *mailReader) part(header textproto.MIMEHeader, body []byte, depth int) error {
	if m.parts++; m.parts > maxMailParts || depth > maxMailDepth {
		return fmt.Errorf("it has more than %d parts, or more than %d within each other", maxMailParts, maxMailDepth)
	}
	kind, params, bad := mime.ParseMediaType(header.Get("Content-Type"))
	isSaid := bad == nil || errors.Is(bad, mime.ErrInvalidMediaParameter)
	if !isSaid {
		kind = "text/plain"
	}
	isThere := func(boundary string) bool { return bytes.Contains(body, []byte("--"+boundary)) }
	if boundary := parameter(header, params, "boundary", isThere); boundary != "" {
		if ok, err := m.multipart(kind, boundary, body, depth); ok || err != nil {
			return err
		}
	}
	if strings.HasPrefix(kind, "multipart/") {
		kind = "text/plain" // none of its parts can be found
	}
	charset := parameter(header, params, "charset", func(name string) bool { return encodingNamed(name) != nil })
	around := ""
	switch strings.ToLower(strings.TrimSpace(header.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body, around = decodeBase64(body)
	case "quoted-printable":
		body = decodeQuoted(body)
	}
	_, disposition, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	name := decodeField(disposition["filename"])
	if name == "" {
		name = decodeField(params["name"])
	}
	isText := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "-status") || strings.HasSuffix(kind, "-notification") // of a delivery
	var err error
	switch {
	case kind == "message/rfc822":
		err = m.beside(func() error {
			_, err := m.message(body, 2, depth+1)
			return err
		})
	case name != "" && (CanRead(name) || !isText || !isSaid):
		err = m.beside(func() error { return m.attachment(name, body, depth) })
	case name != "", kind == "text/calendar": // an invitation says more than the text that it comes with
		err = m.beside(func() error {
			m.w.heading(2, clip(name, maxTitle), "")
			return m.text(body, charset)
		})
	case kind == "text/html":
		source, _, unreadable := decode(body, cmp.Or(charset, declaredHTML(body)))
		m.w.writeFragment(source)
		err = unreadable
	case isText:
		err = m.text(body, charset)
	default:
		m.w.noteLeft("attachments of the kind "+kind, 1)
	}
	m.w.paragraph(around)
	return err
}

// text writes a part that is text.
func (m *mailReader) text(body []byte, charset string) error {
	text, _, err := decode(body, charset)
	if err != nil {
		return err
	}
	m.w.block()
	m.w.plain(text, 0)
	return nil
}

// beside has what is attached to one of the forms of a text written beside these.
func (m *mailReader) beside(write func() error) error {
	if m.attached != nil {
		w := m.w
		m.w = m.attached
		defer func() { m.w = w }()
	}
	return write()
}

// parameter is a parameter that fits of what says what a part is; empty: none does. Some programs write that in ways
// that the library refuses, or twice.
func parameter(header textproto.MIMEHeader, params map[string]string, name string, fits func(string) bool) string {
	if value := params[name]; value != "" && fits(value) {
		return value
	}
	tries := 0
	for _, field := range header["Content-Type"] {
		for value := range strings.SplitSeq(field, ";") {
			key, value, _ := strings.Cut(value, "=")
			if !strings.EqualFold(strings.TrimSpace(key), name) {
				continue
			}
			value = strings.TrimLeft(value, " \"")
			if end := strings.IndexAny(value, "\"; \t\r\n"); end >= 0 {
				value = value[:end]
			}
			if value != "" && fits(value) {
				return value
			}
			if tries++; tries == 10 {
				return ""
			}
		}
	}
	return ""
}

// multipart writes the parts of one that has several; of alternatives the plain text, or another that says more.
// It reports whether there are any.
func (m *mailReader) multipart(kind, boundary string, body []byte, depth int) (ok bool, err error) {
	type part struct {
		header textproto.MIMEHeader
		body   []byte
	}
	var parts []part
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			m.w.noteLeft("parts of messages that are cut", 1)
			break
		}
		b, err := io.ReadAll(io.LimitReader(p, MaxFile))
		if len(b) > 0 || err == nil {
			parts = append(parts, part{p.Header, b})
		}
		if len(parts) > maxMailParts {
			break
		}
	}
	if kind == "multipart/alternative" && len(parts) > 1 {
		return true, m.alternatives(len(parts), func(i int) error {
			return m.part(parts[i].header, parts[i].body, depth+1)
		})
	}
	for _, p := range parts {
		m.leaveFields(p.header)
		if err := m.part(p.header, p.body, depth+1); err != nil {
			return true, err
		}
	}
	return len(parts) > 0, nil
}

const otherForms = "other forms of the same text"

// alternatives writes the first of n forms of a text, or another that has twice as many words: some only say
// that they are there for programs without the web. What is attached to any of them is behind it.
func (m *mailReader) alternatives(n int, write func(i int) error) error {
	w, attached := m.w, m.attached
	defer func() { m.w, m.attached = w, attached }()
	if attached == nil {
		m.attached = newWriter(m.ctx)
	}
	var best *writer
	most := 0
	for i := range n {
		m.w = newWriter(m.ctx)
		if err := write(i); err != nil {
			return err
		}
		switch words := countWords(m.w.b.String()); {
		case best == nil:
			best, most = m.w, words
		case words > 2*most:
			w.leaveOut(otherForms, best.b.String())
			best, most = m.w, words
		default:
			w.leaveOut(otherForms, m.w.b.String())
		}
	}
	w.addWritten(best)
	if attached == nil {
		w.addWritten(m.attached)
	}
	return nil
}

// attachment writes what is attached to what depth messages are around, below its name.
func (m *mailReader) attachment(name string, body []byte, depth int) error {
	if !CanRead(name) {
		m.w.noteLeft("the attachment "+clip(name, 100)+", of no format that can be read", 1)
		return nil
	}
	if extensionOf(name) == ".eml" || extensionOf(name) == ".mbox" {
		_, err := m.message(body, 2, depth+1)
		return err
	}
	if m.r.within {
		m.w.noteLeft("attachments of what is attached", 1)
		return nil
	}
	page, err := (&Reader{PDF: m.r.PDF, Site: m.r.Site, within: true}).Read(m.ctx, name, body)
	if m.ctx.Err() != nil {
		return m.ctx.Err()
	}
	if err != nil {
		m.w.noteLeft("the attachment "+clip(name, 100)+": "+clip(err.Error(), 200), 1)
		return nil
	}
	m.w.heading(2, clip(name, maxTitle), "")
	m.w.add(page)
	return nil
}
