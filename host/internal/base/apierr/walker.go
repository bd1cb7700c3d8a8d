package apierr

import (
	"encoding/json"
	"path"
	"reflect"
	"regexp"
	"strings"
)

// withoutIgnored is body without its ignored members: [json.Unmarshal] would take
// one that differs from a known name by case alone.
func (w *walker) withoutIgnored(body []byte) ([]byte, error) {
	if len(w.ignored) == 0 {
		return body, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	for _, name := range w.ignored {
		delete(members, name)
	}
	return json.Marshal(members)
}

// A walker holds a body against a type before it is decoded.
type walker struct {
	dec   *json.Decoder
	codes Fields
	// foreign: members of the body itself that nobody knows are ignored.
	foreign bool
	ignored []string // their names
}

// value checks the next value, which stands at path, against t.
func (w *walker) value(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if o, ok := reflect.Zero(t).Interface().(interface{ inner() reflect.Type }); ok {
		return w.value(o.inner(), path)
	}
	if opaque(t) {
		var skipped json.RawMessage
		return w.dec.Decode(&skipped)
	}
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case nil:
		return nil
	case json.Delim:
		if v == '{' && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map) {
			return w.object(t, path)
		}
		if v == '[' && t.Kind() == reflect.Slice {
			return w.array(t, path)
		}
	case string:
		if t.Kind() == reflect.String {
			return nil
		}
	case bool:
		if t.Kind() == reflect.Bool {
			return nil
		}
	case json.Number:
		if json.Unmarshal([]byte(v), reflect.New(t).Interface()) == nil {
			return nil
		}
	}
	return Newf(w.code(path), "%s must be %s, but is %s.", named(path), expected(t), found(token))
}

func opaque(t reflect.Type) bool {
	return t.Kind() == reflect.Interface || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func (w *walker) object(t reflect.Type, path string) error {
	var known []string
	fields := make(map[string]reflect.Type)
	if t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous {
				continue // its fields are visible themselves
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			known = append(known, name)
			fields[name] = f.Type
		}
	}
	seen := make(map[string]bool)
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return err
		}
		name := token.(string) // of a valid body, a key
		at := join(path, name)
		if seen[name] {
			return Newf(w.code(at), "%s comes twice: send it once.", named(at))
		}
		seen[name] = true
		ft := fields[name]
		if t.Kind() == reflect.Map {
			ft = t.Elem()
		}
		if ft == nil && w.foreign && path == "" {
			var skipped json.RawMessage
			if err := w.dec.Decode(&skipped); err != nil {
				return err
			}
			w.ignored = append(w.ignored, name)
			continue
		}
		if ft == nil {
			e := Unknown("field", at, name, known)
			if c, ok := w.codes.of(positions.ReplaceAllString(at, "")); ok {
				e.Code = c
			}
			return e
		}
		if err := w.value(ft, at); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *walker) array(t reflect.Type, path string) error {
	for i := 0; w.dec.More(); i++ {
		if err := w.value(t.Elem(), path+"["+itoa(i)+"]"); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// code returns the code of the field at path, or of its nearest parent that
// has one.
func (w *walker) code(path string) Code {
	path = positions.ReplaceAllString(path, "")
	for path != "" {
		if c, ok := w.codes.of(path); ok {
			return c
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
	return BadRequest
}

// of returns the code of the very field at p.
func (f Fields) of(p string) (Code, bool) {
	if c, ok := f[p]; ok {
		return c, true
	}
	for pattern, c := range f {
		if ok, _ := path.Match(pattern, p); ok && strings.Contains(pattern, "*") {
			return c, true
		}
	}
	return Code{}, false
}

var positions = regexp.MustCompile(`\[\d+\]`)
