package wasm_test

import (
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// BenchmarkNeighbour measures what a decode call of the vllm plugin takes, made
// each millisecond by four streams, while nothing else goes on, and while
// another plugin of its size is compiled: in process, or aside. An operation is
// one compilation, or its time.
func BenchmarkNeighbour(b *testing.B) {
	bin := goPlugin(b)
	for _, how := range []string{"alone", "in-process", "aside"} {
		b.Run(how, func(b *testing.B) {
			o := wasm.Options{CacheDir: b.TempDir()}
			if how == "aside" {
				o.Aside = aside(b)
			}
			r := open(b, o)
			m, err := r.Compile(b.Context(), "vllm", bin, wasm.Limits{Memory: 32 << 20})
			if err != nil {
				b.Fatal(err)
			}
			var mu sync.Mutex
			var took []time.Duration
			stop := make(chan struct{})
			var streams sync.WaitGroup
			for range 4 {
				streams.Go(func() {
					in := abi.AppendDecodeInput(nil, nil, 0, []abi.Event{{Data: []byte(chunk)}})
					var out []byte
					for tick := time.NewTicker(time.Millisecond); ; {
						select {
						case <-stop:
							tick.Stop()
							return
						case due := <-tick.C:
							var err error
							if out, err = m.Call(b.Context(), decode, in, out[:0]); err != nil {
								b.Error(err)
								return
							}
							mu.Lock()
							// From when it was due: to wait for a processor is the harm.
							took = append(took, time.Since(due))
							mu.Unlock()
						}
					}
				})
			}
			b.ResetTimer()
			for n := range b.N {
				if how == "alone" {
					time.Sleep(time.Second)
					continue
				}
				// Other bytes each time, so that no cache has them.
				other, err := abi.WithSection(bin, "nth", binary.LittleEndian.AppendUint64(nil, uint64(n)))
				if err != nil {
					b.Fatal(err)
				}
				c, err := r.Compile(b.Context(), "other", other, wasm.Limits{Memory: 32 << 20})
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			close(stop)
			streams.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
		})
	}
}

// BenchmarkBesideLoops measures a small call, made from a goroutine of its own
// as a stream's are, from when it was due, while six guests loop without end on
// all processors.
func BenchmarkBesideLoops(b *testing.B) { beside(b, "spin") }

// BenchmarkBesideRecursion measures it while six guests recurse without end.
func BenchmarkBesideRecursion(b *testing.B) { beside(b, "recurse") }

func beside(b *testing.B, attack string) {
	r := open(b, wasm.Options{})
	bad := compile(b, r, attack, wasm.Limits{CallTimeout: 2 * time.Second, Instances: 6, Unbroken: true})
	good := compile(b, r, "echo", wasm.Limits{})
	stop := make(chan struct{})
	var attacks atomic.Int64
	var attackers sync.WaitGroup
	for range 6 {
		attackers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = bad.Call(b.Context(), decode, []byte("!"), nil) // which ends by a fault
					attacks.Add(1)
				}
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	made := attacks.Load()
	var took []time.Duration
	for b.Loop() {
		due, done := time.Now().Add(time.Millisecond), make(chan error)
		time.Sleep(time.Millisecond)
		go func() {
			_, err := good.Call(b.Context(), decode, []byte("x"), nil)
			done <- err
		}()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(due))
	}
	runtime.ReadMemStats(&after)
	made = attacks.Load() - made
	close(stop)
	attackers.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	if made > 0 {
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(made)/(1<<20), "MiB/attack")
	}
	b.ReportMetric(float64(after.HeapSys)/(1<<20), "heap-MiB")
}
