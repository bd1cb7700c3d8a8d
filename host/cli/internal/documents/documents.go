// Package documents has the commands that bring documents into a running service:
// one file, or folders that are kept in step.
package documents

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
	"github.com/parley-search/parley/host/internal/search/text"
)

// Command has the commands of documents.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "documents",
		Short: "Put documents into a running service",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(documentsImportCommand())
	return cmd
}

func documentsImportCommand() *cobra.Command {
	var in Importer
	var files Synchronizer
	var format, delimiter, size, split string
	var watch bool
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Send documents, or the passages of files, and wait until they can be found",
		Long: "PATH is a file of documents (JSON, NDJSON, CSV; - is the standard input), or files to be read: a file, a\n" +
			"folder, or an archive (.zip, .tar.gz). Of files, each becomes passages of up to 1,500 bytes under their headings;\n" +
			"formats: " + strings.Join(reader.Extensions(), " ") + ".\n\n" +
			"Run again with the same source, only what changed is sent, and what no longer exists is deleted: where\n" +
			"that is over half of the files, with --force only. What is read and what is left out of each file is\n" +
			"said with --dry-run --report, and --explain prints the passages.\n" +
			"The exit status is 0 where all succeeded.",
		Example: "  parley documents import ~/notes\n" +
			"  parley documents import site/ --index docs --base-url https://docs.example.org --watch\n" +
			"  parley documents import movies.json --index movies\n" +
			"  parley documents import rows.csv --index rows --csv-delimiter ';' --url https://search.example.org",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Index == "" && areFiles(args, format) {
				in.Index = IndexName(args)
			}
			if in.Index == "" {
				return cmdutil.UsageError{Err: fmt.Errorf("--index is missing: name the index that the documents go to")}
			}
			n, err := humanize.ParseBytes(size)
			if err != nil || n < 1<<10 || n > 1<<30 {
				return cmdutil.UsageError{Err: fmt.Errorf("--request-size is %q: want a size from 1 KiB to 1 GiB", size)}
			}
			in.Size = int(n)
			if in.Client, err = cmdutil.OpenClient(cmd); err != nil {
				return err
			}
			in.Bar = cmdutil.NewBar(cmd.ErrOrStderr())
			for _, name := range args {
				if name == "-" {
					continue
				}
				if _, err := os.Stat(name); err != nil {
					return cmdutil.UsageError{Err: fmt.Errorf("look at what is to be imported: %w", err)}
				}
			}
			if !areFiles(args, format) {
				if err := refuseFlags(cmd, "files", args[0]); err != nil {
					return err
				}
				if len(args) > 1 {
					return cmdutil.UsageError{Err: fmt.Errorf("%d files of documents: import one at a time", len(args))}
				}
				if in.format, err = FormatOf(format, args[0]); err != nil {
					return cmdutil.UsageError{Err: err}
				}
				if len(delimiter) > 1 {
					return cmdutil.UsageError{Err: fmt.Errorf("--csv-delimiter is %q: want one character", delimiter)}
				}
				if delimiter != "" {
					in.delimiter = delimiter[0]
				}
				return in.run(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout())
			}
			if err := refuseFlags(cmd, "documents", args[0]); err != nil {
				return err
			}
			if split != "passages" && split != "whole" {
				return cmdutil.UsageError{Err: fmt.Errorf("--split is %q: want passages or whole", split)}
			}
			if err := files.selection.Check(); err != nil {
				return cmdutil.UsageError{Err: err}
			}
			in.PrimaryKey = "id"
			files.Importer, files.Source.Whole = in, split == "whole"
			files.Source.Name = cmp.Or(files.Source.Name, SourceName(args))
			if !cmd.Flags().Changed("prune") {
				files.Prune = len(args) == 1 && isFolder(args[0])
			}
			boundMemory()
			var end func() error
			sandbox := pdf.New(cmdutil.CompiledDir(), cmdutil.CompilerArgs())
			files.Reader, end = &reader.Reader{PDF: sandbox}, sandbox.Close
			defer func() { _ = end() }()
			if files.explain {
				files.dryRun = true
				return files.explainAll(cmd.Context(), args, cmd.OutOrStdout())
			}
			if watch {
				return files.watch(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			err = files.Run(cmd.Context(), args, cmd.OutOrStdout())
			if r := &files.Report; err == nil && r.Files+r.Changed+r.Gone+r.Kept == 0 {
				err = fmt.Errorf("import %s: no file was read: the formats that can be are %s", strings.Join(args, ", "), strings.Join(reader.Extensions(), " "))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Index, "index", "", "index that the documents go to; made if it does not exist (default, of files: one called like the folder)")
	f.StringVar(&size, "request-size", "20 MiB", "bytes of one request, below the service's --http-payload-size-limit")
	f.StringVar(&format, "format", "", "json, ndjson or csv: PATH is a file of documents (default: by the file's name)")
	f.StringVar(&delimiter, "csv-delimiter", "", "of documents: what is between the columns of CSV (default: what its first line has most of: comma, semicolon or tab)")
	f.StringVar(&in.PrimaryKey, "primary-key", "", "of documents: field that holds the id (default: the index's, or found in the first document)")
	f.BoolVar(&in.generateIDs, "generate-ids", false, "of documents: those without an id get one made of what they hold, so that equal ones become one")
	f.BoolVar(&in.partial, "update", false, "of documents: keep the fields of those that are there and not sent again")
	f.StringVar(&files.Source.Name, "source", "", "of files: name of what is imported and pruned together (default: the name of the file or folder)")
	f.StringVar(&files.Source.BaseURL, "base-url", "", "of files: address below which they are published; gives passages a URL")
	f.StringVar(&files.stripPrefix, "strip-prefix", "", "of files: beginning of paths that is left out")
	f.StringVar(&split, "split", "passages", "of files: passages, or whole for one document a file")
	f.StringArrayVar(&files.selection.Include, "include", nil, "of files: pattern of paths to take, such as '*.md' or 'docs/**'")
	f.StringArrayVar(&files.selection.Exclude, "exclude", nil, "of files: pattern of paths to pass over")
	f.BoolVar(&files.Prune, "prune", false, "of files: delete what the index has of files that are gone (default: for one folder)")
	f.BoolVar(&files.Force, "force", false, "of files: prune also where over half of the files are gone")
	f.BoolVar(&in.dryRun, "dry-run", false, "say what would be done, and do nothing")
	f.BoolVar(&files.report, "report", false, "of files: say what was read of each one, and what was left out by which rule")
	f.BoolVar(&files.explain, "explain", false, "of files: print the passages that they become, and do nothing")
	f.BoolVar(&in.json, "json", false, "print the result as JSON")
	f.BoolVar(&watch, "watch", false, "of files: go on, and import what changes, until interrupted")
	return cmdutil.ClientFlags(cmd, "documents.*, tasks.get and, for files, indexes.get and settings.update")
}

// refuseFlags refuses options that are given and say in their help that they are of what, which name is
// not.
func refuseFlags(cmd *cobra.Command, what, name string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Usage, "of "+what+":") && err == nil {
			err = cmdutil.UsageError{Err: fmt.Errorf("--%s is for %s, and %s is not read as such", f.Name, what, name)}
		}
	})
	return err
}

