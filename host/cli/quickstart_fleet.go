package cli

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A fleet is the nodes of a cluster on this machine, each a process of its own over
// as many servers of NATS, so that one of them can be killed.
type fleet struct {
	dir   string // of all its files
	name  string // of the cluster
	key   string // the master key
	where string // how a shell gets at the key
	exe   string
	env   []string // of all nodes
	lock  *os.File // of dir, while any process of this fleet runs
	minds *minder  // ends all where this process is killed
	addrs []string // that nodes listen on
	say   func(format string, args ...any)
	up    atomic.Bool // all nodes have been ready at once

	mu   sync.Mutex
	pids []int // of nodes; 0: it is down
}

// Times of a fleet.
const (
	fleetWait   = 3 * time.Minute // for servers, or nodes, to be ready; plugins are compiled in it
	fleetEvery  = 100 * time.Millisecond
	fleetAgain  = 10 * time.Second // until a node that ended is started again
	fleetGrace  = time.Minute      // for a process to end once it is told to
	checkLeader = 30 * time.Second // how long a new leader is looked for
)

// newFleet returns a fleet of n nodes for the configuration that cmd was given.
func newFleet(cmd *cobra.Command, c config.Config, n int, say func(format string, args ...any)) (*fleet, error) {
	// As one, and beside what a host alone keeps there.
	dir, err := filepath.Abs(filepath.Join(c.DBPath, "cluster-"+strconv.Itoa(n)))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &fleet{dir: dir, name: "quickstart", say: say, pids: make([]int, n)}
	// Before anything: two servers of NATS over one directory destroy what is there.
	if f.lock, err = store.LockDir(dir); err != nil {
		return nil, f.runsElsewhere(err)
	}
	if err := f.prepare(cmd, c, n); err != nil {
		return nil, errors.Join(err, f.lock.Close())
	}
	return f, nil
}

// addrsFile is where the addresses of the nodes that run are, a line each.
func (f *fleet) addrsFile() string { return filepath.Join(f.dir, "nodes") }

// runsElsewhere adds to the error of a directory that is in use where the nodes are.
func (f *fleet) runsElsewhere(err error) error {
	b, unknown := os.ReadFile(f.addrsFile())
	if unknown != nil || len(b) == 0 {
		return err
	}
	return fmt.Errorf("this cluster runs already, at %s: %w", strings.Join(strings.Fields(string(b)), " "), err)
}

// prepare fills in f, whose directory is locked, for the configuration that cmd was given.
func (f *fleet) prepare(cmd *cobra.Command, c config.Config, n int) (err error) {
	if f.exe, err = os.Executable(); err != nil {
		return err
	}
	if f.key = c.MasterKey.Reveal(); f.key != "" {
		f.where = "$" + config.EnvPrefix + "MASTER_KEY"
	} else if f.key, err = readFleetKey(f.keyFile()); err != nil {
		return err
	} else {
		f.where = "$(cat " + quoteShell(f.keyFile()) + ")"
	}
	hostname, first, err := net.SplitHostPort(c.HTTPAddr)
	port, wrong := strconv.Atoi(first)
	if err != nil || wrong != nil {
		return cmdutil.UsageError{Err: fmt.Errorf("--http-addr %q: --nodes wants a number as port, and takes those that follow", c.HTTPAddr)}
	}
	var nodes strings.Builder
	for i := range n {
		next := port + i
		if port == 0 {
			if next, err = freePort(hostname); err != nil {
				return err
			}
		}
		addr := net.JoinHostPort(hostname, strconv.Itoa(next))
		if err := checkFree(addr); err != nil {
			return err
		}
		f.addrs = append(f.addrs, addr)
		fmt.Fprintf(&nodes, "http://%s\n", addr)
	}
	if err := os.WriteFile(f.addrsFile(), []byte(nodes.String()), 0o600); err != nil {
		return err
	}
	f.env = os.Environ()
	set := func(name, value string) { f.env = append(f.env, config.EnvPrefix+name+"="+value) }
	for name, value := range map[string]string{"LOG_LEVEL": "warn", "PLUGIN_LOCK": config.LockOff} {
		if os.Getenv(config.EnvPrefix+name) == "" {
			set(name, value)
		}
	}
	known := map[string]string{}
	for _, o := range config.AllOptions() {
		known[o.Name] = o.Env()
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if name := known[flag.Name]; name != "" {
			f.env = append(f.env, name+"="+flag.Value.String())
		}
		if flag.Name == cmdutil.FlagConfigFile {
			f.env = append(f.env, config.EnvConfigFile+"="+flag.Value.String())
		}
	})
	set("MASTER_KEY", f.key)
	set("CLUSTER_NAME", f.name)
	set("CLUSTER_NATS_SYNCED", "true")
	return nil
}

func (f *fleet) keyFile() string { return filepath.Join(f.dir, "key") }

// readFleetKey returns the key in a file, which is made where there is none and no node
// has data either.
func readFleetKey(name string) (string, error) {
	b, err := os.ReadFile(name)
	if err == nil && len(bytes.TrimSpace(b)) == 0 {
		return "", fmt.Errorf("%s is empty: remove it, and the data of the nodes with it", name)
	}
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return strings.TrimSpace(string(b)), err
	}
	dir := filepath.Dir(name)
	nodes, err := os.ReadDir(dir)
	for _, node := range nodes {
		if node.IsDir() && store.Exists(filepath.Join(dir, node.Name())) {
			return "", fmt.Errorf("%s is gone, and the data of %s is under that key: put it back, give the key as --master-key, or remove %s", name, node.Name(), dir)
		}
	}
	if err != nil {
		return "", err
	}
	key := randomText()
	return key, sysinfo.ReplaceFile(name, []byte(key+"\n"))
}

// randomText returns a text that nobody guesses.
func randomText() string {
	random := make([]byte, 24)
	_, _ = rand.Read(random) // it never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// quoteShell makes s one word of a shell's command.
func quoteShell(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
