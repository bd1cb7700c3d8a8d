package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestModel drives the whole way with a real model: host, vLlm plugin,
// llama.cpp, internal search, answer, with the tool call streamed in pieces.
func TestModel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a model")
	}
	base := demoHost(t, startModel(t)+"/v1", "--model", "tiny")
	// A model of less than a million parameters keeps its wits on short prompts.
	change(t, base+"/settings", `{"prompts":{"system":"You answer from documents.","searchDescription":"Search","searchQParam":"","searchFilterParam":"","searchIndexUidParam":""}}`)
	waitForTask(t, base, change(t, strings.Replace(base, "/chats/demo", "/indexes/movies", 1)+"/settings",
		`{"filterableAttributes":null,"chat":{"description":null,"documentTemplate":"{{ doc.title }}","searchParameters":{"limit":1}}}`))
	a := ask(t, base+"/chat/completions", `{"model":"tiny","temperature":0,"stream_options":{"include_usage":true},
		"messages":[{"role":"user","content":"search for Inception"}],
		"tools":[{"type":"function","function":{"name":"searchProgress"}},{"type":"function","function":{"name":"searchSources"}}]}`)
	if a.status != http.StatusOK || !a.done || len(a.errors) > 0 {
		t.Fatalf("answer: status %d, [DONE] %v, errors %q:\n%s", a.status, a.done, a.errors, a.raw)
	}
	var searched, sources bool
	for _, call := range a.tools {
		searched = searched || call.name == "searchProgress" && strings.Contains(call.arguments, "searchInIndex")
		sources = sources || call.name == "searchSources" && strings.Contains(call.arguments, "Inception")
	}
	if !searched || !sources {
		t.Errorf("reported a search %v, the source Inception %v; want both. Calls: %+v", searched, sources, a.tools)
	}
	if a.finish != "stop" && a.finish != "length" {
		t.Errorf("finish_reason = %q, want stop or length", a.finish)
	}
	if a.text == "" {
		t.Errorf("no text after the search:\n%s", a.raw)
	}
	t.Logf("the model answered %q", a.text)
}

// change sends a PATCH and returns what came back.
func change(t *testing.T, url, body string) []byte {
	t.Helper()
	status, answer := send(t, http.MethodPatch, url, body)
	if status > 299 {
		t.Fatalf("PATCH %s: status %d, body %s", url, status, answer)
	}
	return []byte(answer)
}

// waitForTask waits until the task that summary names has succeeded.
func waitForTask(t *testing.T, base string, summary []byte) {
	t.Helper()
	var task struct {
		TaskUID int
		Status  string
		Error   json.RawMessage
	}
	if err := json.Unmarshal(summary, &task); err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("%s/tasks/%d", strings.TrimSuffix(base, "/chats/demo"), task.TaskUID)
	for range 600 {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&task)
		resp.Body.Close()
		switch {
		case err != nil || task.Status == "failed":
			t.Fatalf("task: error %v, %+v", err, task)
		case task.Status == "succeeded":
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("task %+v did not end", task)
}

// startModel runs the real model's server and returns its address.
func startModel(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(root(t), "..", "shared", "tiny-llm")
	server := filepath.Join(dir, "server.js")
	if _, err := os.Stat(server); err != nil {
		t.Skip("no real model: ../shared/tiny-llm is not there; CONTRIBUTING.md says what it is")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no real model: node is not installed")
	}
	if err := exec.Command(node, "-e", "require('@fugood/llama.node')").Run(); err != nil {
		t.Skip("no real model: the npm package @fugood/llama.node is not on NODE_PATH; .ci/install installs it")
	}
	for range 3 { // somebody else may get the port before the server takes it
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := ln.Addr().(*net.TCPAddr).Port
		ln.Close()
		cmd := exec.CommandContext(t.Context(), node, server, filepath.Join(dir, "tiny.gguf"), fmt.Sprint(port))
		cmd.Env = append(os.Environ(), "MODEL_NAME=tiny", "THREADS=1", "API_KEY=")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		for s := bufio.NewScanner(out); s.Scan(); {
			if strings.HasPrefix(s.Text(), "ready ") {
				return fmt.Sprintf("http://127.0.0.1:%d", port)
			}
		}
	}
	t.Fatal("the model's server ended three times before it was ready")
	return ""
}
