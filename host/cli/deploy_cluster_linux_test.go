package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v2"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// A pod is a container of a deployment file, run as a process of this machine: under
// its own address of the loopback network, which stands for its name.
type pod struct {
	name, addr string
	dir        string   // of its volumes
	args       []string // of parley; none: it is a server of NATS
	env        map[string]string
	cmd        *exec.Cmd
}

// A site is what a deployment file says, run so.
type site struct {
	t      *testing.T
	conf   string // of NATS
	nats   []*pod
	create *pod
	nodes  []*pod
	key    string
	names  *strings.Replacer // of pods, to their addresses
	server string            // the program of NATS
	certs  string            // folder of the certificate of NATS
	// secrets is the folder of what pods have as files.
	secrets string
}

// natsPassword is what a secret or a variable has for the nodes' user of NATS.
const natsPassword = "0123456789abcdef"

// imageEnv returns what the Dockerfile's image has in its environment.
func imageEnv(t *testing.T) map[string]string {
	t.Helper()
	text := string(deployFile(t, "Dockerfile"))
	text = text[strings.LastIndex(text, "\nENV ")+5:]
	text, _, _ = strings.Cut(text, "\nVOLUME")
	env := map[string]string{}
	for _, f := range strings.Fields(strings.ReplaceAll(text, "\\\n", " ")) {
		name, value, _ := strings.Cut(f, "=")
		env[name] = value
	}
	if env["PARLEY_DB_PATH"] == "" || env["PARLEY_HTTP_ADDR"] != "0.0.0.0:7700" {
		t.Fatalf("the Dockerfile's environment is %v", env)
	}
	return env
}

