package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/setup/masterkey"
)

func keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Change the master key",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(keyRotateCommand())
	return cmd
}

func keyRotateCommand() *cobra.Command {
	var file string
	var lost, show bool
	cmd := &cobra.Command{
		Use:   "rotate-master",
		Short: "Seal the data directory under another master key, while no service runs on it",
		Long: "Seal the data directory (--db-path) under another master key, while no service runs on it. The present key is given as to\n" +
			"`parley serve` (" + cmdutil.KeyEnv + "); the new one is the first line of a file, - for the standard input.\n\n" +
			"API keys of workspaces, embedders and remotes, and headers of embedders, are opened with the old key and sealed under the new one. The data belongs to one\n" +
			"of both keys at any moment, also after a crash: a start with the other one is refused, and says so; run the command again then.\n\n" +
			"The values of this service's own API keys derive from the master key: all of them change, and tenant tokens that were signed with\n" +
			"them are void. Clients need the new ones: --show-keys prints them, GET /keys answers them.",
		Example: "  head -c 32 /dev/urandom | base64 > new.key\n  " + cmdutil.KeyEnv + "=… parley key rotate-master --db-path ./data --new-key-file new.key",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.LoadOnly(cmd, []string{"db-path", "master-key"})
			if err != nil {
				return err
			}
			key, err := firstLine(cmd, file)
			if err != nil {
				return err
			}
			r, err := masterkey.Rotate(cmd.Context(), c, key, lost)
			if err != nil {
				return err
			}
			if !show {
				for i := range r.APIKeys {
					r.APIKeys[i].Value = ""
				}
			}
			return cmdutil.PrintResult(cmd, r, func(out io.Writer) error { return printRotation(out, r) })
		},
	}
	cmdutil.AddOptions(cmdutil.JSONFlag(cmd))
	cmd.Flags().StringVar(&file, "new-key-file", "", "file whose first line is the new master key; -: standard input")
	cmd.Flags().BoolVar(&lost, "lost", false, "the present master key is lost: delete, and list, what cannot be opened")
	cmd.Flags().BoolVar(&show, "show-keys", false, "print the new values of the API keys")
	return cmd
}

// firstLine is the first line of a file, or of the standard input.
func firstLine(cmd *cobra.Command, file string) (string, error) {
	if file == "" {
		return "", cmdutil.UsageError{Err: errors.New("--new-key-file is missing: name the file whose first line is the new master key, or - for the standard input")}
	}
	var from io.Reader = cmd.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", cmdutil.UsageError{Err: fmt.Errorf("--new-key-file: %w", err)}
		}
		defer f.Close()
		from = f
	}
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read new master key: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func printRotation(out io.Writer, r *masterkey.Rotation) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if r.Before {
		fmt.Fprintf(w, "The data is sealed under the new master key (named %s) already: start with that one.\n", r.Key)
	} else {
		fmt.Fprintf(w, "%d secrets are sealed under the new master key (named %s): start with that one from now on.\n", len(r.Sealed), r.Key)
	}
	for _, what := range r.Sealed {
		fmt.Fprintf(w, "  sealed again: %s\n", what)
	}
	for _, what := range r.Dropped {
		fmt.Fprintf(w, "  dropped, set it again: %s\n", what)
	}
	if len(r.APIKeys) > 0 {
		fmt.Fprintln(w, "These API keys have other values than under the old master key, and tenant tokens signed with them are void:")
	}
	for _, k := range r.APIKeys {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", k.UID, k.Name, k.Value)
	}
	return w.Flush()
}
