package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// An operator records what a provider answers, and the recording put through
// the plugin gives what the client had: an answer and a failure. The API key,
// which the provider repeats in both, is in neither.
//
//parley:option chat-record-dir chat-record-workspaces
func TestRecordAndReplay(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	w := house.NewWire(t)
	w.On("repeats", func(x *house.Exchange) {
		x.Say(house.Stream + house.Delta("your key is "+x.Key+", keep it") + house.Finish)
	})
	w.On("refuses", func(x *house.Exchange) {
		x.Say(house.Answered(401, "Content-Type: application/json\r\n", fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s","code":"invalid_api_key"}}`, x.Key)))
	})
	dir := filepath.Join(t.TempDir(), "recordings")
	module := house.Shipped(t, "vllm")
	h := house.Open(t, map[string]string{"chat-record-dir": dir, "chat-record-workspaces": "w"}, module)
	for _, workspace := range []string{"w", "private"} {
		h.Must("PATCH", "/chats/"+workspace+"/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":%q}`, w.URL, apiKey))
	}
	if _, got := h.Ask("w", "repeats"); got["text"] != "your key is [redacted], keep it" {
		t.Fatalf("answer = %v", got)
	}
	if r, _ := h.Ask("w", "refuses"); r.Status != http.StatusBadGateway {
		t.Fatalf("refusal = %d %s", r.Status, r.Body)
	}
	h.Ask("private", "repeats")
	h.Close()

	folders, err := filepath.Glob(filepath.Join(dir, "*-w-*"))
	if all, _ := os.ReadDir(dir); err != nil || len(folders) != 2 || len(all) != 2 {
		t.Fatalf("recordings = %v among %d, %v; want two, of w alone", folders, len(all), err)
	}
	r, err := trial.OpenReplayer(t.Context(), "vLlm", trial.Options{}, module)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var said []string
	for _, folder := range folders {
		rec, source, err := trial.ReadRecording(folder)
		if err != nil || source != "vLlm" || rec.BaseURL != w.URL {
			t.Fatalf("ReadRecording = %+v of %q, %v", rec, source, err)
		}
		got, err := r.Aggregate(t.Context(), rec)
		if err != nil {
			t.Fatal(err)
		}
		switch got := got.(type) {
		case *response.Aggregate:
			said = append(said, got.Text)
			var frames strings.Builder
			if err := r.Chunks(t.Context(), rec, &frames); err != nil || !strings.Contains(frames.String(), `"content":`) || !strings.HasSuffix(strings.TrimSpace(frames.String()), "data: [DONE]") {
				t.Errorf("the frames of %s: %v\n%s", folder, err, &frames)
			}
		case *response.Failure:
			said = append(said, fmt.Sprint(got.Status, " ", got.Kind, ": ", got.Message))
		}
	}
	slices.Sort(said) // folders of the same millisecond stand in any order
	if got, want := strings.Join(said, "; "), "401 auth: Incorrect API key provided: [redacted]; your key is [redacted], keep it"; got != want {
		t.Errorf("replayed = %q, want %q", got, want)
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if strings.Contains(string(b), apiKey) {
			t.Errorf("%s holds the API key", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
