package console

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestConsolePlugins installs plugins of a registry, accepts what one asks for more,
// compares two versions and rolls back, on the page; sends the file of a third; and
// removes one version, then the plugin.
func TestConsolePlugins(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	store := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	defer store.Close()
	base := "oci://" + strings.TrimPrefix(store.URL, "http://") + "/plain-c"
	publisher := host.OpenInstaller(house.Publishing(t), host.Options{})
	old := house.OldModules(t)["plain-c"]
	build := func(version string, origins ...string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "plain-c-"+version+".wasm")
		module := house.Packed(t, old, "plain-c", map[string]any{"version": version, "description": hostileText, "grants": map[string]any{"http": append([]string{"${baseUrl}"}, origins...)}})
		if err := os.WriteFile(file, module, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for version, more := range map[string][]string{"1.0.0": nil, "2.0.0": {"https://more.example"}} {
		if _, err := publisher.Push(t.Context(), build(version, more...), base, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	h := consoleHost(t, map[string]string{"plugin-api": "true", "plugin-dir": filepath.Join(t.TempDir(), "plugins")})
	p := b.open(h.URL, screens[0])
	p.view("#/plugins", "Plugins")
	p.see("main", "Install or update")
	const source = `//label[starts-with(., "Where it is")]//input`
	look := func(tag string) {
		t.Helper()
		p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("input[name=source]").value = ""`), chromedp.SendKeys(source, base+tag+kb.Enter))
	}
	look(":9.9.9")
	p.see("main [role=alert]", "it is not there")
	look(":1.0.0")
	p.see("dialog[open]", "plain-c 1.0.0", "Nothing of this name runs yet", "send requests to the address that its workspace names", "<script>")
	p.audit("what a plugin asks for")
	p.run(chromedp.Click(`//dialog//label[contains(., "I accept that")]//input`), chromedp.Click(`//dialog//button[. = "Install"]`))
	p.see("dialog[open]", "plain-c 1.0.0 is in use")
	p.run(chromedp.KeyEvent(kb.Escape))
	p.see("main", "plain-c 1.0.0")
	look("")
	p.see("dialog[open]", "plain-c 2.0.0", "Compared with 1.0.0", "It asks for more than that one", "send requests to https://more.example")
	p.look(screens[0], "plugins-update")
	p.run(chromedp.Click(`//dialog//label[contains(., "I accept that")]//input`), chromedp.Click(`//dialog//button[. = "Install"]`))
	p.see("dialog[open]", "plain-c 2.0.0 is in use")
	p.run(chromedp.KeyEvent(kb.Escape))

	const card = `//article[contains(., "plain-c 2.0.0")]`
	p.run(chromedp.WaitVisible(card+`//summary[. = "Change or remove it"]`), chromedp.Click(card+`//summary[. = "Change or remove it"]`), chromedp.Click(card+`//button[. = "Compare with 1.0.0"]`))
	p.see("dialog[open]", "plain-c 2.0.0 and 1.0.0", "http.https://more.example")
	p.audit("the difference of two versions")
	p.look(screens[0], "plugins-difference")
	p.run(chromedp.KeyEvent(kb.Escape), chromedp.Click(card+`//button[. = "Roll back"]`))
	p.see("dialog[open]", "Roll back plain-c?")
	p.run(chromedp.Click(`//dialog[@open]//button[. = "Change"]`))
	p.see("#told", "plain-c 1.0.0 is in use")
	for _, s := range h.Plugins() {
		if s.Name == "plain-c" && s.Use != (s.Version == "1.0.0") {
			t.Errorf("after the rollback plain-c %s is in use: %v", s.Version, s.Use)
		}
	}

	const file = `//label[starts-with(., "Or its file")]//input`
	choose := func(path string) {
		t.Helper()
		p.run(chromedp.SendKeys(source, "forgotten"), chromedp.SetUploadFiles(file, []string{path}), chromedp.Click(`//button[. = "Look at it"]`))
	}
	broken := filepath.Join(t.TempDir(), "notes.wasm")
	if err := os.WriteFile(broken, []byte(hostileText), 0o600); err != nil {
		t.Fatal(err)
	}
	choose(broken)
	p.see("main [role=alert]", "notes.wasm", "No plugin was changed")
	choose(build("3.0.0", "https://third.example"))
	p.see("dialog[open]", "plain-c 3.0.0", "Compared with 1.0.0", "It asks for more than that one", "send requests to https://third.example")
	p.audit("what the plugin of a file asks for")
	p.look(screens[0], "plugins-file")
	p.run(chromedp.Click(`//dialog//button[. = "Install"]`))
	for _, s := range h.Plugins() {
		if s.Name == "plain-c" && s.Version == "3.0.0" {
			t.Errorf("plain-c 3.0.0 was installed before what it asks for was accepted")
		}
	}
	p.run(chromedp.Click(`//dialog//label[contains(., "I accept that")]//input`), chromedp.Click(`//dialog//button[. = "Install"]`))
	p.see("dialog[open]", "plain-c 3.0.0 is in use")
	for _, s := range h.Plugins() {
		if s.Name == "plain-c" && s.Use != (s.Version == "3.0.0") {
			t.Errorf("after the file was installed plain-c %s is in use: %v", s.Version, s.Use)
		}
	}
	p.run(chromedp.KeyEvent(kb.Escape))

	// One version goes, then the plugin.
	const last = `//article[contains(., "plain-c 3.0.0")]`
	left := func() (versions []string) {
		for _, s := range h.Plugins() {
			if s.Name == "plain-c" && s.State == "ready" {
				versions = append(versions, s.Version)
			}
		}
		slices.Sort(versions)
		return versions
	}
	gone := func(want ...string) {
		t.Helper()
		if !waittest.Until(func() bool { return slices.Equal(left(), want) }) {
			t.Errorf("the versions that are left are %q, want %q", left(), want)
		}
	}
	p.run(chromedp.WaitVisible(last+`//summary[. = "Change or remove it"]`), chromedp.Click(last+`//summary[. = "Change or remove it"]`), chromedp.Click(last+`//button[. = "Remove 2.0.0"]`))
	p.see("dialog[open]", "Remove plain-c 2.0.0?", "Nothing can be rolled back to it", "cannot be undone")
	p.audit("the removal of a version")
	p.look(screens[0], "plugins-remove")
	p.run(chromedp.KeyEvent(kb.Escape))
	gone("1.0.0", "2.0.0", "3.0.0")
	p.run(chromedp.Click(last+`//button[. = "Remove 2.0.0"]`), chromedp.Click(`//dialog[@open]//button[. = "Remove"]`))
	p.see("#told", "plain-c 2.0.0 is removed")
	gone("1.0.0", "3.0.0")
	p.run(chromedp.WaitVisible(last+`//summary[. = "Change or remove it"]`), chromedp.Click(last+`//summary[. = "Change or remove it"]`), chromedp.Click(last+`//button[. = "Remove plain-c"]`))
	p.see("dialog[open]", "Remove plain-c with all its versions?", "Workspaces whose provider is", "cannot answer")
	p.run(chromedp.Click(`//dialog[@open]//button[. = "Remove"]`))
	p.see("#told", "plain-c 3.0.0, 1.0.0 is removed")
	gone()
}
