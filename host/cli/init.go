package cli

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A foundation is what `parley init` writes into a folder.
type foundation struct {
	dir, exe            string // absolute
	httpAddr, publicURL string
	key                 string // the master key
}

func initCommand() *cobra.Command {
	var b foundation
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Make a folder with what a service of your own needs",
		Long: "Make the folder DIR with a configuration for production, a new master key in it, pinned plugins and, on Linux, a systemd\n" +
			"unit and a compose file for this very program. Everything that the service writes is in DIR. The next commands are printed.",
		Example: "  parley init ~/parley\n" +
			"  parley init ~/parley --public-url https://ask.example.org",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if b.dir, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			if b.exe, err = os.Executable(); err != nil {
				return err
			}
			if isOfGoRun(b.exe) {
				return errors.New("this is a program of `go run`, which is gone when it has ended: install one by `go install ./cmd/parley`, and run that")
			}
			for _, path := range []string{b.dir, b.exe} {
				if runtime.GOOS == "linux" && strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'%$\:,#[]{}`, r) }) {
					return cmdutil.UsageError{Err: fmt.Errorf("%q has a space or a sign that a systemd unit or a compose file would read otherwise: name another folder", path)}
				}
			}
			if entries, err := os.ReadDir(b.dir); err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s holds files already, or is not a folder: name another", b.dir)
			}
			random := make([]byte, 24)
			_, _ = rand.Read(random) // it never fails
			b.key = base64.RawURLEncoding.EncodeToString(random)
			if err := b.check(); err != nil {
				return err
			}
			return b.make(cmd)
		},
	}
	cmd.Flags().StringVar(&b.httpAddr, "http-addr", "127.0.0.1:7700", "address and port to listen on")
	cmd.Flags().StringVar(&b.publicURL, "public-url", "", "where clients reach the service, such as https://ask.example.org behind a proxy")
	return cmdutil.JSONFlag(cmd)
}

// isOfGoRun reports whether exe is a program that `go run` removes.
func isOfGoRun(exe string) bool {
	dir := filepath.Dir(exe)
	return filepath.Base(dir) == "exe" && strings.HasPrefix(filepath.Base(filepath.Dir(filepath.Dir(dir))), "go-build")
}

// config is the text of config.toml.
func (b foundation) config() string {
	public := "# public_url = \"https://ask.example.org\"\n"
	if b.publicURL != "" {
		public = fmt.Sprintf("public_url = %q\n", b.publicURL)
	}
	return fmt.Sprintf(`# What parley serves with. "parley config explain --config-file-path FILE" prints every option with its meaning.
env = "production"
# It may do everything, and seals the secrets in the data: keep a copy apart from the backups.
master_key = %q

# Beyond this machine: TLS here or in a proxy.
http_addr = %q

# Where clients reach the service, behind a proxy. The name is then served, too.
%s
# The page for people at /console/, which asks for a key.
# console = "on"

# A model server at a private address, such as Ollama on this machine, is asked only where this allows it.
# allow_private_networks = "127.0.0.1"

db_path = %q
dump_dir = %q
snapshot_dir = %q
plugin_dir = %q
plugin_cache_dir = %q
`, b.key, b.httpAddr, public, b.in("data"), b.in("dumps"), b.in("snapshots"), b.in("plugins"), b.in("cache"))
}

func (b foundation) in(name string) string { return filepath.Join(b.dir, name) }

// check makes sure that a host would take the configuration.
func (b foundation) check() error {
	flags := map[string]string{"env": "production", "master-key": b.key, "http-addr": b.httpAddr}
	if b.publicURL != "" {
		flags["public-url"] = b.publicURL
	}
	_, _, err := config.Load(config.Sources{Flags: flags})
	if err != nil {
		return cmdutil.UsageError{Err: err}
	}
	return nil
}

// unit is the systemd unit of packages, for this program, this user and this folder.
func (b foundation) unit(who *user.User) string {
	replaced := map[string]string{
		"ExecStart=":          "ExecStart=" + b.exe + " serve --config-file-path " + b.in("config.toml"),
		"User=":               "User=" + who.Username,
		"Group=":              "",
		"StateDirectory=":     "",
		"StateDirectoryMode=": "",
		"CacheDirectory=":     "",
		"CacheDirectoryMode=": "",
		"Environment=":        "",
		"RequiresMountsFor=":  "RequiresMountsFor=" + b.dir,
		"WorkingDirectory=":   "WorkingDirectory=" + b.dir + "\nReadWritePaths=" + b.dir,
		"ProtectHome=":        "ProtectHome=read-only",
		"PrivateTmp=":         "",
	}
	var out strings.Builder
	for line := range strings.Lines(parley.Unit) {
		name, _, _ := strings.Cut(line, "=")
		with, ok := replaced[name+"="]
		switch {
		case !ok:
			out.WriteString(line)
		case with != "":
			out.WriteString(with + "\n")
		}
	}
	return out.String()
}

