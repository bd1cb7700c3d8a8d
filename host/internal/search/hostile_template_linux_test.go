package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search"
)

// hostileTemplates were taken by an earlier version, and then hung it, or ended
// it for want of memory.
var hostileTemplates = map[string]string{
	"range":   `{% for i in (1..(2000000000)) %}{% endfor %}`,
	"raw":     `{% raw %}` + strings.Repeat(`{% endfor %}`, 20) + `{% endraw %}` + sixLoops,
	"comment": `{% comment %}` + strings.Repeat(`{% endfor %}`, 20) + `{% endcomment %}` + sixLoops,
	"split":   `{% assign a = doc.big | split: "" %}{% for x in a %}{% for y in a %}{% endfor %}{% endfor %}`,
	"reverse": `{% assign a = (1..(1000000000)) | reverse %}`,
}

var sixLoops = strings.Repeat(`{% for a in doc.x %}`, 6) + strings.Repeat(`{% endfor %}`, 6)

// TestHostileTemplates gives each template to all that take one, in a process of
// its own: the chat of an index, an embedder and an embedder with fragments. It
// is refused, or documents are indexed and found all the same. The process may
// take 2 GiB of memory, so that it ends, and not the machine.
func TestHostileTemplates(t *testing.T) {
	if name := os.Getenv("PARLEY_TEST_TEMPLATE"); name != "" {
		useHostileTemplate(t, hostileTemplates[name])
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s*(\d+)`)
	for name := range hostileTemplates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Only what hangs, which it did for minutes, is kept from hanging the test.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, self, "-test.run=^TestHostileTemplates$", "-test.v")
			cmd.Env = append(os.Environ(), "PARLEY_TEST_TEMPLATE="+name)
			out, err := cmd.CombinedOutput()
			if ctx.Err() != nil {
				t.Fatal("the process hangs")
			}
			if err != nil {
				t.Fatalf("the process ended: %v\n%.2000s", err, out)
			}
			t.Logf("%v of processor time, %s KiB at most", cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), peak.FindSubmatch(out)[1])
		})
	}
}

func useHostileTemplate(t *testing.T, text string) {
	const most = 2 << 30
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	documents := `{"id":1,"big":"` + strings.Repeat("ab", 50_000) + `","x":[` + strings.Repeat(`"x",`, 99) + `"x"]}`
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	set := func(uid, settings string) {
		n, err := r.svc.UpdateSettings(uid, []byte(settings))
		if err != nil {
			t.Logf("refused: %v", err)
			return
		}
		r.ok(n, nil)
	}
	r.add("chat", documents)
	set("chat", fmt.Sprintf(`{"chat":{"documentTemplate":%s}}`, quoted))
	if texts := r.chatTexts("chat", ""); len(texts) != 1 {
		t.Errorf("the chat finds %d documents, want 1", len(texts))
	}
	api, fragments := newEmbedder(t), newFragmentAPI(t)
	set("embedder", strings.Replace(api.settings(""), `"{{doc.text}}"`, string(quoted), 1))
	set("fragments", settingsOf(fragments.embedder(fmt.Sprintf(`"indexingFragments":{"a":{"value":%s},"b":{"value":"{{doc.id}}"}},"searchFragments":{"q":{"value":%[1]s}}`, quoted))))
	for _, uid := range []string{"embedder", "fragments"} {
		r.add(uid, documents)
		if hits := r.search(uid, search.Query{}).Hits; len(hits) != 1 {
			t.Errorf("index %s has %d documents, want 1", uid, len(hits))
		}
		_, err := r.svc.Search(t.Context(), auth.Everyone(), uid, about("x", `{}`)) // renders search fragments
		t.Logf("search by meaning: %v", err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", status)
}
