package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

func documentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "documents",
		Short: "Put documents into a running service",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(documentsImportCommand())
	return cmd
}

// keyEnv is where a key is taken from that must not stand in a command line.
const keyEnv = host.EnvPrefix + "MASTER_KEY"

func documentsImportCommand() *cobra.Command {
	var in importer
	var format, delimiter, size string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Send the documents of a file and wait until they can be found",
		Long: "Read documents from FILE (- is the standard input), send them in requests of a bounded size and wait for\n" +
			"their tasks. The exit status is 0 where all succeeded.",
		Example: "  parley documents import movies.json --index movies\n" +
			"  parley documents import rows.csv --index rows --csv-delimiter ';' --url https://search.example.org",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.index == "" {
				return usageError{fmt.Errorf("--index is missing: name the index that the documents go to")}
			}
			var err error
			if in.format, err = formatOf(format, args[0]); err != nil {
				return usageError{err}
			}
			if len(delimiter) != 1 {
				return usageError{fmt.Errorf("--csv-delimiter is %q: want one character", delimiter)}
			}
			in.delimiter = delimiter[0]
			n, err := humanize.ParseBytes(size)
			if err != nil || n < 1<<10 || n > 1<<30 {
				return usageError{fmt.Errorf("--request-size is %q: want a size from 1 KiB to 1 GiB", size)}
			}
			in.size = int(n)
			in.key = cmp.Or(in.key, os.Getenv(keyEnv))
			if in.url, err = serviceURL(in.url); err != nil {
				return err
			}
			in.bar = newBar(cmd.ErrOrStderr())
			return in.run(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.index, "index", "", "index that the documents go to; made where there is none")
	f.StringVar(&in.url, "url", defaultURL, "address of the service")
	f.StringVar(&in.key, "key", "", "API key that allows documents.add and tasks.get (default: $"+keyEnv+")")
	f.StringVar(&format, "format", "", "json, ndjson or csv (default: by the file's name)")
	f.StringVar(&delimiter, "csv-delimiter", ",", "what stands between the columns of CSV")
	f.StringVar(&in.primaryKey, "primary-key", "", "field that holds the id (default: the index's, or found in the first document)")
	f.BoolVar(&in.partial, "update", false, "keep the fields of documents that are there and not sent again")
	f.StringVar(&size, "request-size", "20 MiB", "bytes of one request, below the service's --http-payload-size-limit")
	return cmd
}

// formatOf returns the format that was given, or the one that a file's name
// says.
func formatOf(given, file string) (string, error) {
	if given == "" {
		given = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
		if given == "jsonl" {
			given = "ndjson"
		}
		if !slices.Contains(host.DocumentFormats(), given) {
			return "", fmt.Errorf("the name %q says no format: give --format json, ndjson or csv", file)
		}
	}
	if !slices.Contains(host.DocumentFormats(), given) {
		return "", fmt.Errorf("--format is %q: want json, ndjson or csv", given)
	}
	return given, nil
}
