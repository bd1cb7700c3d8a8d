package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginPushCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push FILE REFERENCE",
		Short: "Publish a plugin in a registry",
		Long: "Publish a plugin in an OCI registry, as oci://HOST/REPOSITORY[:TAG], with its signature if FILE.minisig is next to it. Without a tag\n" +
			"it gets that of its version, which stands for these bytes from then on: a new build needs a new version. FILE may also be a URL,\n" +
			"or a reference such as that of what `parley plugin save` wrote.\n" +
			"The login is docker's (`docker login HOST`): from config.json in the folder that DOCKER_CONFIG names, by default ~/.docker, or from\n" +
			"the credential helper that it names. The same module has the same digest wherever it is pushed; SOURCE_DATE_EPOCH says which time\n" +
			"of creation is noted, 1970 where it is not set. Registries are asked over TLS, but for those on this machine, and without a proxy.",
		Example: "  minisign -Sm plugins/dist/openai-1.1.0.wasm\n" +
			"  parley plugin push plugins/dist/openai-1.1.0.wasm oci://registry.example.com/parley/openai",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return publish(cmd, args, (*deploy.Installer).Push)
		},
	}
	return cmdutil.JSONFlag(addDeployment(cmd, optionPrivate))
}

func pluginSaveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "save NAME[@VERSION] DIR",
		Short: "Write a plugin to a folder, to bring it to a site without a network",
		Long: "Write a version in the plugin directory, by default the one in use, with its signature to DIR, an OCI image layout. DIR may hold many:\n" +
			"each has the tag NAME-VERSION. At the other site `parley plugin install oci-layout:///media/plugins:NAME-VERSION` takes it from\n" +
			"there, and `parley plugin push oci-layout:///media/plugins:NAME-VERSION oci://…` puts it into a registry.",
		Example: "  parley plugin save openai /media/plugins\n" +
			"  parley plugin save openai@1.0.0 /media/plugins",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return publish(cmd, args, (*deploy.Installer).Save)
		},
	}
	return cmdutil.JSONFlag(addDeployment(cmd))
}

// publish has put bring the plugin that args begin with to where they end.
func publish(cmd *cobra.Command, args []string, put func(d *deploy.Installer, ctx context.Context, from, to string, created time.Time) (*deploy.Published, error)) error {
	created, err := sourceDate()
	if err != nil {
		return err
	}
	d, err := openDeployment(cmd)
	if err != nil {
		return err
	}
	p, err := put(d, cmd.Context(), args[0], args[1], created)
	if err != nil {
		return err
	}
	return cmdutil.PrintResult(cmd, p, func(w io.Writer) error {
		signed := "no"
		if p.Signed {
			signed = "yes"
		}
		_, err := fmt.Fprintf(w, "plugin   %s %s\nsha256   %s\nsigned   %s\nat       %s\n", p.Name, p.Version, p.SHA256, signed, p.Reference)
		return err
	})
}

// sourceDate is when what is published was made, by the convention of builds that
// can be repeated; zero where nobody says so.
func sourceDate() (time.Time, error) {
	s := os.Getenv("SOURCE_DATE_EPOCH")
	if s == "" {
		return time.Time{}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return time.Time{}, fmt.Errorf("the environment's SOURCE_DATE_EPOCH is %.40q: it must be a number of seconds since 1970", s)
	}
	return time.Unix(n, 0), nil
}
