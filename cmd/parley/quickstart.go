package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/examples/quickstart"
	"github.com/parley-search/parley/host"
)

// What quickstart makes.
const (
	demoWorkspace = "demo"
	demoIndex     = "movies"
	demoSource    = "extract"
)

// A demo is what the operator asked quickstart for.
type demo struct {
	source, baseURL, model, apiKey string
}

func quickstartCommand() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Answer a question over sample documents, with no key and no model",
		Long: "Build the plugin that is needed, load 1,200 documents about films, make the workspace \"demo\" and serve it.\n" +
			"Without --source the provider plugin \"extract\" answers: it quotes the best passages and uses no model.",
		Example: "  parley quickstart\n" +
			"  parley quickstart --source vLlm --base-url http://127.0.0.1:8000/v1 --model my-model\n" +
			"  parley quickstart --source openAi --api-key-file key.txt --model gpt-4.1-mini",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file, _ := cmd.Flags().GetString("api-key-file"); file != "" {
				b, err := os.ReadFile(file)
				if err != nil {
					return usageError{fmt.Errorf("read API key: %w", err)}
				}
				if d.apiKey = strings.TrimSpace(string(b)); d.apiKey == "" {
					return usageError{fmt.Errorf("--api-key-file %s holds no key", file)}
				}
			}
			if d.model == "" {
				return usageError{errors.New("--model is empty: name the model that the printed command is to ask for")}
			}
			c, _, err := loadConfig(cmd, map[string]string{"db-path": quickstartData(), "plugin-lock": host.LockOff, "log-level": "warn"})
			if err != nil {
				return err
			}
			return d.run(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.source, "source", demoSource, "source that answers: extract, openAi, mistral, gemini, vLlm, anthropic or one that a plugin in --plugin-dir adds")
	f.StringVar(&d.baseURL, "base-url", "", "base URL of the provider, where the source needs one")
	f.StringVar(&d.model, "model", "any", "model that the printed command asks for")
	f.String("api-key-file", "", "file that holds the provider's API key")
	addOptions(cmd)
	for name, value := range map[string]string{"db-path": quickstartData(), "plugin-lock": host.LockOff, "log-level": "warn"} {
		f.Lookup(name).DefValue = value
	}
	return cmd
}

// quickstartData is where quickstart keeps its data: the compiled plugins in it
// make the second start quick.
func quickstartData() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "parley", "quickstart")
}

// run seeds a host, prints how to ask it and serves until ctx ends.
func (d demo) run(ctx context.Context, c host.Config, stdout, progress io.Writer) error {
	say := func(format string, args ...any) { fmt.Fprintf(progress, "parley: "+format+"\n", args...) }
	modules, err := embeddedModules()
	if err != nil {
		return fmt.Errorf("read embedded plugins: %w", err)
	}
	providers, err := host.ProviderManifests(c, modules)
	if err != nil {
		return err
	}
	carried := slices.ContainsFunc(modules, func(b []byte) bool { return sourceOf(b) == d.source })
	if !carried {
		_, manifests, err := checkoutProviders()
		if err != nil {
			return err
		}
		providers = append(providers, manifests...)
	}
	if err := d.check(ctx, providers); err != nil { // before anything is built or written
		return err
	}
	if !carried {
		module, err := buildSource(ctx, d.source, progress)
		if err != nil {
			return err
		}
		if module != nil { // else the plugin directory has it
			modules = append(modules, module)
		}
	}
	if c.PluginLock == host.LockOff {
		say("plugins run unpinned (plugin-lock=off): for a deployment, see plugins/README.md")
	}
	logs, err := host.OpenLogs(c, progress)
	if err != nil {
		return err
	}
	h, err := host.Open(ctx, c, hostOptions(logs, modules))
	if err != nil {
		return err
	}
	seeded, err := h.Seed(ctx, host.Seed{
		Workspace: demoWorkspace,
		Settings:  d.settings(),
		Index:     demoIndex,
		IndexSettings: []byte(`{"searchableAttributes":["title","director","genre","distributor","basis","rated","year"],` +
			`"filterableAttributes":["director","genre","year","rated","imdb","minutes"],` +
			`"chat":{"description":"Films up to 2012: title, director, genre, year, length, rating, distributor and IMDb rating."}}`),
		Documents: quickstart.Movies,
	})
	if err != nil {
		return fmt.Errorf("load the sample: %w", closed(h, err))
	}
	say("source %s; %d documents in index %q; workspace %q; http://%s", d.source, seeded, demoIndex, demoWorkspace, h.Addr())
	fmt.Fprintf(stdout, "%s\n", d.command(h.Addr(), !c.MasterKey.IsZero()))
	if !c.MasterKey.IsZero() {
		say("the command reads the key from %sMASTER_KEY, which the shell that runs it needs too", host.EnvPrefix)
	}
	say("serving until interrupted")
	return serveHost(ctx, h)
}

