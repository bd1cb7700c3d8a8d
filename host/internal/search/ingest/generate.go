package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// idLetters writes a hash with letters and digits that ids may have.
var idLetters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// idLength is how many of them a generated id has: 140 bits.
const idLength = 28

// GenerateID returns a document with an id made of all else that it holds, where it has none: no member
// called key, or one that is null or an empty text. Documents with the same members and values, in any
// order, get the same id. One that has an id is returned as it is.
func GenerateID(doc []byte, key string) ([]byte, error) {
	var id []byte
	members := map[string]json.RawMessage{} // the last of equal names, as the service takes it
	rest := []byte{}
	rawjson.EachMember(doc, func(rawKey, value []byte) bool {
		name := rawjson.Unquote(rawKey)
		if name == key {
			id = value
			return true
		}
		members[name] = value
		rest = append(append(append(append(rest, ','), rawKey...), ':'), value...)
		return true
	})
	if id != nil && !rawjson.IsNull(id) && string(id) != `""` {
		return doc, nil
	}
	content, err := json.Marshal(members) // in the order of the names, compact
	if err != nil {
		return nil, fmt.Errorf("write a document to make an id of it: %w", err)
	}
	sum := sha256.Sum256(content)
	var b bytes.Buffer
	b.WriteByte('{')
	b.Write(rawjson.AppendString(nil, key))
	b.WriteString(`:"` + idLetters.EncodeToString(sum[:])[:idLength] + `"`)
	b.Write(rest)
	b.WriteByte('}')
	return b.Bytes(), nil
}
