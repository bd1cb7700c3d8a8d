package cluster

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A Key verifies what the nodes of one cluster write and tell: who does not have it can
// make nothing that a node takes for another's.
type Key []byte

// NewKey returns the key of the cluster of a name whose nodes have a master key. The master
// key cannot be found from it.
func NewKey(master, name string) (Key, error) {
	k, err := hkdf.Key(sha256.New, []byte(master), nil, "parley cluster "+name, 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of the cluster: %w", err)
	}
	return k, nil
}

// macLen is the length of a code, of 128 bits: nobody can try codes but by what a node
// does with each.
const macLen = 16

// MAC returns the code of parts for a purpose, of 16 bytes. Parts have no ends in it: give
// them such lengths, or such a form, that no two lists of parts are the same bytes.
func (k Key) MAC(purpose string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)[:macLen]
}

// Verify reports whether code is that of parts for a purpose.
func (k Key) Verify(code []byte, purpose string, parts ...[]byte) bool {
	return hmac.Equal(code, k.MAC(purpose, parts...))
}

// ErrUnverified is in the error of a message that no node of this cluster made.
var ErrUnverified = errors.New("it was not written by a node of this cluster")

// macRecord is the purpose of the codes of records.
const macRecord = "record"
