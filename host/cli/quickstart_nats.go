package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/node"
)

// natsServer is the program of NATS' server, and natsModule where it comes from.
const (
	natsServer = "nats-server"
	natsModule = "github.com/nats-io/nats-server/v2"
)

func freePort(hostname string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(hostname, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// checkFree returns an error if another process listens on an address.
func checkFree(addr string) error {
	l, err := net.Listen("tcp", addr)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the rest of it says the address again
	}
	if err != nil {
		return fmt.Errorf("listen on %s: %w: give another --http-addr", addr, err)
	}
	return l.Close()
}

// findNATS returns the program of NATS' server: the one that is installed, or else
// the one that go builds, in the version that this program is tested with.
func findNATS(ctx context.Context, progress io.Writer) (string, error) {
	if path, err := exec.LookPath(natsServer); err == nil {
		return path, nil
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("several nodes need the program %s of NATS, 2.11 or newer, which is not in PATH: see https://docs.nats.io/running-a-nats-service/introduction/installation", natsServer)
	}
	dir, err := unpackSources()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "built", natsServer)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	fmt.Fprintf(progress, "parley: building %s of NATS\n", natsServer)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, natsModule)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", natsServer, err, out)
	}
	return path, nil
}

// startNATS starts as many servers of NATS as there are nodes, and returns their
// URLs, with the password that is drawn for this time: who reads neither the servers'
// files nor the nodes' environment is not let in. ended is told of one that ends by itself.
func (f *fleet) startNATS(ctx context.Context, running *sync.WaitGroup, program string, ended func(error)) (urls []string, err error) {
	var clients, peers []string
	for range f.addrs {
		for _, list := range []*[]string{&clients, &peers} {
			port, err := freePort("127.0.0.1")
			if err != nil {
				return nil, err
			}
			*list = append(*list, "127.0.0.1:"+strconv.Itoa(port))
		}
	}
	password, between := randomText(), randomText()
	var routes []string
	for _, p := range peers {
		routes = append(routes, strconv.Quote("nats://server:"+between+"@"+p))
	}
	for i := range clients {
		dir := filepath.Join(f.dir, fmt.Sprintf("nats-%d", i+1))
		conf := fmt.Sprintf("server_name: \"nats-%d\"\nlisten: %q\nlog_file: %q\n"+
			"jetstream { store_dir: %q, max_memory_store: 16MB, max_file_store: 4GB, sync_interval: always }\n"+
			"authorization { user: \"node\", password: %q }\n"+
			"cluster { name: %q, listen: %q, authorization { user: \"server\", password: %q }, routes: [%s] }\n",
			i+1, clients[i], filepath.Join(dir, "log"), dir, password, f.name, peers[i], between, strings.Join(routes, ", "))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		file := filepath.Join(dir, "nats.conf")
		if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
			return nil, err
		}
		cmd := childCommand(ctx, program, "--config", file)
		var said bytes.Buffer // before it has its log
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("start a server of NATS: %w", err)
		}
		f.minds.started(cmd.Process.Pid)
		running.Go(func() {
			err := cmd.Wait()
			f.minds.ended(cmd.Process.Pid)
			if ctx.Err() == nil {
				ended(fmt.Errorf("server %d of NATS ended: %v: see %s: %s", i+1, err, filepath.Join(dir, "log"), bytes.TrimSpace(said.Bytes())))
			}
		})
		urls = append(urls, "nats://node:"+password+"@"+clients[i])
	}
	f.env = append(f.env, config.EnvPrefix+"CLUSTER_NATS="+strings.Join(urls, ","))
	return urls, nil
}

// childCommand is a process that an interrupt at the terminal does not reach, and
// that is told to end when ctx does.
func childCommand(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	setApart(cmd)
	if runtime.GOOS != "windows" { // which has only Kill
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	cmd.WaitDelay = fleetGrace
	return cmd
}

// createLog makes the cluster's log, once the servers have found each other.
func (f *fleet) createLog(ctx context.Context, urls []string) error {
	flags := map[string]string{"cluster-name": f.name, "cluster-nats": strings.Join(urls, ","), "master-key": f.key}
	c, _, err := config.Load(config.Sources{Flags: flags, Only: node.OptionNames()})
	if err != nil {
		return err
	}
	var last error
	err = f.await(ctx, "the servers of NATS take the cluster's log", func() bool {
		last = node.Create(ctx, c, len(urls), programVersion())
		return last == nil
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", err, last)
	}
	return err
}
