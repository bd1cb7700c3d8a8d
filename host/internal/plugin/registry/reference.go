// Package registry keeps Wasm modules, and the signatures of them, in OCI
// registries and in OCI image layouts on disk. What a module says of itself is
// the callers' affair.
package registry

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry"
)

// What references begin with.
const (
	schemeRegistry = "oci://"
	schemeLayout   = "oci-layout://"
)

// A Reference names a module in a repository of a registry, or in a layout.
type Reference struct {
	// Layout is the folder of an OCI image layout; empty: it is in a registry.
	Layout string
	// Host is a registry's host, with its port where it has one, and Repository
	// the name in it.
	Host, Repository string
	Tag              string // empty: none is named
	Digest           string // of the manifest, "sha256:" and 64 hexadecimal digits; empty: any
}

var (
	formTag    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	formDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// IsReference reports whether s begins as a reference does.
func IsReference(s string) bool {
	return strings.HasPrefix(s, schemeRegistry) || strings.HasPrefix(s, schemeLayout)
}

// ParseReference reads oci://HOST/REPOSITORY[:TAG][@sha256:…] and
// oci-layout://FOLDER[:TAG][@sha256:…]. A folder that begins with / makes three
// slashes in a row.
func ParseReference(s string) (Reference, error) {
	rest, digest, pinned := strings.Cut(s, "@")
	if strings.HasPrefix(s, schemeLayout) { // whose folder may be called anything
		rest, digest, pinned = cutLast(s, "@sha256:")
	}
	r := Reference{Digest: digest}
	if pinned && !formDigest.MatchString(digest) {
		return Reference{}, fmt.Errorf("%q ends in what is not a digest of a manifest: one is sha256: and 64 hexadecimal digits", cut(s))
	}
	if folder, ok := strings.CutPrefix(rest, schemeLayout); ok {
		r.Layout, r.Tag = cutTag(folder)
		if r.Layout == "" {
			return Reference{}, fmt.Errorf("%q names no folder: write oci-layout://FOLDER:TAG, such as oci-layout:///media/plugins:openai-1.0.0", cut(s))
		}
		return r, r.checkTag(s)
	}
	path, ok := strings.CutPrefix(rest, schemeRegistry)
	if !ok {
		return Reference{}, fmt.Errorf("%q begins neither with oci:// nor with oci-layout://", cut(s))
	}
	path, r.Tag = cutTag(path)
	parsed, err := registry.ParseReference(path)
	if err != nil || strings.ContainsAny(parsed.Registry, " \t") {
		return Reference{}, fmt.Errorf("%q is no place in a registry: write oci://HOST/REPOSITORY:TAG, in lower case, such as oci://registry.example.com/plugins/openai:1.0.0; a login comes from docker's configuration", cut(s))
	}
	r.Host, r.Repository = parsed.Registry, parsed.Repository
	return r, r.checkTag(s)
}

// cutLast cuts s at the last @ that mark begins with.
func cutLast(s, mark string) (before, after string, found bool) {
	n := strings.LastIndex(s, mark)
	if n < 0 {
		return s, "", false
	}
	return s[:n], s[n+1:], true
}

// cutTag takes the tag off the end of what may have a port, too.
func cutTag(s string) (rest, tag string) {
	if n := strings.LastIndexByte(s, ':'); n > strings.LastIndexByte(s, '/') {
		return s[:n], s[n+1:]
	}
	return s, ""
}

func (r Reference) checkTag(s string) error {
	if r.Tag == "" && !strings.Contains(s, ":@") && !strings.HasSuffix(s, ":") || formTag.MatchString(r.Tag) {
		return nil
	}
	return fmt.Errorf("%q has the tag %q: a tag is 1 to 128 letters, digits, _, . and -, not beginning with . or -", cut(s), cut(r.Tag))
}

// String is r as [ParseReference] reads it.
func (r Reference) String() string {
	s := r.Name()
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// Name is r without tag and digest.
func (r Reference) Name() string {
	if r.Layout != "" {
		return schemeLayout + r.Layout
	}
	return schemeRegistry + r.Host + "/" + r.Repository
}

// loopback reports whether a registry is this machine's own: only such a one
// may be asked without encryption.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ErrNoTag is in the error about a reference that names no version.
var ErrNoTag = errors.New("no tag or digest is named")

// target is what r names within its repository or layout.
func (r Reference) target() (string, error) {
	switch {
	case r.Digest != "":
		return r.Digest, nil
	case r.Tag != "":
		return r.Tag, nil
	}
	return "", fmt.Errorf("%s: %w", r, ErrNoTag)
}

// cut bounds what a message shows of what anybody may have written.
func cut(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
