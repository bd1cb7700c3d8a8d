package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// formats are Converse's names of what a block may hold: images, documents and videos.
var formats = map[string]string{
	"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp",
	"application/pdf": "pdf", "text/plain": "txt", "text/markdown": "md", "text/csv": "csv", "text/html": "html", "application/msword": "doc",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx", "application/vnd.ms-excel": "xls",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
	"video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov", "video/x-matroska": "mkv", "video/mpeg": "mpeg",
}

// media adds a part of a user's message that is no text.
func (c *conversation) media(p turns.Part) error {
	m := openai.MediaOf(p.Value)
	format, at := formats[m.MIME], "`"+p.At+"."
	kind, _, _ := strings.Cut(m.MIME, "/")
	if kind != "image" && kind != "video" {
		kind = "document"
	}
	source := rawjson.Edit{{Key: "bytes", Value: rawjson.Quote(m.Data)}}
	if strings.HasPrefix(m.URL, "s3://") {
		uri := rawjson.Edit{{Key: "uri", Value: rawjson.Quote(m.URL)}}
		source, m.Data, m.URL = rawjson.Edit{{Key: "s3Location", Value: uri.Value()}}, m.URL, ""
	}
	switch {
	case m.Type != "image_url" && m.Type != "file":
		return provider.Refuse(at + "type` is none that Bedrock can be given: send text, image_url or file")
	case m.URL != "" || m.ID != "":
		return provider.Refuse(at + m.Type + "` says where it is, and Bedrock fetches from s3:// alone: send what is there, as data:TYPE;base64,…")
	case format == "" || m.Data == "" || (kind == "image") != (m.Type == "image_url"):
		return provider.Refuse(at + m.Type + "` is of a type that Bedrock does not take: send a png, jpeg, gif or webp image, or a pdf, txt, md, csv, html, doc, docx, xls, xlsx, mp4, webm, mov, mkv or mpeg file, as data:TYPE;base64,… or s3://BUCKET/NAME")
	}
	c.begin(p)
	block := rawjson.Edit{{Key: "format", Value: rawjson.Quote(format)}}
	if kind == "document" {
		c.documents++
		block.Set("name", rawjson.Quote(fitName(m.Name, c.documents)))
	}
	block.Set("source", source.Value())
	c.out = rawjson.Edit{{Key: kind, Value: block.Value()}}.Append(c.out)
	return nil
}

// fitName returns the name of the n'th document of a message in the signs that Bedrock
// takes.
func fitName(name string, n int) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	fit := strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}), " ")
	fit = fit[:min(len(fit), 150)]
	if fit == "" {
		fit = "document"
	}
	if n > 1 {
		fit += " " + strconv.Itoa(n)
	}
	return fit
}
