package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A test binary with this variable set is the program, or the provider, so
// that their cost is counted apart from the load's.
const reexec = "TEST_REEXEC"

func TestMain(m *testing.M) {
	switch os.Getenv(reexec) {
	case "parley":
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	case "provider":
		srv := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: &provider{}}
		fmt.Println(srv.ListenAndServe())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestThousandStreams holds 1,000 streams open at once through the vLlm plugin
// against a slow provider: none fails, none loses a word, nothing is left.
func TestThousandStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 1,000 streams")
	}
	const streams, chunks = 1000, 20
	p := newProvider(t)
	base := demoHost(t, p.url)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: -1, DisableKeepAlives: true}}
	load(t, client, base, "c5-d1", 20, 5) // warm: pools, instances
	before := settled(func() int { return runtime.NumGoroutine() }, 0)

	cpu := ownCPU(t)
	load(t, client, base, fmt.Sprintf("c%d-d100", chunks), streams, chunks)
	t.Logf("%d streams of %d chunks at once: %.1f µs CPU a chunk for host, provider and load together, RSS %d MiB",
		streams, chunks, float64((ownCPU(t)-cpu).Microseconds())/float64(streams*chunks), rss(t, os.Getpid())>>20)

	// net/http and Fiber keep a few idle workers; streams must keep none.
	if after := settled(func() int { return runtime.NumGoroutine() }, before+50); after > before+50 {
		var b strings.Builder
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		t.Errorf("%d goroutines after %d streams, want about the %d from before:\n%.3000s", after, streams, before, b.String())
	}
	if open := settled(func() int { return int(p.open.Load()) }, 0); open != 0 {
		t.Errorf("%d provider requests still open", open)
	}
}

// load runs n streams at once and checks each to its last word.
func load(t testing.TB, client *http.Client, base, model string, n, chunks int) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() {
			if _, err := streamOnce(client, base, model, chunks); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	failed := 0
	for err := range errs {
		if failed++; failed <= 5 {
			t.Error(err)
		}
	}
	if failed > 5 {
		t.Errorf("and %d more of %d streams failed", failed-5, n)
	}
}

var word = regexp.MustCompile(`"content":"word(\d+) "`)

// streamOnce reads one stream, checks that its words are whole and in order,
// and returns the time to the first of them.
func streamOnce(client *http.Client, base, model string, chunks int) (first time.Duration, err error) {
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"hi"}]}`, model)
	begun := time.Now()
	resp, err := client.Post(base+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		return 0, fmt.Errorf("status %d: %s", resp.StatusCode, b)
	}
	next, done := 0, false
	s := bufio.NewScanner(resp.Body)
	for s.Scan() {
		line := s.Text()
		if m := word.FindStringSubmatch(line); m != nil {
			if next == 0 {
				first = time.Since(begun)
			}
			if got, _ := strconv.Atoi(m[1]); got != next {
				return 0, fmt.Errorf("word %d where %d was due", got, next)
			}
			next++
		}
		done = done || line == "data: [DONE]"
	}
	if err := s.Err(); err != nil {
		return 0, err
	}
	if next != chunks || !done {
		return 0, fmt.Errorf("stream ended after %d of %d words, [DONE] %v", next, chunks, done)
	}
	return first, nil
}

// settled reads a count until it is at most want, or for a few seconds.
func settled(read func() int, want int) int {
	got := read()
	for range 300 {
		if got <= want {
			break
		}
		time.Sleep(100 * time.Millisecond)
		runtime.GC()
		n := read()
		if want == 0 && n == got && n > 0 { // a start value: steady is good
			break
		}
		got = n
	}
	return got
}

func ownCPU(t testing.TB) time.Duration { return cpuOf(t, os.Getpid()) }

// cpuOf is the processor time of a process so far.
func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip("no /proc here: CPU and memory of a process cannot be read")
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	sys, _ := strconv.Atoi(f[12])
	return time.Duration(user+sys) * 10 * time.Millisecond // USER_HZ is 100
}

// rss is the resident memory of a process in bytes.
func rss(t testing.TB, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skip("no /proc here: CPU and memory of a process cannot be read")
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// BenchmarkStreams compares a stream through the host and its vLlm plugin with
// the same stream straight from the provider; each is a process of its own.
// first-ms is the time to the first word of one stream at a time (median);
// cpu-µs/chunk is the host's processor time, for 64 streams at once.
func BenchmarkStreams(b *testing.B) {
	providerURL := reexecProvider(b)
	host, pid := reexecParley(b, providerURL)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	load(b, client, host, "c5-d0", 64, 5)

	for _, to := range []struct{ name, base string }{{"direct", providerURL}, {"parley", host}} {
		b.Run("first/"+to.name, func(b *testing.B) {
			times := make([]time.Duration, 0, b.N)
			for range b.N {
				d, err := streamOnce(client, to.base, "c1-d0", 1)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, d)
			}
			b.ReportMetric(float64(median(times).Microseconds())/1000, "first-ms")
		})
	}
	for _, pause := range []int{0, 20} {
		b.Run(fmt.Sprintf("cpu/pause=%dms", pause), func(b *testing.B) {
			const streams, chunks = 64, 64
			before := cpuOf(b, pid)
			for range b.N {
				load(b, client, host, fmt.Sprintf("c%d-d%d", chunks, pause), streams, chunks)
			}
			b.ReportMetric(float64((cpuOf(b, pid)-before).Microseconds())/float64(b.N*streams*chunks), "cpu-µs/chunk")
			b.ReportMetric(float64(rss(b, pid)>>20), "rss-MiB")
		})
	}
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

// reexecProvider runs the provider as a process of its own.
func reexecProvider(b *testing.B) string {
	b.Helper()
	addr := freeAddr(b)
	_, port, _ := strings.Cut(addr, ":")
	spawn(b, "provider", port)
	waitUntilUp(b, "http://"+addr+"/")
	return "http://" + addr + "/v1"
}

// reexecParley runs quickstart as a process of its own.
func reexecParley(b *testing.B, provider string) (base string, pid int) {
	b.Helper()
	addr := freeAddr(b)
	cmd := spawn(b, "parley", "quickstart", "--source", "vLlm", "--base-url", provider, "--http-addr", addr, "--db-path", b.TempDir())
	waitUntilUp(b, "http://"+addr+"/chats/demo")
	return "http://" + addr + "/chats/demo", cmd.Process.Pid
}

func spawn(b *testing.B, role string, args ...string) *exec.Cmd {
	b.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), reexec+"="+role)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// waitUntilUp returns once url answers with anything but "not there yet".
func waitUntilUp(b *testing.B, url string) {
	b.Helper()
	for range 600 {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
			if !strings.Contains(url, "/chats/") || resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.Fatal(errors.New("nothing answers at " + url))
}

// freeAddr is an address on loopback that nothing listens on.
func freeAddr(b *testing.B) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