// composeSite reads cluster/compose.yaml.
func composeSite(t *testing.T, s *site) {
	var file any
	if err := yaml.UnmarshalStrict(deployFile(t, "cluster/compose.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	s.conf = strings.ReplaceAll(at(file, "configs", "nats", "content").(string), "$$", "$")
	s.conf = regexp.MustCompile(`\$\{NATS_ROUTE_PASSWORD[^}]*\}`).ReplaceAllString(s.conf, natsPassword)
	read := func(name string) *pod {
		p := &pod{name: name, env: map[string]string{"HOSTNAME": name}}
		service := at(file, "services", name)
		list, _ := at(service, "environment").(map[any]any)
		for k, v := range list {
			p.env[fmt.Sprint(k)] = strings.ReplaceAll(regexp.MustCompile(`\$\{PARLEY_MASTER_KEY(:\?[^}]*)?\}`).ReplaceAllString(fmt.Sprint(v), s.key), "${NATS_PASSWORD}", natsPassword)
			p.env[fmt.Sprint(k)] = regexp.MustCompile(`\$\{NATS_PASSWORD:\?[^}]*\}`).ReplaceAllString(p.env[fmt.Sprint(k)], natsPassword)
		}
		if command, ok := at(service, "command").([]any); ok {
			for _, c := range command {
				p.args = append(p.args, fmt.Sprint(c))
			}
		}
		return p
	}
	for i := range 3 {
		s.nats = append(s.nats, read(fmt.Sprintf("nats-%d", i+1)))
		s.nats[i].args = nil // --config
		node := read(fmt.Sprintf("parley-%d", i+1))
		node.args = []string{"serve"} // the image's own
		s.nodes = append(s.nodes, node)
	}
	s.create = read("create")
}

// makeSecrets writes the secret that the first lines of cluster/kubernetes.yaml make, as the
// files that pods have of it.
func (s *site) makeSecrets() {
	s.t.Helper()
	s.secrets = s.t.TempDir()
	urls := regexp.MustCompile(`--from-literal=cluster-nats="([^"]*)"`).FindSubmatch(deployFile(s.t, "cluster/kubernetes.yaml"))
	if urls == nil {
		s.t.Fatal("the first lines of cluster/kubernetes.yaml do not make the secret cluster-nats")
	}
	for name, text := range map[string]string{"master-key": s.key, "cluster-nats": s.names.Replace(strings.ReplaceAll(string(urls[1]), "$password", natsPassword))} {
		if err := os.WriteFile(filepath.Join(s.secrets, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// kubernetesSite reads cluster/kubernetes.yaml.
func kubernetesSite(t *testing.T, s *site) {
	m := manifests(t, "cluster/kubernetes.yaml")
	s.conf = at(m["ConfigMap parley-nats"], "data", "nats.conf").(string)
	read := func(what, name, service string) *pod {
		p := &pod{name: name, env: map[string]string{}}
		if service != "" {
			p.name = name + "." + service
		}
		box := at(m[what], "spec", "template", "spec", "containers", 0)
		list, _ := at(box, "env").([]any)
		for _, e := range list {
			value, _ := at(e, "value").(string)
			switch {
			case at(e, "valueFrom", "fieldRef", "fieldPath") == "metadata.name":
				value = name
			case at(e, "valueFrom", "secretKeyRef", "key") == "nats-password":
				value = natsPassword
			}
			p.env[at(e, "name").(string)] = strings.NewReplacer("$(POD_NAME)", name, "$(NATS_PASSWORD)", natsPassword).Replace(value)
		}
		args, _ := at(box, "args").([]any)
		for _, a := range args {
			p.args = append(p.args, fmt.Sprint(a))
		}
		return p
	}
	for i := range 3 {
		s.nats = append(s.nats, read("StatefulSet parley-nats", fmt.Sprintf("parley-nats-%d", i), "parley-nats"))
		node := read("StatefulSet parley", fmt.Sprintf("parley-%d", i), "parley-nodes")
		if node.args == nil {
			node.args = []string{"serve"}
		}
		s.nodes = append(s.nodes, node)
	}
	s.create = read("Job parley-cluster-create", "create", "")
}

// start starts a pod.
func (s *site) start(p *pod) {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), p.name)
	if p.dir != "" { // it is started again
		dir = p.dir
	}
	p.dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	program, args := os.Args[0], p.args
	env := map[string]string{reexec: "parley", "PARLEY_NO_ANALYTICS": "true"}
	if p.args == nil {
		conf := s.names.Replace(strings.NewReplacer("/data", dir, "/etc/nats-tls", s.certs, "0.0.0.0:6222", p.addr+":6222", "http: 8222", "http: "+p.addr+":8222").Replace(s.conf))
		file := filepath.Join(dir, "nats.conf")
		if err := os.WriteFile(file, []byte("listen: "+p.addr+":4222\n"+conf), 0o600); err != nil {
			s.t.Fatal(err)
		}
		program, args = s.server, []string{"--config", file}
	} else {
		maps.Copy(env, imageEnv(s.t))
	}
	maps.Copy(env, p.env)
	p.cmd = exec.Command(program, args...)
	places := strings.NewReplacer("/var/lib/parley", dir, "/usr/lib/parley", dir, "/etc/nats-tls", s.certs, "/etc/parley/secrets", s.secrets, "0.0.0.0:7700", p.addr+":7700")
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	for name, value := range env {
		p.cmd.Env = append(p.cmd.Env, name+"="+s.names.Replace(places.Replace(value)))
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// end sends a signal and waits for the end.
func (p *pod) end(sig os.Signal) error {
	if p.cmd == nil {
		return nil
	}
	_ = p.cmd.Process.Signal(sig) // it may have ended
	err := p.cmd.Wait()
	p.cmd = nil
	return err
}

func (s *site) wait(what string, done func() bool) {
	s.t.Helper()
	if err := new(fleet).await(s.t.Context(), what, done); err != nil {
		for _, p := range slices.Concat(s.nats, s.nodes, []*pod{s.create}) {
			b, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			s.t.Logf("%s said last:\n%s", p.name, b[max(0, len(b)-2000):])
		}
		s.t.Fatal(err)
	}
}

// certifyServers makes a certificate for the addresses of servers, and returns its folder, as
// openssl on the page about production makes it for names.
func certifyServers(t *testing.T, servers []*pod) (dir string) {
	dir = t.TempDir()
	var names []string
	for _, p := range servers {
		names = append(names, "IP:"+p.addr)
	}
	for _, args := range [][]string{
		{"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt"},
		{
			"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=nats", "-CA", "ca.crt", "-CAkey", "ca.key",
			"-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth,clientAuth", "-addext", "subjectAltName=" + strings.Join(names, ","), "-keyout", "tls.key", "-out", "tls.crt",
		},
	} {
		cmd := exec.CommandContext(t.Context(), "openssl", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("openssl: %v\n%s", err, out)
		}
	}
	return dir
}

// TestDeployClusterRuns starts what the files of a cluster say as processes of this
// machine, with their configuration, and wants a cluster that survives its leader.
func TestDeployClusterRuns(t *testing.T) {
	t.Parallel()
	if os.Getenv("LONG") == "" {
		t.Skip("builds a server of NATS and runs six processes, twice: LONG=1 runs it")
	}
	server, err := findNATS(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for network, read := range map[int]func(*testing.T, *site){41: composeSite, 42: kubernetesSite} {
		t.Run(map[int]string{41: "compose.yaml", 42: "kubernetes.yaml"}[network], func(t *testing.T) {
			s := &site{t: t, key: "a master key of 26 bytes..", server: server}
			read(t, s)
			var names []string
			for i, p := range slices.Concat(s.nats, s.nodes) {
				p.addr = fmt.Sprintf("127.0.%d.%d", network, 10+i)
				names = append(names, p.name+":", p.addr+":")
			}
			s.names = strings.NewReplacer(names...)
			s.certs = certifyServers(t, s.nats)
			s.makeSecrets()
			t.Cleanup(func() {
				for _, p := range slices.Concat(s.nodes, s.nats) {
					_ = p.end(syscall.SIGKILL)
				}
			})
			for _, p := range s.nats {
				s.start(p)
			}
			s.wait("the log is made", func() bool { s.start(s.create); return s.create.cmd.Wait() == nil })
			for _, p := range s.nodes {
				s.start(p)
			}
			client := func(i int) *cmdutil.Client {
				return &cmdutil.Client{URL: "http://" + s.nodes[i].addr + ":7700", Key: s.key}
			}
			call := func(i int, method, path string, body, into any) error {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				return client(i).Call(ctx, method, path, body, into)
			}
			write := func(i, id int) {
				s.wait(fmt.Sprintf("node %d takes a write", i), func() bool {
					return call(i, http.MethodPost, "/indexes/a/documents?primaryKey=id", []map[string]any{{"id": id, "title": "word"}}, new(any)) == nil
				})
			}
			finds := func(i, n int) {
				s.wait(fmt.Sprintf("node %d finds %d documents", i, n), func() bool {
					var found struct{ Hits []any }
					return call(i, http.MethodPost, "/indexes/a/search", map[string]any{"q": "word"}, &found) == nil && len(found.Hits) == n
				})
			}
			for i := range s.nodes {
				s.wait(fmt.Sprintf("node %d is ready", i), func() bool { return call(i, http.MethodGet, "/ready", nil, new(any)) == nil })
				write(i, i)
			}
			s.wait("a snapshot is kept", func() bool { // in a store, which the user of NATS may use
				return call(0, http.MethodPost, "/cluster/snapshot", nil, new(any)) == nil
			})
			leader := -1
			for i := range s.nodes {
				finds(i, 3)
				var st httpapi.ClusterBody
				if call(i, http.MethodGet, "/cluster", nil, &st) == nil && st.Node.Role == "leader" {
					leader = i
				}
			}
			if leader < 0 {
				t.Fatal("no node leads")
			}
			_ = s.nodes[leader].end(syscall.SIGKILL)
			other := (leader + 1) % 3
			finds(other, 3)
			write(other, 4)
			s.start(s.nodes[leader])
			for i := range s.nodes {
				finds(i, 4)
			}
			for _, p := range slices.Concat(s.nodes, s.nats) {
				if err := p.end(syscall.SIGTERM); err != nil {
					t.Errorf("%s: %v, want it to end well", p.name, err)
				}
			}
		})
	}
}