// check refuses arguments that make no workspace of which the printed command
// could ask something, where there are these providers.
func (d demo) check(ctx context.Context, providers []*abi.Manifest) error {
	i := slices.IndexFunc(providers, func(m *abi.Manifest) bool { return m.Source == d.source })
	if i < 0 && d.source == demoSource {
		return fmt.Errorf("this binary carries no plugin and the working directory lies in no checkout of %s: run it in one, or build it by `just build`", modulePath)
	}
	if i >= 0 {
		if err := d.checkRequired(providers[i]); err != nil {
			return usageError{err}
		}
	}
	if err := host.CheckSettings(ctx, demoWorkspace, d.settings(), providers); err != nil {
		return usageError{fmt.Errorf("--source, --base-url and --api-key-file make no workspace: %w", err)}
	}
	return nil
}

// checkRequired names what the provider requires and the arguments lack.
func (d demo) checkRequired(m *abi.Manifest) error {
	offered := map[string]struct{ flag, given string }{"baseUrl": {"--base-url", d.baseURL}, "apiKey": {"--api-key-file", d.apiKey}}
	var missing, beyond []string
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		o, ok := offered[name]
		switch s := m.Settings[name]; {
		case !s.Required || o.given != "":
		case !ok:
			beyond = append(beyond, name)
		default:
			missing = append(missing, fmt.Sprintf("%s (%s)", o.flag, strings.TrimSuffix(s.Description, ".")))
		}
	}
	switch {
	case beyond != nil:
		return fmt.Errorf("--source %s needs %s, for which quickstart has no options: run `parley serve` and set them by PATCH /chats/{uid}/settings", d.source, strings.Join(beyond, ", "))
	case missing != nil:
		return fmt.Errorf("--source %s needs %s", d.source, strings.Join(missing, ", "))
	}
	return nil
}

// closed ends h after err.
func closed(h *host.Host, err error) error {
	h.Close()
	return err
}

// settings is the PATCH that makes the workspace.
func (d demo) settings() []byte {
	s := map[string]any{"source": d.source, "baseUrl": nil, "apiKey": nil, "indexUids": []string{demoIndex}}
	if d.baseURL != "" {
		s["baseUrl"] = d.baseURL
	}
	if d.apiKey != "" {
		s["apiKey"] = d.apiKey
	}
	b, _ := json.Marshal(s) // strings and nulls
	return b
}

// command is a curl that works, from any folder. It never holds a key: where
// the host is locked, it takes the key from the environment.
func (d demo) command(addr net.Addr, locked bool) string {
	question := bytes.TrimSpace(quickstart.Question)
	question = bytes.Replace(question, []byte(`"any"`), fmt.Appendf(nil, "%q", d.model), 1)
	quoted := strings.ReplaceAll(string(question), "'", `'\''`)
	authorization := ""
	if locked {
		authorization = fmt.Sprintf(`-H "authorization: Bearer $%sMASTER_KEY" `, host.EnvPrefix)
	}
	return fmt.Sprintf("curl -N %s/chats/%s/chat/completions %s-H 'content-type: application/json' -d '%s'", addr, demoWorkspace, authorization, quoted)
}
