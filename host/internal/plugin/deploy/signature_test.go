package deploy

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

func keyPair(t testing.TB) (minisign.PrivateKey, *PublicKey) {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ReadPublicKey(public.String())
	if err != nil {
		t.Fatal(err)
	}
	return private, k
}

func TestReadPublicKey(t *testing.T) {
	_, public := keyPair(t)
	text, err := public.key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	// The form of a secret key: 158 bytes behind a comment.
	secret := "untrusted comment: minisign encrypted secret key\n" +
		base64.StdEncoding.EncodeToString(append([]byte("EdScB2"), bytes.Repeat([]byte{7}, 152)...)) + "\n"
	dir := t.TempDir()
	files := map[string]string{"good.pub": string(text) + "\n", "secret.key": secret, "long.pub": strings.Repeat("x", MaxSignature+1)}
	for name, s := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if k, err := ReadPublicKey(filepath.Join(dir, "good.pub")); err != nil || k.ID() != public.ID() {
		t.Errorf("ReadPublicKey of a file: %v", err)
	}
	for in, want := range map[string]string{
		filepath.Join(dir, "secret.key"): "holds no public key of minisign: give the file that ends in .pub, never the secret key",
		filepath.Join(dir, "long.pub"):   "it has over 16 KiB",
		filepath.Join(dir, "absent.pub"): "neither a public key of minisign",
		"RWQ" + strings.Repeat("A", 20):  "neither a public key of minisign",
		"":                               "neither a public key of minisign",
	} {
		if _, err := ReadPublicKey(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadPublicKey(%q): %v, want …%s…", in, err, want)
		}
	}
	body := strings.Split(secret, "\n")[1]
	if _, err := ReadPublicKey(body); err == nil || strings.Contains(err.Error(), body[:16]) {
		t.Errorf("ReadPublicKey of a secret key: %v, want an error without it", err)
	}
}

// TestSigned goes through install, start and verification with a key.
//
//parley:option plugin-public-key
func TestSigned(t *testing.T) {
	private, public := keyPair(t)
	stranger, _ := keyPair(t)
	in := newInstaller(t)
	in.Dir.PublicKey = public
	good := module(t, "x", "1.0.0", nil)
	signature := minisign.Sign(private, good)

	tampered := []byte(strings.Replace(string(signature), "\ntrusted comment: ", "\ntrusted comment: not ", 1))
	refused := []struct {
		name      string
		signature []byte
		want      string
	}{
		{"none", nil, "f.wasm is not signed: f.wasm.minisig is missing, and --plugin-public-key wants the signature of key " + public.ID()},
		{"junk", []byte("junk"), "f.wasm.minisig is not a signature of minisign"},
		{"a stranger's", minisign.Sign(stranger, good), "and --plugin-public-key wants " + public.ID()},
		{"another file's", minisign.Sign(private, good[1:]), "the signature f.wasm.minisig is not that of f.wasm (sha256 " + hash(good) + ")"},
		{"a changed comment's", tampered, "the signature f.wasm.minisig is not that of f.wasm"},
	}
	for _, tt := range refused {
		if _, err := in.Install(t.Context(), &Fetched{Module: good, Signature: tt.signature, Place: "f.wasm"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Install with the signature %s: %v, want …%s…", tt.name, err, tt.want)
		}
	}
	if l, err := ReadLock(in.Dir.Path); err != nil || len(l.Plugins) != 0 {
		t.Fatalf("the lock after refusals: %+v, %v; want it empty", l, err)
	}

	if _, err := in.Install(t.Context(), &Fetched{Module: good, Signature: signature, Place: "f.wasm"}, InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := in.Dir.Locked(nil)
	wanted := p.Wanted
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wanted[0].Read(new(bytes.Buffer)); err != nil {
		t.Errorf("Read of a signed one: %v", err)
	}
	file := in.Dir.file("x", "1.0.0")
	if err := os.Remove(file + signatureSuffix); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, in.Dir, file+" is not signed", "`minisign -Sm "+file+"`")
	if _, err := in.Pin(t.Context(), "x", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "is not signed") {
		t.Errorf("Pin: %v, want a word about the signature", err)
	}
	if p, err := in.Dir.Unlocked(nil); err != nil || len(p.Wanted) != 0 || len(p.Refused) != 1 || !strings.Contains(p.Refused[0].Error(), "is not signed") {
		t.Errorf("Unlocked = %v, %v, %v; want it refused", wanted, refused, err)
	}
	if _, err := in.Install(t.Context(), &Fetched{Module: good, Signature: signature, Place: "f.wasm"}, InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Remove(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + signatureSuffix); !os.IsNotExist(err) {
		t.Errorf("the signature of a removed plugin: %v, want it gone", err)
	}
}

// TestMinisignTool takes keys and signatures of the real program, of the
// current form and of the one before.
func TestMinisignTool(t *testing.T) {
	tool, err := exec.LookPath("minisign")
	if err != nil {
		t.Skip("minisign is not on PATH: install Debian's package minisign")
	}
	dir := t.TempDir()
	minisign := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("minisign %s: %v: %s", args, err, out)
		}
	}
	minisign("-G", "-W", "-p", "k.pub", "-s", "k.key")
	good := module(t, "x", "1.0.0", nil)
	file := filepath.Join(dir, "x.wasm")
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := ReadPublicKey(filepath.Join(dir, "k.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{"hashed": "-SHm", "whole": "-Slm"} {
		minisign(form, file, "-s", "k.key", "-t", "a comment")
		signature, err := readSignature(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Verify(file, good, signature); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := k.Verify(file, append(good, 0), signature); err == nil {
			t.Errorf("%s: a changed file passes", name)
		}
	}
}
