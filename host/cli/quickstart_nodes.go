package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/examples/quickstart"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// checkNodes refuses what `quickstart --nodes` cannot do.
func (d demo) checkNodes(c config.Config) error {
	switch {
	case d.nodes != 1 && d.nodes != 3 && d.nodes != 5:
		return fmt.Errorf("--nodes is %d: want 1, 3 or 5", d.nodes)
	case d.nodes > 1 && d.path != "":
		return errors.New("--nodes serves the samples: leave out PATH, and import files by `parley documents import`")
	case d.nodes > 1 && c.TLS.Cert != "":
		return errors.New("--nodes serves plain HTTP on this machine: leave out the certificate")
	}
	return nil
}

// runNodes is run for several nodes: processes of this program over servers of
// NATS, all on this machine.
//
// built is the module of the source, where neither program nor plugin directory has it.
func (d demo) runNodes(cmd *cobra.Command, c config.Config, built []byte) error {
	progress := cmd.ErrOrStderr()
	f, err := newFleet(cmd, c, d.nodes, func(format string, args ...any) { fmt.Fprintf(progress, "parley: "+format+"\n", args...) })
	if err != nil {
		return err
	}
	defer f.lock.Close()
	if built != nil {
		dir := filepath.Join(f.dir, "plugins")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, d.source+".wasm"), built, 0o600); err != nil {
			return err
		}
		f.env = append(f.env, config.EnvPrefix+"PLUGIN_DIR="+dir)
	}
	server, err := findNATS(cmd.Context(), progress)
	if err != nil {
		return err
	}
	if f.minds, err = startMinder(f.exe, f.lock); err != nil {
		return err
	}
	defer f.minds.close()
	// The servers end after the nodes, so that a leader can resign.
	natsCtx, endNATS := context.WithCancel(context.WithoutCancel(cmd.Context()))
	var nats sync.WaitGroup
	defer func() { endNATS(); nats.Wait() }()
	ctx, cancel := context.WithCancelCause(cmd.Context())
	urls, err := f.startNATS(natsCtx, &nats, server, cancel)
	if err != nil {
		return err
	}
	var nodes sync.WaitGroup
	defer func() { cancel(nil); nodes.Wait() }()
	if err := f.createLog(ctx, urls); err != nil {
		return err
	}
	// The first node leads, since nobody else could yet.
	start := func(i int) { nodes.Go(func() { f.keepNode(ctx, i, progress, cancel) }) }
	start(0)
	err = f.await(ctx, "node 1 leads", func() bool { return f.leader(ctx) == 0 })
	for i := 1; i < len(f.addrs) && err == nil; i++ {
		start(i)
	}
	for i := range f.addrs {
		if err == nil {
			err = f.await(ctx, fmt.Sprintf("node %d is ready", i+1), func() bool { return f.client(i).Call(ctx, http.MethodGet, "/ready", nil, new(any)) == nil })
		}
	}
	if err == nil {
		f.up.Store(true)
		err = d.seedNodes(ctx, f)
	}
	if err == nil {
		f.show(d, cmd.OutOrStdout())
		<-ctx.Done()
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if ctx.Err() != nil { // it was interrupted, whatever came of that
		return nil
	}
	return err
}

// await asks done until it is so.
func (f *fleet) await(ctx context.Context, what string, done func() bool) error {
	limit := time.NewTimer(fleetWait)
	defer limit.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			return fmt.Errorf("waited for %v, and still not: %s", fleetWait, what)
		case <-time.After(fleetEvery):
		}
	}
	return nil
}

func (f *fleet) client(i int) *cmdutil.Client {
	return &cmdutil.Client{URL: "http://" + f.addrs[i], Key: f.key}
}

// leader returns which node takes writes, by its own word; -1: none. A node that does not
// run is not asked: another program may answer at its address.
func (f *fleet) leader(ctx context.Context) int {
	for i := range f.addrs {
		var s httpapi.ClusterBody
		if f.pid(i) != 0 && f.client(i).Call(ctx, http.MethodGet, "/cluster", nil, &s) == nil && s.Node != nil && s.Node.Role == "leader" {
			return i
		}
	}
	return -1
}

