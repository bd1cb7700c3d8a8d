package wasm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// Bounds of a compilation aside.
const (
	asideMemory  = 1 << 30 // bytes of the child
	asideTimeout = 2 * time.Minute
	asideNice    = 10        // how far the child steps back behind calls under way
	asideSaid    = 512       // bytes of what it said that an error shows
	maxAside     = 128 << 20 // bytes of a module
)

// An asideJob is what a child reads first: one line of JSON. The module
// follows, and then nothing until the parent is done or gone.
type asideJob struct {
	Dir     string `json:"dir"`            // the cache folder
	Key     string `json:"key,omitempty"`  // of the module there
	Module  string `json:"name,omitempty"` // what it is called
	Limiter string `json:"limiter,omitempty"`
	Size    int    `json:"size,omitempty"` // bytes of the module
	// Library is what the child itself has, in place of a module that it is sent.
	Library string `json:"library,omitempty"`
}

// aside has the cache keep what module returns, under that key, by a child process
// of low priority: calls under way keep the processors, and what the compiler
// takes or breaks is the child's. It does nothing where there is no program for
// it or the cache is known to have the key.
//
// An error means that the child tried and could not: the module is not fit to be
// compiled here either, but where it is a [CacheError].
func (r *Runtime) aside(ctx context.Context, key, name string, module func() ([]byte, error)) error {
	if len(r.program) == 0 || r.dir == "" || r.known(key) {
		return nil
	}
	select {
	case r.children <- struct{}{}:
		defer func() { <-r.children }()
	case <-ctx.Done():
		return ctx.Err()
	}
	bin, err := module()
	if err != nil {
		return err
	}
	return runAside(ctx, r.program, asideJob{Dir: r.dir, Key: key, Module: name, Limiter: r.engine.limiter.String(), Size: len(bin)}, bin)
}

// runAside has a child of program do job, which bin follows.
func runAside(ctx context.Context, program []string, job asideJob, bin []byte) error {
	head, err := json.Marshal(job)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(job.Dir, 0o700); err != nil { // somebody may have removed it
		return CacheError{err}
	}
	limited, cancel := context.WithTimeoutCause(ctx, asideTimeout, fmt.Errorf("no end after %s", asideTimeout))
	defer cancel()
	cmd := exec.CommandContext(limited, program[0], program[1:]...)
	cmd.Dir = job.Dir
	cmd.Env = []string{} // what the operator's holds is no matter of a compiler
	cmd.WaitDelay = time.Second
	separate(cmd)
	said := &transcript{}
	cmd.Stderr = writerFunc(said.write)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Cancel = in.Close // the child ends itself, and leaves nothing behind; after WaitDelay it is killed
	if err := cmd.Start(); err != nil {
		// The program is gone, or the system has no room for another process:
		// the module may be compiled in process still.
		return nil
	}
	go func() {
		// The pipe stays open until the child has ended: its end tells the
		// child that we have.
		_, _ = in.Write(append(head, '\n')) // where it fails, Wait says why
		_, _ = in.Write(bin)
	}()
	err = cmd.Wait()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("the compiler's process was ended: %w", context.Cause(limited))
	}
	words := clip(strings.TrimSpace(said.text()), asideSaid)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == ExitCache {
		return CacheError{errors.New(words)}
	}
	return fmt.Errorf("the compiler's process failed: %w: %s", err, words)
}

// ExitCache is the exit code of a program whose [CompileAside] failed with a [CacheError]:
// that of sysexits for a file that cannot be created.
const ExitCache = 73

// A CacheError says that compiled code cannot be kept. Nothing is wrong with the module.
type CacheError struct{ Err error }

func (e CacheError) Error() string { return e.Err.Error() }

// Unwrap returns what the system says.
func (e CacheError) Unwrap() error { return e.Err }

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// CompileAside is the child's part of [Options].Aside: it compiles the module
// that in brings into the cache that in names, and returns. Call it in a
// process of its own, which it bounds in memory and priority; gone is called
// when in ends before the work does, since then nobody waits for it any more.
// Libraries compile what [CompileLibrary] names into a cache in dir. After a [CacheError] the
// process is to end with [ExitCache].
func CompileAside(ctx context.Context, in io.Reader, libraries map[string]func(dir string) error, gone func()) error {
	if err := stepBack(asideNice, asideMemory); err != nil {
		return fmt.Errorf("step back: %w", err)
	}
	debug.SetMemoryLimit(asideMemory / 4 * 3)
	r := bufio.NewReader(in)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	var job asideJob
	if err := json.Unmarshal(line, &job); err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	if compile := libraries[job.Library]; compile != nil && job.Dir != "" {
		mark := markPrefix + filepath.Base(job.Key)
		go whenEnded(r, job.Dir, mark, gone)
		return makeOnce(ctx, job.Dir, mark, func() error {
			if err := compile(job.Dir); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(job.Dir, mark), nil, 0o600); err != nil {
				return CacheError{err}
			}
			return nil
		})
	}
	limiter, err := limiterNamed(job.Limiter)
	if err != nil {
		return err
	}
	if job.Dir == "" || job.Key == "" || filepath.Base(job.Key) != job.Key || job.Size < 0 || job.Size > maxAside {
		return errors.New("the job names no folder, or no size that a module may have")
	}
	bin := make([]byte, job.Size)
	if _, err := io.ReadFull(r, bin); err != nil {
		return fmt.Errorf("read module: %w", err)
	}
	go whenEnded(r, job.Dir, packedPrefix+job.Key, gone)
	if err := openCache(job.Dir); err != nil {
		return CacheError{fmt.Errorf("open compilation cache: %w", err)}
	}
	return makeOnce(ctx, job.Dir, packedPrefix+job.Key, func() error {
		return keepIn(ctx, job.Dir, job.Key, job.Module, limiter, bin)
	})
}

// whenEnded calls gone when r has ended. The turn to make the file name in the folder dir
// is given up then: see makeOnce.
func whenEnded(r io.Reader, dir, name string, gone func()) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r, math.MaxInt64))
	_ = removeFile(turnOf(dir, name)) // or it stays for a day, and does no harm
	gone()
}

// limiterNamed returns the limiter whose String is name.
func limiterNamed(name string) (Limiter, error) {
	for _, l := range []Limiter{Metered(), ContextDone(), Unlimited()} {
		if l.String() == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("there is no limiter %.32q", name)
}
