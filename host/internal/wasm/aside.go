package wasm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental"
)

// Bounds of a compilation aside.
const (
	asideMemory  = 1 << 30 // bytes of the child
	asideTimeout = 2 * time.Minute
	asideNice    = 10        // how far the child steps back behind calls under way
	asideSaid    = 512       // bytes of what it said that an error shows
	maxAside     = 128 << 20 // bytes of a module, which has grown by its meter
)

// An asideJob is what a child reads first: one line of JSON. The module
// follows, and then nothing until the parent is done or gone.
type asideJob struct {
	Dir     string `json:"dir"`
	Limiter string `json:"limiter"`
	Size    int    `json:"size"` // bytes of the module
}

// aside has bin, which e is to run, compiled into the cache by a child process
// of low priority: calls under way keep the processors, and what the compiler
// takes or breaks is the child's. It does nothing where there is no program for
// it or the cache is known to hold bin.
//
// An error means that the child tried and could not: bin is not fit to be
// compiled here either.
func (r *Runtime) aside(ctx context.Context, e *engine, key string, bin []byte) error {
	if len(r.program) == 0 || r.dir == "" || r.known(key) {
		return nil
	}
	select {
	case r.children <- struct{}{}:
		defer func() { <-r.children }()
	case <-ctx.Done():
		return ctx.Err()
	}
	head, err := json.Marshal(asideJob{r.dir, e.limiter.String(), len(bin)})
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, asideTimeout, fmt.Errorf("no end after %s", asideTimeout))
	defer cancel()
	cmd := exec.CommandContext(limited, r.program[0], r.program[1:]...)
	cmd.Dir = r.dir
	cmd.Env = []string{} // what the operator's holds is no matter of a compiler
	cmd.WaitDelay = time.Second
	separate(cmd)
	said := &transcript{}
	cmd.Stderr = writerFunc(said.write)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
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
		_ = r.remember(key) // without the mark there will be another child
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("the compiler's process was ended: %w", context.Cause(limited))
	}
	return fmt.Errorf("the compiler's process failed: %w: %s", err, clip(strings.TrimSpace(said.text()), asideSaid))
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// CompileAside is the child's part of [Options].Aside: it compiles the module
// that in brings into the cache that in names, and returns. Call it in a
// process of its own, which it bounds in memory and priority; gone is called
// when in ends before the work does, since then nobody waits for it any more.
func CompileAside(ctx context.Context, in io.Reader, gone func()) error {
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
	limiter, err := limiterNamed(job.Limiter)
	if err != nil {
		return err
	}
	if job.Dir == "" || job.Size < 0 || job.Size > maxAside {
		return errors.New("the job names no folder, or no size that a module may have")
	}
	bin := make([]byte, job.Size)
	if _, err := io.ReadFull(r, bin); err != nil {
		return fmt.Errorf("read module: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, io.LimitReader(r, math.MaxInt64))
		gone()
	}()
	cache, err := openCache(job.Dir)
	if err != nil {
		return fmt.Errorf("open compilation cache: %w", err)
	}
	e, err := newEngine(limiter, cache)
	if err != nil {
		return errors.Join(err, cache.Close(ctx))
	}
	_, err = e.wazero.CompileModule(experimental.WithCompilationWorkers(ctx, 1), bin)
	return errors.Join(err, e.close(), cache.Close(ctx))
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
