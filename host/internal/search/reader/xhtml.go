package reader

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxNodes bounds how deep elements of XML stand within each other, as the parser of HTML has it.
const maxNodes = 512

// newXML returns a decoder of XML that was decoded before, whatever its declaration says.
func newXML(ctx context.Context, source string) *xml.Decoder {
	d := xml.NewDecoder(newInput(ctx, fitXML(source)))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	d.Entity = xml.HTMLEntity
	return d
}

// characterNumber is a character of XML by its number.
var characterNumber = regexp.MustCompile(`&#(?:x[0-9a-fA-F]+|[0-9]+);`)

// fitXML has spaces in place of the characters that XML lacks, such as a vertical tab, as they are or by their
// number: a parser refuses the whole text for one of them.
func fitXML(source string) string {
	lacks := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xfffe || r == 0xffff }
	if strings.ContainsFunc(source, lacks) {
		source = strings.Map(func(r rune) rune {
			if lacks(r) {
				return ' '
			}
			return r
		}, source)
	}
	if !strings.Contains(source, "&#") {
		return source
	}
	return characterNumber.ReplaceAllStringFunc(source, func(number string) string {
		digits := strings.TrimSuffix(number[2:], ";")
		n, err := strconv.ParseInt(digits, 10, 32)
		if digits[0] == 'x' {
			n, err = strconv.ParseInt(digits[1:], 16, 32)
		}
		if err != nil || lacks(rune(n)) {
			return " "
		}
		return number
	})
}

// parseXHTML makes the tree of a page that is XML.
func parseXHTML(ctx context.Context, source string) (*html.Node, error) {
	d := newXML(ctx, source)
	doc := &html.Node{Type: html.DocumentNode}
	at, depth, tags := doc, 0, 0
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if at != doc {
				return nil, errors.New("an element is not ended")
			}
			return doc, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read XHTML: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			tags++
			if depth > maxNodes || tags > maxTags {
				return nil, fmt.Errorf("it has more than %d tags, or more than %d within each other: split it into several files", maxTags, maxNodes)
			}
			n := &html.Node{Type: html.ElementNode, Data: t.Name.Local, DataAtom: atom.Lookup([]byte(t.Name.Local))}
			for _, a := range t.Attr {
				key := a.Name.Local
				if a.Name.Space != "" {
					key = a.Name.Space + ":" + key
				}
				n.Attr = append(n.Attr, html.Attribute{Key: key, Val: a.Value})
			}
			at.AppendChild(n)
			at = n
		case xml.EndElement:
			if at == doc || at.Data != t.Name.Local {
				return nil, fmt.Errorf("the element %s is ended by %s", at.Data, t.Name.Local)
			}
			at = at.Parent
			depth--
		case xml.CharData:
			at.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
		case xml.Comment:
			at.AppendChild(&html.Node{Type: html.CommentNode, Data: string(t)})
		}
	}
}
