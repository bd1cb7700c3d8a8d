package store

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"golang.org/x/crypto/chacha20poly1305"
)

var (
	// ErrSealedElsewhere says that a value was sealed under a key that this
	// process does not have.
	ErrSealedElsewhere = errors.New("sealed under another master key: start the host with that master key, or set the value again")
	// ErrSealBroken says that a sealed value was altered or cut, or belongs
	// elsewhere.
	ErrSealBroken = errors.New("sealed value is damaged or belongs to another record: set the value again")
)

// A sealed value: u8 form (1), 8 bytes that name the key, 24 bytes of nonce,
// the ciphertext with its tag.
const (
	sealForm   = 1
	sealIDLen  = 8
	sealHead   = 1 + sealIDLen + chacha20poly1305.NonceSizeX
	sealFile   = "seal.key"
	sealKeyLen = chacha20poly1305.KeySize
)

// A Sealer encrypts the few values that must not lie in the clear, with
// XChaCha20-Poly1305. Its key is derived from the master key or, where there
// is none, from a file of random bytes that is made at first use. Safe for
// concurrent use.
type Sealer struct {
	seal   sealKey
	master bool // the key that it seals under is a master key's
	// open holds the keys that values may have been sealed under: its own and,
	// where a master key came later, the file's.
	open []sealKey
}

type sealKey struct {
	id  [sealIDLen]byte
	key func() []byte // a function, so that no dump shows it
}

// OpenSealer returns the Sealer of the data directory dir. An empty masterKey
// stands for none.
func OpenSealer(dir string, masterKey []byte) (*Sealer, error) {
	path := filepath.Join(dir, sealFile)
	file, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		file = nil
	case err != nil:
		return nil, fmt.Errorf("read sealing key: %w", err)
	case len(file) != sealKeyLen:
		return nil, fmt.Errorf("read sealing key: %s holds %d bytes, not %d: restore it, or remove it and set every apiKey again", path, len(file), sealKeyLen)
	}
	if file == nil && len(masterKey) == 0 {
		if file, err = makeSealFile(path); err != nil {
			return nil, fmt.Errorf("make sealing key: %w", err)
		}
	}
	s := Sealer{master: len(masterKey) > 0}
	for _, secret := range [][]byte{masterKey, file} {
		if len(secret) == 0 {
			continue
		}
		k, err := deriveSealKey(secret)
		if err != nil {
			return nil, fmt.Errorf("derive sealing key: %w", err)
		}
		s.open = append(s.open, k)
	}
	s.seal = s.open[0]
	return &s, nil
}

// NewSealer returns the Sealer of a master key alone, for data that has nothing
// sealed under a file's key.
func NewSealer(masterKey []byte) (*Sealer, error) {
	k, err := deriveSealKey(masterKey)
	if err != nil {
		return nil, fmt.Errorf("derive sealing key: %w", err)
	}
	return &Sealer{seal: k, master: true, open: []sealKey{k}}, nil
}

// Name is that of the key that s seals under: it tells keys apart, and says
// nothing else about them.
func (s *Sealer) Name() string { return hex.EncodeToString(s.seal.id[:]) }

// given is the name of the master key, empty without one.
func (s *Sealer) given() string {
	if !s.master {
		return ""
	}
	return s.Name()
}

// has reports whether s has the key of a name.
func (s *Sealer) has(name string) bool {
	return slices.ContainsFunc(s.open, func(k sealKey) bool { return hex.EncodeToString(k.id[:]) == name })
}

// And returns s with the key of another master key to open values with.
func (s *Sealer) And(masterKey []byte) (*Sealer, error) {
	k, err := deriveSealKey(masterKey)
	if err != nil {
		return nil, fmt.Errorf("derive sealing key: %w", err)
	}
	return &Sealer{s.seal, s.master, append(slices.Clone(s.open), k)}, nil
}

// makeSealFile writes a new key for the owner alone to read. It is on disk
// before anything is sealed under it.
func makeSealFile(path string) ([]byte, error) {
	key := make([]byte, sealKeyLen)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return key, sysinfo.ReplaceFile(path, key)
}

func deriveSealKey(secret []byte) (k sealKey, err error) {
	id, err := hkdf.Key(sha256.New, secret, nil, "parley: name of the sealing key, form 1", sealIDLen)
	if err != nil {
		return k, err
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "parley: sealing key, form 1", sealKeyLen)
	if err != nil {
		return k, err
	}
	copy(k.id[:], id)
	k.key = func() []byte { return key }
	return k, nil
}

// Seal encrypts text, bound to where it belongs: only with the same place does
// it open again.
func (s *Sealer) Seal(text []byte, place string) []byte {
	b := make([]byte, sealHead, sealHead+len(text)+chacha20poly1305.Overhead)
	b[0] = sealForm
	copy(b[1:], s.seal.id[:])
	nonce := b[1+sealIDLen:]
	_, _ = rand.Read(nonce) // never fails
	aead, err := chacha20poly1305.NewX(s.seal.key())
	if err != nil {
		panic("store: sealing key of a wrong length") // derived with the right one
	}
	return aead.Seal(b, nonce, text, []byte(place))
}

// Open decrypts what Seal made of a text for the same place. Its errors wrap
// [ErrSealedElsewhere] or [ErrSealBroken].
func (s *Sealer) Open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) < sealHead+chacha20poly1305.Overhead || sealed[0] != sealForm {
		return nil, fmt.Errorf("open sealed value of %s: %w", place, ErrSealBroken)
	}
	for _, k := range s.open {
		if !bytes.Equal(k.id[:], sealed[1:1+sealIDLen]) {
			continue
		}
		aead, err := chacha20poly1305.NewX(k.key())
		if err != nil {
			return nil, fmt.Errorf("open sealed value of %s: %w", place, err)
		}
		text, err := aead.Open(nil, sealed[1+sealIDLen:sealHead], sealed[sealHead:], []byte(place))
		if err != nil {
			return nil, fmt.Errorf("open sealed value of %s: %w", place, ErrSealBroken)
		}
		return text, nil
	}
	return nil, fmt.Errorf("open sealed value of %s: %w", place, ErrSealedElsewhere)
}
