package deploy

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"aead.dev/minisign"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/registry"
)

// signatureSuffix is added to a file's name for that of its signature.
const signatureSuffix = ".minisig"

// Bounds of files, in bytes. That of a signature holds for a key, too: the comments
// in them may be long.
const (
	MaxModule    = plugin.MaxModule
	MaxSignature = 16 << 10
)

// A PublicKey checks signatures of minisign: of a whole file, with ed25519.
type PublicKey struct{ key minisign.PublicKey }

var _ encoding.TextUnmarshaler = (*PublicKey)(nil)

// ReadPublicKey takes the key itself, one line of base64, or the path of the
// file that `minisign -G` made.
func ReadPublicKey(keyOrFile string) (*PublicKey, error) {
	k := &PublicKey{}
	if k.UnmarshalText([]byte(keyOrFile)) == nil {
		return k, nil
	}
	b, err := readBounded(keyOrFile)
	if errors.Is(err, fs.ErrNotExist) {
		// What it is instead is not shown: it may be the secret key.
		return nil, errors.New("it is neither a public key of minisign (56 characters, beginning with RW) nor the path of a file")
	}
	if err != nil {
		return nil, err
	}
	if err := k.UnmarshalText(b); err != nil {
		return nil, fmt.Errorf("%s holds no public key of minisign: give the file that ends in .pub, never the secret key", keyOrFile)
	}
	return k, nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *PublicKey) UnmarshalText(text []byte) error {
	return k.key.UnmarshalText([]byte(strings.TrimSpace(string(text))))
}

// ID is what minisign calls the key.
func (k *PublicKey) ID() string { return fmt.Sprintf("%016X", k.key.ID()) }

// Verify checks the signature of module, which came from a place called from.
func (k *PublicKey) Verify(from string, module, signature []byte) error {
	if len(signature) == 0 && registry.IsReference(from) {
		return fmt.Errorf("%s is not signed: no signature of minisign refers to it there, and --plugin-public-key wants that of key %s: ask who publishes it, or sign the file by `minisign -Sm FILE` and publish both by `parley plugin push FILE REFERENCE`",
			from, k.ID())
	}
	if len(signature) == 0 {
		return fmt.Errorf("%s is not signed: %s%s is missing, and --plugin-public-key wants the signature of key %s: put the file next to it, or sign it by `minisign -Sm %s`",
			from, from, signatureSuffix, k.ID(), from)
	}
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return fmt.Errorf("%s%s is not a signature of minisign: sign the file again by `minisign -Sm %s`", from, signatureSuffix, from)
	}
	if s.KeyID != k.key.ID() {
		return fmt.Errorf("%s is signed by key %016X, and --plugin-public-key wants %s: take the file from who holds that key, or give the key that you trust", from, s.KeyID, k.ID())
	}
	if !minisign.Verify(k.key, module, signature) {
		return fmt.Errorf("the signature %s%s is not that of %s (sha256 %s): the file or its signature was altered: get both again from where they are published",
			from, signatureSuffix, from, hash(module))
	}
	return nil
}

// readSignature reads the signature beside file; none where it is not there.
func readSignature(file string) ([]byte, error) {
	b, err := readBounded(file + signatureSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// readBounded reads a small file.
func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxSignature+1))
	if err == nil && len(b) > MaxSignature {
		err = fmt.Errorf("read %s: it has over %d KiB, and a key or signature less than one", file, MaxSignature>>10)
	}
	return b, err
}