// compose is a compose file that runs this program, as the unit does, in a container of
// its own: an upgrade of the program is one of the container, too.
func (b foundation) compose(who *user.User) string {
	at, port, _ := net.SplitHostPort(b.httpAddr) // check took it
	publish := port + ":7700"
	switch {
	case at == "localhost":
		publish = "127.0.0.1:" + publish
	case strings.Contains(at, ":"):
		publish = "[" + at + "]:" + publish
	case at != "":
		publish = at + ":" + publish
	}
	return fmt.Sprintf(`# docker compose -f %[3]s/compose.yaml up --detach
name: parley
services:
  parley:
    # It gives the C library that Go programs may need: the program is the one of this machine.
    image: debian:12-slim
    user: "%[1]s"
    entrypoint: [%[2]s, serve, --config-file-path, %[3]s/config.toml]
    environment:
      PARLEY_HTTP_ADDR: 0.0.0.0:7700
    ports: ["%[4]s"]
    volumes:
      - %[2]s:%[2]s:ro
      - %[3]s:%[3]s
    healthcheck:
      test: [CMD, %[2]s, health]
    restart: unless-stopped
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    # Streams under way get shutdown_grace (10 s) to end.
    stop_grace_period: 30s
`, who.Uid+":"+who.Gid, b.exe, b.dir, publish)
}

// make writes the folder, once the plugins are there.
func (b foundation) make(cmd *cobra.Command) (err error) {
	carried, err := carriedPlugins()
	if err != nil {
		return err
	}
	modules := map[string][]byte{} // by file name
	for _, p := range carried {
		module, err := p.module(cmd.Context(), cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		modules[p.file()] = module
	}
	who, err := user.Current()
	if err != nil {
		return fmt.Errorf("find who runs the service: %w", err)
	}
	_, absent := os.Stat(b.dir)
	defer func() {
		if err != nil {
			b.remove(absent != nil)
		}
	}()
	if err := os.MkdirAll(b.in("plugins"), 0o700); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	if err := os.WriteFile(b.in("config.toml"), []byte(b.config()), 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	unit := ""
	if runtime.GOOS == "linux" {
		unit = b.in("parley.service")
		if err := os.WriteFile(unit, []byte(b.unit(who)), 0o644); err != nil {
			return fmt.Errorf("write the unit: %w", err)
		}
		if err := os.WriteFile(b.in("compose.yaml"), []byte(b.compose(who)), 0o644); err != nil {
			return fmt.Errorf("write the compose file: %w", err)
		}
	}
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"plugin-dir": b.in("plugins")}, Only: []string{"plugin-dir"}})
	if err != nil {
		return err
	}
	d := host.OpenInstaller(c, host.Options{Compiler: cmdutil.CompilerArgs()})
	bar := cmdutil.NewBar(cmd.ErrOrStderr())
	defer bar.End()
	for i, p := range carried {
		bar.Show("trying and pinning plugins", int64(i), int64(len(carried)))
		file := filepath.Join(b.in("plugins"), p.file())
		if err := os.WriteFile(file, modules[p.file()], 0o644); err != nil {
			return fmt.Errorf("write plugin: %w", err)
		}
		if _, err := d.InstallFrom(cmd.Context(), file, deploy.InstallOptions{}); err != nil {
			return err
		}
	}
	bar.End()
	made := map[string]string{"dir": b.dir, "config": b.in("config.toml"), "unit": unit, "pinned": strconv.Itoa(len(carried))}
	return cmdutil.PrintResult(cmd, made, func(out io.Writer) error { return b.next(out, unit) })
}

// remove removes what make writes into the folder, and the folder where whole says so and
// nothing else is in it.
func (b foundation) remove(whole bool) {
	for _, name := range []string{"plugins", "config.toml", "parley.service", "compose.yaml"} {
		_ = os.RemoveAll(b.in(name))
	}
	if whole {
		_ = os.Remove(b.dir)
	}
}

// next prints what to do now.
func (b foundation) next(out io.Writer, unit string) error {
	config := b.in("config.toml")
	start := b.exe + " serve --config-file-path " + config
	lines := []string{"now:           " + start}
	if unit != "" {
		lines = append(lines, "at each boot:  sudo systemctl enable --now "+unit,
			"or:            docker compose -f "+b.in("compose.yaml")+" up --detach")
	}
	lines = append(lines, "your files:    parley documents import PATH --index notes --config-file-path "+config)
	_, err := fmt.Fprintf(out, "%s: a configuration with a new master key, and pinned plugins\n\n%s\n", b.dir, strings.Join(lines, "\n"))
	return err
}
