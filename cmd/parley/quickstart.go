package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	modulePath    = "github.com/parley-search/parley"
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
				d.apiKey = strings.TrimSpace(string(b))
			}
			c, _, err := loadConfig(cmd, map[string]string{"db-path": quickstartData(), "plugin-lock": host.LockOff, "log-level": "warn"})
			if err != nil {
				return err
			}
			return d.run(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.source, "source", demoSource, "source that answers: extract, openAi, azureOpenAi, mistral, gemini, vLlm, anthropic or one that a plugin in --plugin-dir adds")
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
	if !slices.ContainsFunc(modules, func(b []byte) bool { return sourceOf(b) == d.source }) {
		module, err := buildSource(ctx, d.source, progress)
		if err != nil {
			return err
		}
		if module == nil && d.source == demoSource {
			return fmt.Errorf("this binary carries no plugin and the working directory lies in no checkout of %s: run it in one, or build it by `just build`", modulePath)
		}
		if module != nil {
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

// sourceOf is the source that a module answers, empty for one that is no
// provider plugin.
func sourceOf(module []byte) string {
	report, err := host.InspectPlugin(module)
	if err != nil || report.Manifest == nil {
		return ""
	}
	return report.Manifest.Source
}

// buildSource compiles the plugin of source from the checkout. Without a
// checkout, or for a source that is not of ours, it returns nil: the plugin
// directory may hold it.
func buildSource(ctx context.Context, source string, progress io.Writer) ([]byte, error) {
	root := checkout()
	if root == "" {
		return nil, nil
	}
	manifests, err := filepath.Glob(filepath.Join(root, "plugins", "provider", "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range manifests {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		var m abi.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", name, err)
		}
		if m.Source != source {
			continue
		}
		file, err := host.BuildPlugin(ctx, filepath.Dir(name), filepath.Join(root, distDir), progress)
		if err != nil {
			return nil, err
		}
		return os.ReadFile(file)
	}
	return nil, nil
}

// checkout is the root of the checkout around the working directory, or "".
func checkout() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(b, []byte("module "+modulePath+"\n")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
