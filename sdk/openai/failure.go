package openai

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// Error is a provider's Error: what an HTTP response that is not a success means.
func Error(r *provider.Response) provider.ProviderError {
	v, ok := rawjson.Parse(r.Body)
	if v.Kind() == rawjson.Array { // some gateways wrap it in a list
		v = firstOf(v)
	}
	var e provider.ProviderError
	if ok {
		e = readFailure(r.Status, v)
	} else {
		e.Message = excerptBody(r.Body)
		e.Kind = kindOf(r.Status, "", "", e.Message)
	}
	if ms := RetryAfter(r); ms > 0 {
		e.RetryAfterMS = ms
	}
	return e
}

// eventError is the error of an event that says that the answer failed.
func eventError(v rawjson.Value) provider.ProviderError { return readFailure(0, v) }

// isFailed reports whether v, the member error of an event, says so. Some
// servers send error: null with every event.
func isFailed(v rawjson.Value) bool {
	switch v.Kind() {
	case rawjson.Absent, rawjson.Null, rawjson.False:
		return false
	case rawjson.String:
		return len(v) > 2
	}
	return true
}

// flatError reports whether an event without choices is an error that does not
// stand under error.
func flatError(v rawjson.Value) bool {
	if word := v.Get("object").String(); word == "error" {
		return true
	}
	if v.Get("type").String() == "error" {
		return true
	}
	if !v.Get("detail").IsNull() || v.Get("errors").Len() > 0 {
		return true
	}
	return messageOf(v) != "" && (v.Get("success").Kind() == rawjson.False ||
		isCode(v.Get("code")) || isCode(v.Get("error_code")) || isCode(v.Get("status")))
}

// isCode reports whether v is the code of an error: some servers give one where all
// is well.
func isCode(v rawjson.Value) bool {
	switch code := readCode(v); code {
	case "", "0", "200", "ok", "OK", "success":
		return false
	}
	return true
}

func firstOf(list rawjson.Value) rawjson.Value {
	it := list.Items()
	it.Next()
	return it.Value
}

// readFailure reads an error in any of the forms that servers give it: an object
// or a text under error, the members at the top, FastAPI's detail.
func readFailure(status int, v rawjson.Value) provider.ProviderError {
	e := v.Get("error")
	switch {
	case e.Kind() == rawjson.Object:
	case e.Kind() == rawjson.String && v.Get("message").Kind() != rawjson.String:
		message := e.String()
		return provider.ProviderError{Kind: kindOf(status, "", "", message), Message: message, RetryAfterMS: retryInBody(v, e, message)}
	case v.Get("base_resp").Kind() == rawjson.Object:
		e = v.Get("base_resp")
	default:
		e = v
	}
	message := messageOf(e)
	code, typ := readCode(e.Get("code")), e.Get("type").String()
	for _, key := range [...]string{"code", "status", "status_code", "raw_status_code", "error_code"} {
		if n, ok := e.Get(key).Int(); ok && status == 0 && n >= 400 && n < 600 {
			status = int(n)
		}
	}
	kind := kindOf(status, code, typ, message)
	if inner := e.Path("innererror", "code").String(); inner == "ResponsibleAIPolicyViolation" {
		kind = abi.ErrorContentFilter
	}
	if code == "" {
		code = typ
	}
	return provider.ProviderError{Kind: kind, Message: message, ProviderCode: code, RetryAfterMS: retryInBody(v, e, message)}
}

// messageOf finds the text of an error.
func messageOf(e rawjson.Value) string {
	for _, key := range [...]string{"message", "detail", "msg", "error", "error_msg", "status_msg", "errors"} {
		v := e.Get(key)
		switch v.Kind() {
		case rawjson.String:
			if text := v.String(); text != "" {
				return text
			}
		case rawjson.Object:
			if text := messageOf(v); text != "" {
				return text
			}
		case rawjson.Array: // FastAPI: a list of {loc, msg, type}
			for it := v.Items(); it.Next(); {
				if text := messageOf(it.Value); text != "" {
					return placeOf(it.Value.Get("loc")) + text
				}
			}
		}
	}
	return ""
}

// placeOf is what a message begins with that is about a place in the body, as FastAPI
// gives it.
func placeOf(loc rawjson.Value) string {
	place := ""
	for it := loc.Items(); it.Next(); {
		if name := readCode(it.Value); place != "" || name != "body" {
			place += name + "."
		}
	}
	if place == "" {
		return ""
	}
	return place[:len(place)-1] + ": "
}

// readCode returns a code that may be a text or a number.
func readCode(v rawjson.Value) string {
	if v.Kind() == rawjson.Number {
		return string(v)
	}
	return v.String()
}

// excerptBody returns what can be shown of a body that is not JSON: one line of
// plain text, and nothing of a web page.
func excerptBody(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] == '<' || !utf8.Valid(b) {
		return ""
	}
	text, _, _ := strings.Cut(string(b), "\n")
	const most = 500
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.TrimSpace(text)
}
