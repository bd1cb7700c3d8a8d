package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/pkg/browser"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/examples/quickstart"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// What quickstart makes.
const (
	demoWorkspace = "demo"
	demoIndex     = "movies"
	docsIndex     = "docs" // the service's own documentation, and the workspace that is asked about it
	demoSource    = "extract"
)

// A demo is what the operator asked quickstart for.
type demo struct {
	source, baseURL, model, apiKey string
	path                           string // files to ask about; empty: the samples
	open                           bool   // the console in a browser
	nodes                          int    // of a cluster; 1: a host alone
}

func quickstartCommand() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:   "quickstart [PATH]",
		Short: "Answer a question over sample documents or your own files, with no key and no model",
		Long: "Build the plugin that is needed, load the files of PATH (a folder, an archive or a file) or else 1,200 documents\n" +
			"about films and this program's own documentation, make the workspace \"demo\" and serve it. Without --source the\n" +
			"provider plugin \"extract\" answers: it quotes the best passages and uses no model. With --nodes 3 three processes\n" +
			"serve as one cluster: end one of them, and the others go on.",
		Example: "  parley quickstart\n" +
			"  parley quickstart ~/notes\n" +
			"  parley quickstart --nodes 3\n" +
			"  parley quickstart --source vLlm --base-url http://127.0.0.1:8000/v1 --model my-model\n" +
			"  parley quickstart --source openAi --api-key-file key.txt --model gpt-4.1-mini",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				d.path = args[0]
				if _, err := os.Stat(d.path); err != nil {
					return cmdutil.UsageError{Err: fmt.Errorf("open the files to ask about: %w", err)}
				}
			}
			if file, _ := cmd.Flags().GetString("api-key-file"); file != "" {
				b, err := os.ReadFile(file)
				if err != nil {
					return cmdutil.UsageError{Err: fmt.Errorf("read API key: %w", err)}
				}
				if d.apiKey = strings.TrimSpace(string(b)); d.apiKey == "" {
					return cmdutil.UsageError{Err: fmt.Errorf("--api-key-file %s holds no key", file)}
				}
			}
			if d.model == "" {
				return cmdutil.UsageError{Err: errors.New("--model is empty: name the model that the printed command is to ask for")}
			}
			c, _, err := cmdutil.LoadConfig(cmd, map[string]string{"db-path": cmdutil.QuickstartData(), "plugin-lock": config.LockOff, "log-level": "warn"})
			if err != nil {
				return err
			}
			if err := d.checkNodes(c); err != nil {
				return cmdutil.UsageError{Err: err}
			}
			if err := d.checkAlone(cmd.Context(), c); err != nil {
				return err
			}
			return d.run(cmd, c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.source, "source", demoSource, "source that answers: extract, openAi, ollama or another one of the shipped plugins, or one that a plugin in --plugin-dir adds")
	f.StringVar(&d.baseURL, "base-url", "", "base URL of the provider, where the source needs one")
	f.StringVar(&d.model, "model", "any", "model that the printed command asks for")
	f.BoolVar(&d.open, "open", false, "open the console in a browser")
	f.IntVar(&d.nodes, "nodes", 1, "hosts to run as one cluster on this machine: 1, 3 or 5; more than one need nats-server in PATH, or Go to build it with")
	f.String("api-key-file", "", "file that holds the provider's API key")
	cmdutil.AddOptions(cmd)
	for name, value := range map[string]string{"db-path": cmdutil.QuickstartData(), "plugin-lock": config.LockOff, "log-level": "warn"} {
		f.Lookup(name).DefValue = value
	}
	cmd.SetHelpFunc(helpShortly)
	return cmd
}

// quickstartOptions are those that the help of quickstart shows: its own, and of the
// host's the few that a first hour needs. `--help all` shows the others, too.
var quickstartOptions = []string{"source", "base-url", "model", "api-key-file", "open", "nodes", "http-addr", "db-path", "plugin-dir", "no-analytics"}

func helpShortly(cmd *cobra.Command, args []string) {
	all := slices.Contains(args, "all")
	if !all {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(quickstartOptions, f.Name) })
	}
	cmd.Root().HelpFunc()(cmd, args)
	if !all {
		fmt.Fprintf(cmd.OutOrStdout(), "\n`%s --help all` shows every option of the service.\n", cmd.CommandPath())
	}
}

