package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginInstallCommand() *cobra.Command {
	var wishes deploy.InstallOptions
	var wait bool
	cmd := &cobra.Command{
		Use:   "install FILE-or-URL[@SHA256] | REFERENCE | NAME[@CONSTRAINT]",
		Short: "Copy a plugin into the plugin directory and pin it",
		Long: "Copy a plugin into the plugin directory as <name>-<version>.wasm and write its hash and its grants to plugins.lock.\n" +
			"It is compiled and started once before, and nothing is kept of one that cannot run. It comes in use where it is the\n" +
			"first of its name, or newer than the version in use and allowed by its constraint; otherwise it is pinned next to that one.\n" +
			"A version that asks for more than the one in use is kept only with --grant, or your confirmation at the terminal. One whose source the plugin\n" +
			"of another name answers takes its place only with --take-source, or a yes; --beside leaves the source where it is.\n" +
			"Where plugins lie without a plugins.lock, which may be lost, nothing is installed but with --new-lock.\n" +
			"A running host notices the change; --wait returns once it serves the version, or says why it does not.\n" +
			"A reference is oci://HOST/REPOSITORY[:TAG][@sha256:DIGEST], with the login of docker's configuration (see `parley plugin push`), or\n" +
			"oci-layout://FOLDER:TAG[@sha256:DIGEST]. The digest is that of the manifest; without tag and digest the newest version is taken.\n" +
			"NAME is looked up in --plugin-registry, the newest version that the constraint allows; where that is not set, it is one of\n" +
			"those that are shipped, which this program has in it or builds with Go (`parley plugin list --available`). The constraint is kept in\n" +
			"plugins.lock: `parley plugin update` stays within it, as after `parley plugin pin`.\n" +
			"Nothing is downloaded through a proxy, and all by the rule that the host's own requests obey: private addresses as\n" +
			"--allow-private-networks says, link-local and metadata addresses never.",
		Example: "  parley plugin install plugins/dist/openai-1.0.0.wasm\n" +
			"  parley plugin install https://plugins.example.com/openai-1.1.0.wasm@5f1c…\n" +
			"  parley plugin install oci://registry.example.com/parley/openai:1.1.0\n" +
			"  parley plugin install openai@~1.1 --plugin-registry registry.example.com/parley",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			source, release, err := resolveName(cmd, d, args[0])
			defer release()
			if err != nil {
				return err
			}
			if source != args[0] {
				wishes.Reference = args[0]
			}
			var done *deploy.Change
			err = askToAccept(cmd, wishes, func(o deploy.InstallOptions) (_ *deploy.Change, err error) {
				done, err = d.InstallFrom(cmd.Context(), source, o)
				return done, err
			})
			if err != nil || !wait {
				return err
			}
			return awaitPlugin(cmd, done)
		},
	}
	cmd.Flags().BoolVar(&wishes.Grant, "grant", false, grantUsage)
	cmd.Flags().BoolVar(&wishes.TakeSource, "take-source", false, takeUsage)
	cmd.Flags().BoolVar(&wishes.Beside, "beside", false, "pin it beside what is in use, for workspaces that name it or its version")
	cmd.Flags().BoolVar(&wishes.NewLock, "new-lock", false, "begin a plugins.lock where there is none and other plugins lie in the directory: it pins none of those")
	cmd.Flags().BoolVar(&wait, "wait", false, "return when the running host serves the version, or say why it does not")
	cmd.Flags().String("http-addr", "", "with --wait: address of the running host (default that of the configuration)")
	cmd.Flags().String("master-key", "", "with --wait: the running host's master key")
	cmd.Flags().String(cmdutil.FlagURL, "", "with --wait: address of the host, such as https://search.example.com")
	return cmdutil.JSONFlag(addDeployment(cmd, optionPrivate, optionRegistry))
}

// resolveName turns the name of a plugin into where it is: in the registry of the
// configuration or, where none is set, among the plugins that are shipped. What is a
// file, or no name, it returns as it is. release removes what was made for it.
func resolveName(cmd *cobra.Command, d *deploy.Installer, source string) (found string, release func(), err error) {
	release = func() {}
	if _, err := os.Stat(source); err == nil || !deploy.IsReference(source) {
		return source, release, nil
	}
	if d.Dir.Registry != "" {
		found, err = d.Dir.Locate(cmd.Context(), source)
		return found, release, err
	}
	plugins, err := shippedPlugins("*")
	if err != nil {
		return "", release, err
	}
	var names []string
	for _, p := range plugins {
		if allowed, err := deploy.Meets(p.Name, p.Version, source); err != nil || !allowed {
			names = append(names, p.Name)
			continue
		}
		module, err := p.module(cmd.Context(), cmd.ErrOrStderr())
		if err != nil {
			return "", release, err
		}
		dir, err := os.MkdirTemp("", "parley-plugin-")
		if err != nil {
			return "", release, err
		}
		file := filepath.Join(dir, p.file())
		return file, func() { _ = os.RemoveAll(dir) }, os.WriteFile(file, module, 0o600)
	}
	slices.Sort(names)
	return "", release, fmt.Errorf("there is no plugin %s, or not in that version; available are: %s; give a file, a URL or oci://…, or name a registry by --plugin-registry", source, strings.Join(names, ", "))
}

// awaitPlugin has the running host take up what its directory says, and returns once
// the version that c tells of runs there.
func awaitPlugin(cmd *cobra.Command, c *deploy.Change) error {
	var reloaded struct {
		Refused []struct{ Name, Version, Error string }
	}
	if err := cmdutil.CallHost(cmd, http.MethodPost, "/plugins/reload", nil, &reloaded); err != nil {
		return fmt.Errorf("plugin %s %s is installed, and whether a host serves it is not known: %w", c.Name, c.Version, err)
	}
	for _, r := range reloaded.Refused {
		if r.Name == c.Name && r.Version == c.Version {
			return fmt.Errorf("plugin %s %s is installed, and the host refuses it: %s", c.Name, c.Version, r.Error)
		}
	}
	var running struct {
		Results []struct{ Name, Version, SHA256, State string }
	}
	if err := cmdutil.AskHost(cmd, "/plugins", &running); err != nil {
		return err
	}
	for _, p := range running.Results {
		if p.Name == c.Name && p.Version == c.Version && p.SHA256 == c.SHA256 && p.State == "ready" {
			if cmdutil.WantsJSON(cmd) {
				return nil // the change is the result, and the exit code says that it is served
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "serves   %s %s\n", p.Name, p.Version)
			return err
		}
	}
	return fmt.Errorf("plugin %s %s is installed, and the host does not run it: does it have the same --plugin-dir?", c.Name, c.Version)
}