// areFiles reports whether args are files to be read, and not one of documents.
func areFiles(args []string, format string) bool {
	if format != "" || args[0] == "-" {
		return false
	}
	if _, err := FormatOf("", args[0]); err == nil && len(args) == 1 {
		return false
	}
	return len(args) > 1 || isFolder(args[0]) || reader.CanRead(args[0]) || reader.IsArchive(args[0])
}

// boundMemory has the collector of garbage work harder from where an import of any folder stays below 300
// MiB, unless the environment says something else.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(160 << 20)
	}
}

func isFolder(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

// SourceName names a source by what is imported.
func SourceName(args []string) string {
	if len(args) > 1 {
		return "files"
	}
	name, err := filepath.Abs(args[0])
	if err != nil {
		name = args[0]
	}
	return filepath.Base(name)
}

// IndexName names an index by what is imported, so that folders of different names have indexes of their own: where
// letters of a name are none that an index may have, a sum of the name is added.
func IndexName(args []string) string {
	name := SourceName(args)
	if len(args) == 1 && !isFolder(args[0]) {
		name, _, _ = strings.Cut(name, ".")
	}
	var uid strings.Builder
	lost := false
	for _, r := range name {
		letters := string(r)
		if r >= utf8.RuneSelf {
			letters = text.Fold(letters) // ö becomes o, and what has no such letter stays
		}
		switch {
		case unicode.IsMark(r): // of the letter before it, as in names of macOS
		case strings.ContainsFunc(letters, func(r rune) bool {
			return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
		}):
			uid.WriteByte('-')
			lost = lost || unicode.IsLetter(r) || unicode.IsNumber(r)
		default:
			uid.WriteString(letters)
		}
	}
	short := strings.Join(strings.FieldsFunc(uid.String(), func(r rune) bool { return r == '-' }), "-")
	short, lost = short[:min(len(short), 100)], lost || short == ""
	if !lost {
		return short
	}
	return fmt.Sprintf("%s-%08x", cmp.Or(short, "files"), crc32.ChecksumIEEE([]byte(name)))
}

// FormatOf returns the format that was given, or the one that a file's name
// says.
func FormatOf(given, file string) (string, error) {
	if given == "" {
		given = strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
		if given == "jsonl" {
			given = "ndjson"
		}
		if !slices.Contains(documentFormats(), given) {
			return "", fmt.Errorf("the name %q says no format: give --format json, ndjson or csv", file)
		}
	}
	if !slices.Contains(documentFormats(), given) {
		return "", fmt.Errorf("--format is %q: want json, ndjson or csv", given)
	}
	return given, nil
}
