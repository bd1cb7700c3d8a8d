package cli

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
)

// TestKillDeployment kills installs, pins and rollbacks, and the host that
// follows them, with SIGKILL at random moments. After each kill a host starts on
// the directory and has the version in use that was, or the one that was
// wanted; nothing is refused.
func TestKillDeployment(t *testing.T) {
	t.Parallel()
	rounds := killRounds(t, 3, 12)
	d := &killedDeployment{t: t, data: t.TempDir(), shop: t.TempDir(), dir: filepath.Join(t.TempDir(), "plugins")}
	began := time.Now()
	d.command("install", d.make("1.0.0"))(0)
	d.command("install", d.make("1.0.1"))(0)
	took := time.Since(began) / 2
	d.check(live(t, d.data, d.dir), "1.0.1", "1.0.1")

	rng := mathrand.New(mathrand.NewPCG(7, 8))
	outcome := map[string]int{}
	for round := range rounds {
		old, before, newest := d.inUse()
		host := live(t, d.data, d.dir)
		var args []string
		wanted := before
		switch rng.IntN(3) {
		case 0:
			wanted = fmt.Sprintf("1.%d.0", round+1)
			args = []string{"install", d.make(wanted)}
		case 1:
			wanted = newest
			args = []string{"pin", "small@"}
		default:
			args = []string{"rollback", "small"}
		}
		after := time.Duration(rng.Int64N(int64(took) * 3 / 2))
		ended := d.command(args...)(after)
		// The host is killed while it follows, or is about to.
		time.Sleep(time.Duration(rng.Int64N(int64(took))))
		host.kill()

		got := d.check(live(t, d.data, d.dir), old, wanted)
		what := args[0] + " "
		switch {
		case got == wanted:
			what += "done"
		default:
			what += "not done"
		}
		if ended && got != wanted {
			t.Errorf("round %d: %s %s ended well and %s is in use, want %s", round, args[0], args[1], got, wanted)
		}
		if !ended {
			what += ", killed"
		}
		outcome[what]++
	}
	t.Logf("%d rounds: %v", rounds, outcome)
}

type killedDeployment struct {
	t               *testing.T
	data, shop, dir string
}

// make writes a version of the plugin, with enough bytes that writing it takes
// its time.
func (d *killedDeployment) make(version string) string {
	d.t.Helper()
	file := small(d.t, d.shop, version)
	b, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise) // never fails
	if b, err = abi.WithSection(b, "noise", noise); err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return file
}

// command starts `parley plugin`; what it returns kills it after a time, or
// waits for it where that is 0, and reports whether it ended by itself.
func (d *killedDeployment) command(args ...string) func(after time.Duration) (ended bool) {
	d.t.Helper()
	cmd := exec.Command(os.Args[0], append(append([]string{"plugin"}, args...), "--plugin-dir", d.dir)...)
	cmd.Env = append(os.Environ(), reexec+"=parley")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	return func(after time.Duration) bool {
		if after > 0 {
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		err := cmd.Wait()
		if err != nil && cmd.ProcessState.Exited() {
			d.t.Fatalf("parley plugin %s: %v: %s", args, err, &errs)
		}
		return err == nil
	}
}

// inUse reads the lock as a command does: the version in use, the one that a
// rollback takes, and the newest file, pinned or not.
func (d *killedDeployment) inUse() (use, before, newest string) {
	d.t.Helper()
	var out, errs bytes.Buffer
	if code := run(d.t.Context(), []string{"plugin", "list", "--json", "--plugin-dir", d.dir}, &out, &errs); code != exitOK {
		d.t.Fatalf("plugin list: code %d, %s", code, &errs)
	}
	var items []struct {
		Version, State string
		Use, Before    bool
	}
	if err := json.Unmarshal(out.Bytes(), &items); err != nil {
		d.t.Fatal(err)
	}
	most := -1
	for _, i := range items {
		var minor, patch int
		if _, err := fmt.Sscanf(i.Version, "1.%d.%d", &minor, &patch); err != nil {
			d.t.Fatal(err)
		}
		if n := minor*10 + patch; n > most {
			most, newest = n, i.Version
		}
		if i.Use {
			use = i.Version
		}
		if i.Before {
			before = i.Version
		}
	}
	if use == "" || before == "" {
		d.t.Fatalf("plugin list has %+v, want one version in use and one before", items)
	}
	return use, before, newest
}

// check ends a host that has just started, and wants one of two versions to
// be in use and every pinned one to be loaded. It returns the one in use.
func (d *killedDeployment) check(host *life, one, other string) (use string) {
	d.t.Helper()
	defer host.kill()
	status, body := host.call("GET", "/plugins", "")
	var list struct {
		Results []struct {
			From, Version, State, Error string
			Use, Locked                 bool
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		d.t.Fatalf("GET /plugins: status %d, %v: %s", status, err, body)
	}
	for _, p := range list.Results {
		if p.From == "embedded" {
			continue // the program carries it
		}
		// A module whose lock never came is not listed, and harms nobody.
		if p.State != "ready" && p.State != "unlisted" || p.State == "ready" && !p.Locked {
			d.t.Errorf("after a kill version %s is %s: %s", p.Version, p.State, p.Error)
		}
		if p.Use {
			if use != "" {
				d.t.Errorf("after a kill both %s and %s are in use", use, p.Version)
			}
			use = p.Version
		}
	}
	if use != one && use != other {
		d.t.Errorf("after a kill version %q is in use, want %s or %s: %s", use, one, other, body)
	}
	return use
}
