package rawjson

// Checked walks the members of an object that was not checked, and checks them
// on the way: a document whose members are all looked at once is crossed once.
//
//	m := rawjson.Check(b)
//	for m.Next() {
//		… m.Key, m.Value …
//	}
//	if !m.OK() { … }
type Checked struct {
	Members
	ok bool
}

// Check returns a walk over the members of b, which should be one JSON object
// with space around it allowed.
func Check(b []byte) Checked { return Checked{Members: Members{doc: b}} }

// OK reports, after the walk, whether the document was an object and as [Parse]
// wants it, but that it may be one level deeper. What the walk gave of one that
// was not must be forgotten.
func (m *Checked) OK() bool { return m.ok }

// Next goes to the next member and reports whether there is one.
func (m *Checked) Next() bool {
	b, first := m.doc, m.at == 0
	i := crossSpace(b, m.at)
	if i == len(b) {
		return false
	}
	switch c := b[i]; {
	case first && c == '{':
		if i = crossSpace(b, i+1); i < len(b) && b[i] == '}' {
			m.ok = crossSpace(b, i+1) == len(b)
			return false
		}
	case !first && c == ',':
		i = crossSpace(b, i+1)
	default:
		m.ok = !first && c == '}' && crossSpace(b, i+1) == len(b)
		return false
	}
	if i == len(b) || b[i] != '"' {
		return false
	}
	end := checkString(b, i)
	if end < 0 {
		return false
	}
	m.Key = b[i+1 : end-1]
	if i = crossSpace(b, end); i == len(b) || b[i] != ':' {
		return false
	}
	i = crossSpace(b, i+1)
	if end = crossValue(b, i); end < 0 {
		return false
	}
	m.Value, m.at = b[i:end], end
	return true
}