// keepNode runs node i, and starts it again some time after it ended, until ctx
// does. A node that ends before all were ready ends the fleet.
func (f *fleet) keepNode(ctx context.Context, i int, progress io.Writer, end func(error)) {
	for first := true; ctx.Err() == nil; first = false {
		err := f.runNode(ctx, i, first, progress)
		if ctx.Err() != nil {
			return
		}
		if !f.up.Load() {
			end(fmt.Errorf("node %d ended: %w", i+1, err))
			return
		}
		f.say("node %d is gone (%v); it is started again in %v", i+1, err, fleetAgain)
		again := time.After(fleetAgain)
		f.tellLeader(ctx)
		select {
		case <-again:
		case <-ctx.Done():
		}
	}
}

// runNode runs node i until it ends, or until ctx does and it ended for that.
func (f *fleet) runNode(ctx context.Context, i int, first bool, progress io.Writer) error {
	cmd := childCommand(ctx, f.exe, "serve")
	cmd.Env = append(f.env[:len(f.env):len(f.env)],
		config.EnvPrefix+"HTTP_ADDR="+f.addrs[i],
		config.EnvPrefix+"DB_PATH="+filepath.Join(f.dir, fmt.Sprintf("node-%d", i+1)),
		config.EnvPrefix+"CLUSTER_ADVERTISE=http://"+f.addrs[i])
	told, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	f.minds.started(pid)
	f.setPID(i, pid)
	defer func() { f.setPID(i, 0); f.minds.ended(pid) }()
	if err := os.WriteFile(f.pidFile(i), []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
		f.say("%v", err)
	}
	if !first {
		f.say("node %d is started again: http://%s, process %d", i+1, f.addrs[i], pid)
	}
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		if ctx.Err() == nil { // while all end, they find each other gone
			fmt.Fprintf(progress, "node %d: %s\n", i+1, lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, told) // behind a line that is too long
	return cmd.Wait()
}

func (f *fleet) pidFile(i int) string { return filepath.Join(f.dir, fmt.Sprintf("node-%d.pid", i+1)) }

func (f *fleet) setPID(i, pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pids[i] = pid
}

func (f *fleet) pid(i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pids[i]
}

// tellLeader says who takes the writes now.
func (f *fleet) tellLeader(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkLeader)
	defer cancel()
	at := -1
	_ = f.await(ctx, "a node leads", func() bool { at = f.leader(ctx); return at >= 0 }) // else nobody does
	if at >= 0 {
		f.say("node %d takes the writes now", at+1)
	}
}

// show prints where the nodes are, and what to try.
func (f *fleet) show(d demo, stdout io.Writer) {
	leader := f.leader(context.Background())
	for i, addr := range f.addrs {
		note := ""
		if i == leader {
			note = ", takes the writes"
		}
		f.say("node %d: http://%s, process %d%s", i+1, addr, f.pid(i), note)
	}
	for i := range f.addrs { // where none leads now, any one that runs
		if leader < 0 || f.pid(leader) == 0 {
			leader = i
		}
	}
	kill := fmt.Sprintf("kill -9 %d", f.pid(leader))
	if runtime.GOOS == "windows" {
		kill = fmt.Sprintf("taskkill /F /PID %d", f.pid(leader))
	}
	other := (leader + 1) % len(f.addrs)
	f.say("every node has all data below %s; the key of the nodes is %s", f.dir, f.where)
	f.say("ask node %d by the first command, end node %d by the second, and ask again; the third shows who leads then", other+1, leader+1)
	fmt.Fprintf(stdout, "%s\n", d.command(f.addrs[other], f.where, quickstart.Question))
	fmt.Fprintln(stdout, kill)
	fmt.Fprintf(stdout, "parley cluster status --url http://%s --key \"%s\"\n", f.addrs[other], f.where)
	f.say("serving until interrupted")
}
