package reader

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
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
}

// decodeField decodes a field of a header.
func decodeField(value string) string {
	d := mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(charset)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(r), nil
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
	if err != nil {
		return "", fmt.Errorf("read the message: %w", err)
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
	body, err := io.ReadAll(io.LimitReader(msg.Body, MaxFile))
	if err != nil {
		return "", fmt.Errorf("read the message: %w", err)
	}
	return subject, m.part(textproto.MIMEHeader(msg.Header), body, depth)
}

// part writes a part of a message: its text, or what is attached.
func (m *mailReader) part(header textproto.MIMEHeader, body []byte, depth int) error {
	if m.parts++; m.parts > maxMailParts || depth > maxMailDepth {
		return fmt.Errorf("it has more than %d parts, or more than %d within each other", maxMailParts, maxMailDepth)
	}
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		return m.multipart(kind, params["boundary"], body, depth)
	}
	switch strings.ToLower(strings.TrimSpace(header.Get("Content-Transfer-Encoding"))) {
	case "base64":
		if b, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(body))); err == nil || len(b) > 0 {
			body = b
		}
	case "quoted-printable":
		if b, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body))); err == nil || len(b) > 0 {
			body = b
		}
	}
	_, disposition, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	name := decodeField(disposition["filename"])
	if name == "" {
		name = decodeField(params["name"])
	}
	switch {
	case kind == "message/rfc822":
		_, err := m.message(body, 2, depth+1)
		return err
	case name != "":
		return m.attachment(name, body, depth)
	case kind == "text/html":
		source, _, err := decode(body, params["charset"])
		if err != nil {
			return err
		}
		m.w.writeFragment(source)
	case strings.HasPrefix(kind, "text/"):
		text, _, err := decode(body, params["charset"])
		if err != nil {
			return err
		}
		m.w.block()
		m.w.plain(text, 0)
	default:
		m.w.noteLeft("attachments of the kind "+kind, 1)
	}
	return nil
}

// multipart writes the parts of one that has several; of alternatives the plain text, or the last one.
func (m *mailReader) multipart(kind, boundary string, body []byte, depth int) error {
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
		chosen := parts[len(parts)-1]
		for _, p := range parts {
			if strings.HasPrefix(p.header.Get("Content-Type"), "text/plain") && len(bytes.TrimSpace(p.body)) > 0 {
				chosen = p
				break
			}
		}
		m.w.noteLeft("other forms of the same text", len(parts)-1)
		parts = []part{chosen}
	}
	for _, p := range parts {
		if err := m.part(p.header, p.body, depth+1); err != nil {
			return err
		}
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
	page, err := m.r.Read(m.ctx, name, body)
	if m.ctx.Err() != nil {
		return m.ctx.Err()
	}
	if err != nil {
		m.w.noteLeft("the attachment "+clip(name, 100)+": "+clip(err.Error(), 200), 1)
		return nil
	}
	m.w.heading(2, clip(name, maxTitle), "")
	m.w.block()
	m.w.b.WriteString(page.Text + "\n")
	for _, l := range page.LeftOut {
		m.w.noteLeft(l.Rule, l.Words)
	}
	return nil
}
