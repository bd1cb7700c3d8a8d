package telemetry

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
)

// A UUID identifies an instance or a message.
type UUID [16]byte

var uuidText = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// NewUUID returns a random UUID, of version 4.
func NewUUID() UUID {
	var u UUID
	_, _ = rand.Read(u[:]) // it never fails
	return u.as(4)
}

// ParseUUID reads the form that String writes.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	if !uuidText.MatchString(s) {
		return u, fmt.Errorf("%.64q is not a UUID", s)
	}
	b, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	if err != nil {
		return u, err
	}
	copy(u[:], b)
	return u, nil
}

// Derive returns the UUID of version 5 for name in the namespace u.
func (u UUID) Derive(name string) UUID {
	h := sha1.New()
	h.Write(u[:])
	h.Write([]byte(name))
	var v UUID
	copy(v[:], h.Sum(nil))
	return v.as(5)
}

func (u UUID) as(version byte) UUID {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	return u
}

func (u UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
