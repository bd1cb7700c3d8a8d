package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestHammerInstall lets several installers, as of several processes, change
// one directory at once: each keeps what the others did.
func TestHammerInstall(t *testing.T) {
	in := newInstaller(t)
	const tools, each = 6, 5
	var wg sync.WaitGroup
	for tool := range tools {
		mine := &Installer{Dir: in.Dir, Try: in.Try}
		wg.Go(func() {
			for n := range each {
				name := fmt.Sprintf("p%d", tool)
				b := module(t, name, fmt.Sprintf("1.0.%d", n), nil)
				if _, err := mine.Install(context.Background(), &Fetched{Module: b, Place: "f"}, InstallOptions{}); err != nil {
					t.Errorf("Install: %v", err)
				}
				if n > 0 {
					if _, err := mine.Rollback(context.Background(), name); err != nil {
						t.Errorf("Rollback: %v", err)
					}
				}
				if _, err := mine.Dir.Locked(nil); err != nil {
					t.Errorf("Locked: %v", err)
				}
			}
		})
	}
	wg.Wait()
	checkDir(t, in.Dir)
	items, err := in.Dir.List(nil)
	if err != nil || len(items) != tools*each {
		t.Errorf("%d versions are pinned, %v; want %d", len(items), err, tools*each)
	}
}

// TestBusy waits for the directory as long as its caller does.
func TestBusy(t *testing.T) {
	in := newInstaller(t)
	w, err := in.Dir.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := in.Rollback(ctx, "x")
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Rollback while another is at work: %v, want %v", err, context.Canceled)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Rollback(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "pins no plugin x") {
		t.Errorf("Rollback afterwards: %v", err)
	}
}

// TestSweep removes what killed processes left, and nothing else.
func TestSweep(t *testing.T) {
	in := newInstaller(t)
	if err := os.MkdirAll(in.Dir.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{partPrefix + "AAAA" + partSuffix, ".parley-notes", "mine.part"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(in.Dir.Path, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	for i, name := range names {
		if _, err := os.Stat(filepath.Join(in.Dir.Path, name)); os.IsNotExist(err) != (i == 0) {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}
}

// TestUnwritable leaves no lock and no file behind where writing fails.
func TestUnwritable(t *testing.T) {
	in := newInstaller(t)
	if err := os.MkdirAll(filepath.Join(in.Dir.Path, LockFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.0.0", nil), Place: "f"}, InstallOptions{}); err == nil {
		t.Error("Install where the lock is a directory: no error")
	}
	if err := os.WriteFile(in.Dir.Path+"-file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in.Dir.Path += "-file"
	if _, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.0.0", nil), Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "make plugin directory") {
		t.Errorf("Install into what is a file: %v", err)
	}
}

// TestTry keeps nothing of a plugin that cannot run.
func TestTry(t *testing.T) {
	in := newInstaller(t)
	broken := errors.New("it traps")
	in.Try = func(context.Context, []byte) error { return broken }
	if _, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.0.0", nil), Place: "f.wasm"}, InstallOptions{}); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "install f.wasm: ") {
		t.Errorf("Install: %v, want install f.wasm: … %v", err, broken)
	}
	if _, err := os.Stat(in.Dir.Path); !os.IsNotExist(err) {
		t.Errorf("the directory afterwards: %v, want none", err)
	}
}

// TestHammerNoDirectoryLeft has commands that fail beside ones that write in a directory
// that is not there yet: those that fail leave none, and take none away.
func TestHammerNoDirectoryLeft(t *testing.T) {
	for range 20 {
		in := newInstaller(t)
		if _, err := in.Rollback(t.Context(), "x"); err == nil {
			t.Fatal("Rollback of a plugin that is not there: no error")
		}
		if _, err := os.Stat(in.Dir.Path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("Rollback that failed left the plugin directory: %v", err)
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = in.Rollback(t.Context(), "x") })
		}
		b := module(t, "p", "1.0.0", nil)
		wg.Go(func() {
			if _, err := in.Install(t.Context(), &Fetched{Module: b, Place: "f"}, InstallOptions{}); err != nil {
				t.Errorf("Install: %v", err)
			}
		})
		wg.Wait()
		checkDir(t, in.Dir)
		if items, err := in.Dir.List(nil); err != nil || len(items) != 1 {
			t.Errorf("%d versions are pinned, %v; want that of p", len(items), err)
		}
	}
}
