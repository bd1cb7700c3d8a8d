package telemetry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// A File is a sink: a line for each message, the bytes that are sealed, those
// that do not leave the machine too. At its bound it becomes <path>.1, and that
// one <path>.2, which is the last. Safe for concurrent use.
type File struct {
	path  string
	bound int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// DefaultFileSize is where a [File] begins anew, in bytes.
const DefaultFileSize = 10 << 20

// OpenFile opens the file at path, to which it adds; bound 0 means
// [DefaultFileSize].
func OpenFile(path string, bound int64) (*File, error) {
	if bound == 0 {
		bound = DefaultFileSize
	}
	f := &File{path: path, bound: bound}
	return f, f.open()
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open telemetry file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write adds messages.
func (f *File) Write(messages []Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range messages {
		if f.size > 0 && f.size+int64(len(m.Body))+1 > f.bound {
			if err := f.rotate(); err != nil {
				return err
			}
		}
		if f.file == nil {
			return fmt.Errorf("write telemetry file: %w", fs.ErrClosed)
		}
		n, err := f.file.Write(append(m.Body[:len(m.Body):len(m.Body)], '\n'))
		f.size += int64(n)
		if err != nil {
			return fmt.Errorf("write telemetry file: %w", err)
		}
	}
	return nil
}

func (f *File) rotate() error {
	if f.file != nil {
		if err := f.file.Close(); err != nil {
			return fmt.Errorf("rotate telemetry file: %w", err)
		}
		f.file = nil
	}
	err := os.Rename(f.path+".1", f.path+".2")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, os.Rename(f.path, f.path+".1")); err != nil {
		return fmt.Errorf("rotate telemetry file: %w", err)
	}
	return f.open()
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
