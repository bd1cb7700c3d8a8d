package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// A secretFile holds the value of an option, as it was read last.
type secretFile struct {
	path string
	text secret.Text
}

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// readSecret reads the one line that a file holds. Line breaks behind it are an editor's. Spaces are
// the secret's own.
func readSecret(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	text := strings.TrimRight(string(b), "\r\n")
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "", fmt.Errorf("%s is empty: want the secret on one line", file)
	case len(b) > maxSecret || strings.ContainsAny(text, "\r\n\x00"):
		return "", fmt.Errorf("%s holds more than one line: want the secret alone", file)
	}
	return text, nil
}

// ReadSecrets reads the files of secrets again, and has what changed count from now on, without a
// start. changed names those options. Of a secret that takes a start, the error says so.
func (c *Config) ReadSecrets() (changed []string, err error) {
	for _, o := range AllOptions() {
		file, ok := c.secretFiles[o.Name]
		if !ok {
			continue
		}
		text, failed := readSecret(file.path)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w: what was read before stays", o.EnvFile(), failed))
			continue
		}
		if file.text.Reveal() == text {
			continue
		}
		var next Config
		switch failed := o.Kind.set(&next, text); {
		case failed != nil:
			err = errors.Join(err, fmt.Errorf("%s: option %s %w: want %s: what was read before stays", o.EnvFile(), o.Name, failed, o.Kind.Allowed))
		case o.Live == nil:
			err = errors.Join(err, fmt.Errorf("%s: option %s has changed, which takes a start", o.EnvFile(), o.Name))
		default:
			o.Live(c).Replace(text)
			file.text.Replace(text)
			changed = append(changed, o.Name)
		}
	}
	return changed, err
}