// run seeds a host, prints how to ask it and serves until the command's context ends.
func (d demo) run(cmd *cobra.Command, c config.Config) error {
	ctx, stdout, progress := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	say := func(format string, args ...any) { fmt.Fprintf(progress, "parley: "+format+"\n", args...) }
	modules, err := embeddedModules()
	if err != nil {
		return fmt.Errorf("read embedded plugins: %w", err)
	}
	providers, err := providerManifests(c, modules)
	if err != nil {
		return err
	}
	shipped, err := shippedPlugins("provider")
	if err != nil {
		return err
	}
	for _, p := range shipped {
		providers = append(providers, p.Manifest)
	}
	if err := d.check(ctx, providers); err != nil { // before anything is built or written
		return err
	}
	var built []byte // nil: the plugin directory has it, where no module does
	if !slices.ContainsFunc(modules, func(b []byte) bool { return sourceOf(b) == d.source }) {
		if built, err = findModule(ctx, d.source, progress); err != nil {
			return err
		}
		if built != nil {
			modules = append(modules, built)
		}
	}
	if c.PluginLock == config.LockOff {
		say("plugins run as they are, without plugins.lock: for a deployment, see `parley serve --help`")
	}
	if d.nodes > 1 {
		return d.runNodes(cmd, c, built)
	}
	logs, err := logs.New(progress, c.LogsMode, c.LogLevel)
	if err != nil {
		return err
	}
	h, err := host.Open(ctx, c, hostOptions(logs, modules))
	if _, other := errors.AsType[*store.KeyError](err); other {
		return fmt.Errorf("the data of an earlier quickstart has another master key: give that one by %sMASTER_KEY, delete %s to start over, or name another --db-path", config.EnvPrefix, c.DBPath)
	}
	if err != nil {
		return err
	}
	if d.path != "" {
		return d.serveFiles(ctx, c, h, modules, stdout, say)
	}
	say("loading the sample documents")
	seeded, err := d.seedSamples(ctx, h)
	if err != nil {
		return fmt.Errorf("load the sample: %w", closeAfter(h, err))
	}
	d.showConsole(c, h, say)
	say("source %s; %d documents in index %q; workspace %q; http://%s", d.source, seeded, demoIndex, demoWorkspace, h.Addr())
	say("workspace %q answers about Parley itself, from its documentation", docsIndex)
	fmt.Fprintf(stdout, "%s\n", d.command(h.Addr().String(), keyPlace(c), quickstart.Question))
	d.sayServing(c, say)
	carryCollectors(ctx, h, modules, nil, say)
	ctx, cancel := context.WithCancel(ctx)
	tried := d.tryProvider(ctx, c, h, say)
	err = serveHost(ctx, h)
	cancel()
	<-tried
	sayStopped(c, err, say)
	return err
}

// sayStopped says goodbye.
func sayStopped(c config.Config, err error, say func(format string, args ...any)) {
	if err == nil {
		say("stopped; the data stays in %s: delete that folder to start over", c.DBPath)
	}
}

// tryProvider asks the provider for one word, through h's own API, and tells what
// came of it: a wrong key, address or model shows at once. The channel is closed
// when it has told, or when ctx ended.
func (d demo) tryProvider(ctx context.Context, c config.Config, h *host.Host, say func(format string, args ...any)) <-chan struct{} {
	told := make(chan struct{})
	if d.source == demoSource || c.TLS.Cert != "" { // there is no provider; or this program may not trust its certificate
		close(told)
		return told
	}
	go func() {
		defer close(told)
		self := &cmdutil.Client{URL: "http://" + h.Addr().String(), Key: c.MasterKey.Reveal()}
		var result struct {
			OK       bool
			Message  string
			Duration int64 `json:"processingTimeMs"`
		}
		err := self.Call(ctx, http.MethodPost, "/chats/"+demoWorkspace+"/test", map[string]string{"model": d.model}, &result)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			say("the provider was not tried: %v", err)
		case !result.OK:
			say("the provider was asked for a word, and the workspace does not work yet: %s", cmdutil.StripControls(result.Message))
		default:
			say("the provider was asked for a word, and answered within %d ms", result.Duration)
		}
	}()
	return told
}

// showConsole tells where the console is, and opens it if that was asked for.
func (d demo) showConsole(c config.Config, h *host.Host, say func(format string, args ...any)) {
	if c.Console != config.ConsoleOn {
		if d.open {
			say("--open does nothing with --console=off")
		}
		return
	}
	scheme := "http"
	if c.TLS.Cert != "" {
		scheme = "https"
	}
	url := fmt.Sprintf("%s://%s/console/", scheme, h.Addr())
	say("open %s in a browser", url)
	if d.open {
		browser.Stdout, browser.Stderr = io.Discard, io.Discard
		go func() { // one that runs in a terminal would stay
			if err := browser.OpenURL(url); err != nil {
				say("cannot start a browser: %v", err)
			}
		}()
	}
}

func (d demo) sayServing(c config.Config, say func(format string, args ...any)) {
	if !c.MasterKey.IsZero() {
		say("the command reads the key from %sMASTER_KEY, which the shell that runs it needs too", config.EnvPrefix)
	}
	say("serving until interrupted")
}

// closeAfter ends h after err.
func closeAfter(h *host.Host, err error) error {
	h.Close()
	return err
}

// settings is the PATCH that makes the workspace.
func (d demo) settings(indexes ...string) []byte {
	s := map[string]any{"source": d.source, "baseUrl": nil, "apiKey": nil, "indexUids": indexes}
	if d.baseURL != "" {
		s["baseUrl"] = d.baseURL
	}
	if d.apiKey != "" {
		s["apiKey"] = d.apiKey
	}
	if d.source != demoSource {
		// So that clients of /v1 find the workspace among the models.
		s["defaultModel"] = d.model
	}
	b, _ := json.Marshal(s) // strings and nulls
	return b
}

// keyPlace is where the shell finds the master key; "": there is none.
func keyPlace(c config.Config) string {
	if c.MasterKey.IsZero() {
		return ""
	}
	return "$" + config.EnvPrefix + "MASTER_KEY"
}

// command is a curl that works, from any folder. It never holds a key: where
// the host is locked, the shell takes it from key, see [keyPlace].
func (d demo) command(addr, key string, question []byte) string {
	question = bytes.TrimSpace(question)
	question = bytes.Replace(question, []byte(`"any"`), fmt.Appendf(nil, "%q", d.model), 1)
	quoted := strings.ReplaceAll(string(question), "'", `'\''`)
	authorization := ""
	if key != "" {
		authorization = fmt.Sprintf(`-H "authorization: Bearer %s" `, key)
	}
	return fmt.Sprintf("curl -N %s/chats/%s/chat/completions %s-H 'content-type: application/json' -d '%s'", addr, demoWorkspace, authorization, quoted)
}
