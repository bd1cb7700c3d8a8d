package wasm

import (
	"errors"
	"os"
)

// dataPrefix begins the names of files that are mapped, where a system has them
// have names.
const dataPrefix = scratchPrefix + "data-"

var errNoFolder = errors.New("the runtime has no folder")

// hold returns a file without a name that holds b, to be mapped.
//
// Pages that are mapped from it come into memory when they are used and leave
// it where it is short, as those of any program do.
func (r *Runtime) hold(b []byte) (*os.File, error) {
	if r.dir == "" {
		return nil, errNoFolder
	}
	f, err := makeUnnamed(r.dir)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
