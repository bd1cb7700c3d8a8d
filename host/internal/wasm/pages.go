package wasm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// The beginnings of the names of files that are mapped: the code of a module,
// and the data that its instances start with.
const (
	codePrefix = "code-"
	dataPrefix = "data-"
)

var errNoFolder = errors.New("the runtime has no folder")

// keep returns the file called name in r's folder once it holds b. What it
// holds is compared byte by byte, so nobody need trust it: a file that was cut
// short or belongs to another processor is made anew.
//
// Pages that are mapped from it come into memory when they are used and leave
// it where it is short, as those of any program do.
func (r *Runtime) keep(name string, b []byte) (*os.File, error) {
	if r.dir == "" {
		return nil, errNoFolder
	}
	path := filepath.Join(r.dir, name)
	if f, err := os.Open(path); err == nil {
		if same(f, b) {
			return f, nil
		}
		_ = f.Close() // it was only read
	}
	made, err := os.CreateTemp(r.dir, name+".*")
	if err != nil {
		return nil, err
	}
	_, err = made.Write(b)
	err = errors.Join(err, made.Close())
	if err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(made.Name()))
	}
	f, err := os.Open(path)
	if err == nil && !same(f, b) {
		err = errors.Join(errors.New("it does not hold what was written"), f.Close())
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// same reports whether f holds b and nothing else.
func same(f *os.File, b []byte) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(b)) {
		return false
	}
	part := make([]byte, 64<<10)
	for at := 0; at < len(b); {
		n, err := f.ReadAt(part[:min(len(part), len(b)-at)], int64(at))
		if err != nil || !bytes.Equal(part[:n], b[at:at+n]) {
			return false
		}
		at += n
	}
	return true
}
