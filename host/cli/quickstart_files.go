package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/cli/internal/documents"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// index is the index of the files at d.path, which has nothing else: those of another folder, and the samples,
// have theirs.
func (d demo) index() string {
	name := documents.IndexName([]string{d.path})
	if name == docsIndex || name == demoIndex {
		name += "-files"
	}
	return name
}

// serveFiles serves h with the files of d.path, which it imports through its own API as `parley documents
// import` does.
func (d demo) serveFiles(ctx context.Context, c config.Config, h *host.Host, modules [][]byte, stdout io.Writer, say func(format string, args ...any)) error {
	index := d.index()
	if _, err := h.Seed(ctx, host.Seed{
		Workspace:     demoWorkspace,
		Settings:      d.settings(index),
		Index:         index,
		IndexSettings: withDescription(reader.IndexSettings, "Files of "+documents.SourceName([]string{d.path})+"."),
		Documents:     []byte("[]"),
	}); err != nil {
		return fmt.Errorf("make the index: %w", closeAfter(h, err))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan struct{}) // closed once the first question can be answered
	carryCollectors(ctx, h, modules, answers, say)
	served := make(chan error, 1)
	go func() { served <- serveHost(ctx, h) }()
	d.showConsole(c, h, say)
	sandbox := pdf.New(cmdutil.CompiledDir(), cmdutil.CompilerArgs())
	s := documents.Synchronizer{
		Importer: documents.Importer{Client: &cmdutil.Client{URL: "http://" + h.Addr().String(), Key: c.MasterKey.Reveal()}, Index: index, PrimaryKey: "id", Size: 8 << 20, Bar: cmdutil.NewBar(io.Discard)},
		Source:   reader.Source{Name: documents.SourceName([]string{d.path})}, Prune: true, Force: true, Reader: &reader.Reader{PDF: sandbox},
	}
	var report strings.Builder
	err := s.Run(ctx, []string{d.path}, &report)
	_ = sandbox.Close()
	if err == nil && s.Report.Passages == 0 {
		err = fmt.Errorf("%s has no file with text in it; formats: %s", d.path, strings.Join(reader.Extensions(), " "))
	}
	if err != nil {
		cancel()
		return errors.Join(err, <-served)
	}
	say("%s", strings.ReplaceAll(strings.TrimSpace(report.String()), "\n", "\nparley: "))
	say("source %s; %s in index %q; workspace %q; http://%s", d.source, cmdutil.FormatCount(s.Report.Files, "file", "files"), index, demoWorkspace, h.Addr())
	question, err := json.Marshal(map[string]any{"model": "any", "messages": []map[string]string{{"role": "user", "content": s.Question()}}})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n", d.command(h.Addr().String(), keyPlace(c), question))
	d.sayServing(c, say)
	close(answers)
	tried := d.tryProvider(ctx, c, h, say)
	err = <-served
	cancel()
	<-tried
	sayStopped(c, err, say)
	return err
}
