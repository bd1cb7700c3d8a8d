package openai

import (
	"strings"

	"github.com/parley-search/parley/sdk/rawjson"
)

// A Media is a content part that is more than text.
type Media struct {
	Type string // of the part: image_url, input_audio or file
	MIME string // of Data, such as image/png; empty: the part does not say
	Data string // base64; empty: the part holds nothing itself
	URL  string // where it is to be had; empty: nowhere
	ID   string // of a file that the provider was given before
	Name string // of a file
}

// MediaOf reads a part of a message's content, whose type is not text.
func MediaOf(part rawjson.Value) (m Media) {
	m.Type = part.Get("type").String()
	switch m.Type {
	case "image_url":
		v := part.Get("image_url")
		if v.Kind() == rawjson.Object {
			v = v.Get("url")
		}
		m.read(v.String())
	case "input_audio":
		v := part.Get("input_audio")
		m.read(v.Get("data").String())
		if format := v.Get("format").String(); m.MIME == "" && format != "" {
			m.MIME = "audio/" + format
		}
	case "file":
		v := part.Get("file")
		m.Name, m.ID = v.Get("filename").String(), v.Get("file_id").String()
		if m.read(v.Get("file_data").String()); m.MIME == "" {
			m.MIME = mimeOfName(m.Name)
		}
	}
	return m
}

// read reads a data URI, an address, or base64 alone.
func (m *Media) read(text string) {
	rest, isData := strings.CutPrefix(text, "data:")
	head, data, isBase64 := strings.Cut(rest, ";base64,")
	switch {
	case isData && isBase64:
		m.Data = data
		m.MIME, _, _ = strings.Cut(strings.ToLower(head), ";")
		if m.MIME == "image/jpg" {
			m.MIME = "image/jpeg"
		}
	case strings.Contains(text[:min(len(text), 16)], "://"):
		m.URL, m.MIME = text, mimeOfName(text)
	default:
		m.Data = text
	}
}

// endings are those of names, with what such files hold.
var endings = [...][2]string{
	{".png", "image/png"},
	{".jpg", "image/jpeg"},
	{".jpeg", "image/jpeg"},
	{".gif", "image/gif"},
	{".webp", "image/webp"},
	{".heic", "image/heic"},
	{".pdf", "application/pdf"},
	{".txt", "text/plain"},
	{".md", "text/markdown"},
	{".csv", "text/csv"},
	{".html", "text/html"},
	{".doc", "application/msword"},
	{".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{".xls", "application/vnd.ms-excel"},
	{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{".mp3", "audio/mp3"},
	{".wav", "audio/wav"},
	{".mp4", "video/mp4"},
	{".webm", "video/webm"},
	{".mov", "video/quicktime"},
	{".mkv", "video/x-matroska"},
}

// mimeOfName tells by its end what a file of a name, or at an address, holds; "" where
// that is not known.
func mimeOfName(name string) string {
	name, _, _ = strings.Cut(name, "?")
	name = strings.ToLower(name)
	for _, e := range endings {
		if strings.HasSuffix(name, e[0]) {
			return e[1]
		}
	}
	return ""
}
