package limit_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/access/limit/limittest"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// of returns the party of a subject whose limits are written as the API has them.
func of(t testing.TB, s limit.Subject, limits string) limit.Party {
	t.Helper()
	l, err := limit.MergeKey(limit.Limits{}, json.RawMessage(limits))
	if err != nil {
		t.Fatal(err)
	}
	return limit.Party{Subject: s, Limits: l}
}

// admit lets an answer begin, or says why not.
func admit(l *limit.Limiter, key, workspace limit.Party, tokens int64) (*limit.Pass, *apierr.Error) {
	p := &limit.Pass{}
	if _, err := l.Admit(p, key, workspace, tokens); err != nil {
		return nil, apierr.From(err)
	}
	return p, nil
}

var nobody limit.Party

// refused checks why an answer may not begin.
func refused(t *testing.T, e *apierr.Error, code apierr.Code, after time.Duration, says string) {
	t.Helper()
	if e == nil {
		t.Fatalf("it was let by, want %s", code)
	}
	if e.Code != code || e.RetryAfter != after || !strings.Contains(e.Message, says) {
		t.Errorf("refused with %s after %v: %s; want %s after %v with %q", e.Code, e.RetryAfter, e.Message, code, after, says)
	}
	if _, ok := errors.AsType[*limit.Refused](e); !ok {
		t.Errorf("the cause is %v, want a Refused", e.Err)
	}
}

func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Storage: &limittest.Memory{}})
		key := of(t, limit.Key("a"), `{"requestsPerMinute":60}`)
		admitted := func() (n int) {
			for {
				p, e := admit(l, key, nobody, 10)
				if e != nil {
					refused(t, e, apierr.TooManyRequests, time.Second, "this API key is 60 requests a minute")
					return n
				}
				p.Settle(1, 1)
				p.End()
				n++
			}
		}
		if n := admitted(); n != 60 {
			t.Errorf("%d answers at once, want 60", n)
		}
		time.Sleep(time.Second)
		if n := admitted(); n != 1 {
			t.Errorf("%d answers a second later, want 1", n)
		}
		time.Sleep(59 * time.Second) // no burst where the minute is full
		if n := admitted(); n != 59 {
			t.Errorf("%d answers 59 seconds later, want 59", n)
		}
		time.Sleep(time.Hour)
		if n := admitted(); n != 60 {
			t.Errorf("%d answers an hour later, want 60", n)
		}
	})
}

// TestHammer has 200 goroutines at once ask for a key with limits and a workspace
// with others.
func TestHammer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &limittest.Memory{}
		l := limit.New(limit.Options{Storage: storage})
		key := of(t, limit.Key("a"), `{"requestsPerMinute":60,"tokens":{"amount":90000,"period":"day"}}`)
		workspace := of(t, limit.Workspace("w"), `{"parallel":20,"tokensPerMinute":1000000}`)
		var spent, asked, running, most atomic.Int64
		hammer := func() {
			var all sync.WaitGroup
			for range 200 {
				all.Go(func() {
					for range 5 {
						p, e := admit(l, key, workspace, 1250)
						if e != nil {
							continue
						}
						asked.Add(1)
						now := running.Add(1)
						for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
						}
						time.Sleep(time.Nanosecond) // others come in between
						running.Add(-1)
						p.Settle(1000, 200)
						spent.Add(1200)
						p.End()
					}
				})
			}
			all.Wait()
		}
		hammer()
		if n := asked.Load(); n != 60 {
			t.Errorf("%d answers in the first minute, want 60", n)
		}
		for range 5 {
			time.Sleep(time.Minute)
			hammer()
		}
		if most.Load() > 20 {
			t.Errorf("%d answers at a time, want at most 20", most.Load())
		}
		if n := spent.Load(); n > 90000 || n < 90000-1250 {
			t.Errorf("%d tokens spent, want 90000 or little less", n)
		}
		_, e := admit(l, key, workspace, 1250)
		if e == nil || e.Code != apierr.TokenBudgetSpent {
			t.Errorf("behind the budget: %v", e)
		}
	})
}

func TestTokensPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Storage: &limittest.Memory{}})
		key := of(t, limit.Key("a"), `{"tokensPerMinute":6000}`)
		p, e := admit(l, key, nobody, 2000)
		if e != nil {
			t.Fatal(e)
		}
		p.Settle(400, 600) // gives 1000 back
		p.Round(3000)
		p.Settle(3000, 1000) // an answer under way is never refused, and takes more than it reserved
		if got := p.State().Tokens; got.Remaining != 1000 || got.Limit != 6000 || got.Reset != 50*time.Second {
			t.Errorf("state = %+v", got)
		}
		p.Round(5000)
		p.Settle(5000, 2000) // a debt
		p.End()
		_, e = admit(l, key, nobody, 1000)
		refused(t, e, apierr.TooManyRequests, 70*time.Second, "6000 tokens a minute, and this request may take 1000")
		time.Sleep(70 * time.Second)
		if p, e = admit(l, key, nobody, 1000); e != nil {
			t.Fatal(e)
		}
		p.End() // what is not settled stays
		time.Sleep(time.Minute)
		// What is more than a minute has waits for all of one, and not for ever.
		if p, e = admit(l, key, nobody, 50000); e != nil {
			t.Fatal(e)
		}
		p.End()
	})
}

func TestParallel(t *testing.T) {
	l := limit.New(limit.Options{Storage: &limittest.Memory{}})
	workspace := of(t, limit.Workspace("w"), `{"parallel":2}`)
	first, e := admit(l, nobody, workspace, 0)
	if e != nil {
		t.Fatal(e)
	}
	if _, e = admit(l, nobody, workspace, 0); e != nil {
		t.Fatal(e)
	}
	_, e = admit(l, nobody, workspace, 0)
	refused(t, e, apierr.TooManyRequests, time.Second, "the workspace is 2 answers at a time")
	first.End()
	first.End() // once is enough
	if _, e = admit(l, nobody, workspace, 0); e != nil {
		t.Error(e)
	}
	if _, e = admit(l, nobody, workspace, 0); e == nil {
		t.Error("an answer that ended twice made room for two")
	}
}

// TestBothMustLetBy has one party refuse: the other is not charged.
func TestBothMustLetBy(t *testing.T) {
	l := limit.New(limit.Options{Storage: &limittest.Memory{}})
	key := of(t, limit.Key("a"), `{"requestsPerMinute":10,"tokens":{"amount":100000,"period":"total"}}`)
	workspace := of(t, limit.Workspace("w"), `{"requestsPerMinute":1}`)
	state := func() limit.State {
		p := &limit.Pass{}
		s, _ := l.Admit(p, key, nobody, 0)
		p.TakeBack()
		return s
	}
	if _, e := admit(l, key, workspace, 500); e != nil {
		t.Fatal(e)
	}
	before := state()
	for range 5 {
		_, e := admit(l, key, workspace, 500)
		if e == nil || e.Code != apierr.TooManyRequests {
			t.Fatalf("second answer of the workspace: %v", e)
		}
	}
	if after := state(); after.Requests.Remaining != before.Requests.Remaining || after.Tokens != before.Tokens {
		t.Errorf("the key has %+v after refusals of the workspace, %+v before", after, before)
	}
	usage, err := l.Usage([]limit.Party{key, workspace})
	if err != nil || usage[0].Current.Counts != (limit.Counts{Requests: 1, Refused: 5}) || usage[1].Current.Counts != usage[0].Current.Counts {
		t.Errorf("usage = %+v, %v", usage, err)
	}
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &limittest.Memory{}
		l := limit.New(limit.Options{Storage: storage})
		key := of(t, limit.Key("a"), `{"tokens":{"amount":5000,"period":"hour"}}`)
		time.Sleep(40*time.Minute - time.Duration(time.Now().Minute())*time.Minute) // it is 0:40 now
		hold, e := admit(l, key, nobody, 3000)
		if e != nil {
			t.Fatal(e)
		}
		if got := hold.State().Tokens; got != (limit.Window{Limit: 5000, Remaining: 2000, Reset: 20 * time.Minute}) {
			t.Errorf("state = %+v", got)
		}
		_, e = admit(l, key, nobody, 2001)
		refused(t, e, apierr.TooManyRequests, time.Second, "Answers under way hold what is left of the 5000 tokens")
		hold.Settle(2000, 500)
		hold.End()
		_, e = admit(l, key, nobody, 2501)
		refused(t, e, apierr.TokenBudgetSpent, 20*time.Minute, "5000 tokens an hour, and 2500 are left, while this request may take 2501. The next begin at 2000-01-01T01:00:00Z.")
		over, e := admit(l, key, nobody, 2500)
		if e != nil {
			t.Fatal(e)
		}
		time.Sleep(20 * time.Minute) // the next hour, in which the answer ends
		next, e := admit(l, key, nobody, 5000)
		if e != nil {
			t.Fatal(e)
		}
		next.Settle(100, 0)
		over.Settle(2500, 900) // what it took more is of the hour that it ended in
		if got := next.State().Tokens.Remaining; got != 4000 {
			t.Errorf("%d tokens remain, want 4000", got)
		}
	})
}

func TestTotalNeverBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Storage: &limittest.Memory{}})
		key := of(t, limit.Key("a"), `{"tokens":{"amount":100,"period":"total"}}`)
		p, e := admit(l, key, nobody, 100)
		if e != nil {
			t.Fatal(e)
		}
		p.Settle(1, 99)
		p.End()
		time.Sleep(10000 * time.Hour)
		_, e = admit(l, key, nobody, 1)
		refused(t, e, apierr.TokenBudgetSpent, 0, "100 tokens in all, and 0 are left")
	})
}

// TestKilled ends limiters without closing them, all on one storage: together they
// never let by more than there is, and each loses at most a lease.
func TestKilled(t *testing.T) {
	storage := &limittest.Memory{}
	const amount, lease, kills = 400_000, 10_000, 10
	key := of(t, limit.Key("a"), `{"tokens":{"amount":400000,"period":"total"}}`)
	spent := int64(0)
	for life := range kills {
		l := limit.New(limit.Options{Storage: storage})
		for range 17 {
			p, e := admit(l, key, nobody, 1100)
			if e != nil {
				t.Fatalf("life %d, after %d tokens: %v", life, spent, e)
			}
			p.Settle(900, 100)
			p.End()
			spent += 1000
		}
		if written, _ := storage.Spent(key.Subject, limit.Total.At(time.Now())); written < spent {
			t.Fatalf("life %d: storage has %d tokens as spent, and %d are", life, written, spent)
		}
	}
	l := limit.New(limit.Options{Storage: storage})
	for {
		p, e := admit(l, key, nobody, 1100)
		if e != nil {
			break
		}
		p.Settle(900, 100)
		p.End()
		spent += 1000
	}
	if spent > amount || spent < amount-kills*lease-1100 {
		t.Errorf("%d tokens let by over %d kills, want at most %d, and no less than a lease each below", spent, kills, amount)
	}
}

// TestClosed gives back what was leased, so that a restart loses nothing.
func TestClosed(t *testing.T) {
	storage := &limittest.Memory{}
	key := of(t, limit.Key("a"), `{"tokens":{"amount":400000,"period":"day"}}`)
	for want := int64(1000); want <= 5000; want += 1000 {
		l := limit.New(limit.Options{Storage: storage})
		p, e := admit(l, key, nobody, 2000)
		if e != nil {
			t.Fatal(e)
		}
		p.Settle(900, 100)
		p.End()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := storage.Spent(key.Subject, limit.Day.At(time.Now())); got != want {
			t.Errorf("storage has %d tokens as spent, want %d", got, want)
		}
	}
	l := limit.New(limit.Options{Storage: storage})
	if _, e := admit(l, key, nobody, 7000); e != nil { // still under way
		t.Fatal(e)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := storage.Spent(key.Subject, limit.Day.At(time.Now())); got != 12000 {
		t.Errorf("storage has %d tokens as spent with an answer under way, want 12000", got)
	}
}

// TestFewWrites spends a whole budget: storage is written to about a hundred times.
func TestFewWrites(t *testing.T) {
	storage := &limittest.Memory{}
	l := limit.New(limit.Options{Storage: storage})
	key := of(t, limit.Key("a"), `{"tokens":{"amount":10000000,"period":"month"}}`)
	for range 9900 {
		p, e := admit(l, key, nobody, 1000)
		if e != nil {
			t.Fatal(e)
		}
		p.Settle(1000, 0)
		p.End()
	}
	if n := storage.Writes(); n > 101 {
		t.Errorf("%d writes for a budget, want about 100", n)
	}
}

// TestStorageFails has nothing let by that could not be written down.
func TestStorageFails(t *testing.T) {
	storage := &limittest.Memory{}
	l := limit.New(limit.Options{Storage: storage})
	key := of(t, limit.Key("a"), `{"parallel":1,"tokens":{"amount":400000,"period":"day"}}`)
	free := of(t, limit.Key("b"), `{"requestsPerMinute":100}`)
	full := errors.New("the disk is full")
	storage.Fail(full)
	var none limit.Pass
	if _, err := l.Admit(&none, key, nobody, 1000); !errors.Is(err, full) {
		t.Errorf("Admit = %v, want the error of storage", err)
	}
	none.TakeBack()
	p, e := admit(l, free, nobody, 1000)
	if e != nil {
		t.Fatalf("a key without a budget: %v", e)
	}
	p.Settle(10, 20)
	p.End()
	if _, err := l.Usage([]limit.Party{free}); !errors.Is(err, full) {
		t.Errorf("Usage = %v, want the error of storage", err)
	}
	storage.Fail(nil)
	usage, err := l.Usage([]limit.Party{free})
	if err != nil || usage[0].Current.Counts != (limit.Counts{Requests: 1, Prompt: 10, Completion: 20}) {
		t.Errorf("usage = %+v, %v; want nothing lost", usage, err)
	}
	if _, e := admit(l, key, nobody, 1000); e != nil {
		t.Fatal(e)
	}
	_, e = admit(l, key, nobody, 1000)
	refused(t, e, apierr.TooManyRequests, time.Second, "1 answers at a time")
}

// TestRun writes down what is counted every ten seconds, and lets meters go that
// nobody uses.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &limittest.Memory{}
		l := limit.New(limit.Options{Storage: storage})
		go l.Run(t.Context())
		key := of(t, limit.Key("a"), `{"requestsPerMinute":5,"tokens":{"amount":400000,"period":"total"}}`)
		p, e := admit(l, key, nobody, 1000)
		if e != nil {
			t.Fatal(e)
		}
		p.Settle(100, 10)
		stored := func() limit.Counts {
			entries := []limit.Entry{{Subject: key.Subject, Span: limit.Total.At(time.Now())}}
			if err := storage.Counts(entries); err != nil {
				t.Fatal(err)
			}
			return entries[0].Counts
		}
		time.Sleep(9 * time.Second)
		if got := stored(); got != (limit.Counts{}) {
			t.Errorf("after 9 s storage has %+v", got)
		}
		time.Sleep(2 * time.Second)
		if got := stored(); got != (limit.Counts{Requests: 1, Prompt: 100, Completion: 10}) {
			t.Errorf("after 11 s storage has %+v", got)
		}
		written := func() int64 {
			n, _ := storage.Spent(key.Subject, limit.Total.At(time.Now()))
			return n
		}
		time.Sleep(time.Hour)
		if n := written(); n != 10000 {
			t.Errorf("storage has %d tokens as spent while an answer is under way, want its lease of 10000", n)
		}
		p.End()
		time.Sleep(time.Minute)
		if n := written(); n != 110 {
			t.Errorf("storage has %d tokens as spent when the meter was let go, want 110", n)
		}
		if p, e = admit(l, key, nobody, 1000); e != nil {
			t.Fatal(e)
		}
		if got := p.State().Tokens.Remaining; got != 400000-110-1000 {
			t.Errorf("%d tokens remain for a meter that was let go", got)
		}
	})
}

func TestForget(t *testing.T) {
	l := limit.New(limit.Options{Storage: &limittest.Memory{}})
	key := of(t, limit.Key("a"), `{"requestsPerMinute":1,"tokens":{"amount":1000,"period":"total"}}`)
	p, e := admit(l, key, nobody, 1000)
	if e != nil {
		t.Fatal(e)
	}
	if err := l.Forget(key.Subject); err != nil {
		t.Fatal(err)
	}
	p.Settle(400, 400) // to nobody
	p.End()
	usage, err := l.Usage([]limit.Party{key})
	if err != nil || usage[0].Current.Counts != (limit.Counts{}) {
		t.Errorf("usage after Forget = %+v, %v", usage, err)
	}
	if _, e = admit(l, key, nobody, 1000); e != nil {
		t.Errorf("a new key of the same uid: %v", e)
	}
}

func TestSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Storage: &limittest.Memory{}})
		counting := of(t, limit.Key("a"), `{"requestsPerMinute":2,"countSearch":true,"tokens":{"amount":1,"period":"day"}}`)
		other := of(t, limit.Key("b"), `{"requestsPerMinute":2}`)
		for range 2 {
			if s, err := l.Search(counting, 1); err != nil || s.Requests.Limit != 2 {
				t.Fatalf("Search = %+v, %v", s, err)
			}
		}
		_, err := l.Search(counting, 1)
		refused(t, apierr.From(err), apierr.TooManyRequests, 30*time.Second, "searches among them")
		for range 5 {
			if s, err := l.Search(other, 1); err != nil || s.InForce() {
				t.Fatalf("Search of a key that does not count them = %+v, %v", s, err)
			}
		}
		usage, err := l.Usage([]limit.Party{counting, other})
		if err != nil || usage[0].Current.Counts != (limit.Counts{Requests: 2, Refused: 1}) || usage[1].Current.Counts != (limit.Counts{}) {
			t.Errorf("usage = %+v, %v", usage, err)
		}
	})
}

// Limits of each client hold for a tenant token, or an address and the network of an
// IPv6 address; what they ask for is counted together.
func TestPerClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &limittest.Memory{}
		l := limit.New(limit.Options{Storage: storage})
		key := of(t, limit.Key("a"), `{"requestsPerMinute":1,"perClient":true,"countSearch":true,"tokens":{"amount":100,"period":"total"}}`)
		workspace := of(t, limit.Workspace("w"), `{"parallel":1,"perClient":true}`)
		from := func(p limit.Party, address, tenant string) limit.Party {
			p.Address, p.Tenant = netip.MustParseAddr(address), tenant
			return p
		}
		ask := func(address, tenant string) *apierr.Error {
			p, e := admit(l, from(key, address, tenant), from(workspace, address, tenant), 60)
			if e == nil {
				p.Settle(30, 30)
				p.End()
			}
			return e
		}
		for _, c := range []struct{ address, tenant string }{{"10.0.0.1", ""}, {"10.0.0.2", ""}, {"10.0.0.1", "t"}, {"2001:db8::1", ""}, {"2001:db8:0:1::1", ""}} {
			if e := ask(c.address, c.tenant); e != nil {
				t.Errorf("first of %v: %v", c, e)
			}
		}
		refused(t, ask("::ffff:10.0.0.1", ""), apierr.TokenBudgetSpent, 0, "The budget of each client of this API key is 100 tokens")
		refused(t, ask("10.0.0.9", "t"), apierr.TokenBudgetSpent, 0, "each client")
		refused(t, ask("2001:db8::2", ""), apierr.TokenBudgetSpent, 0, "each client")
		_, err := l.Search(from(key, "10.0.0.2", ""), 1)
		refused(t, apierr.From(err), apierr.TooManyRequests, time.Minute, "each client of this API key is 1 requests a minute")
		if _, err := l.Search(from(key, "10.0.0.3", ""), 1); err != nil {
			t.Errorf("search of another client: %v", err)
		}
		first, e := admit(l, limit.Party{}, from(workspace, "10.0.0.1", ""), 1)
		if e != nil {
			t.Fatal(e)
		}
		_, e = admit(l, limit.Party{}, from(workspace, "10.0.0.1", ""), 1)
		refused(t, e, apierr.TooManyRequests, time.Second, "each client of the workspace")
		if other, e := admit(l, limit.Party{}, from(workspace, "10.0.0.2", ""), 1); e != nil {
			t.Errorf("another client at the same time: %v", e)
		} else {
			other.End()
		}
		first.End()
		usage, err := l.Usage([]limit.Party{key, workspace})
		if err != nil || usage[0].Current.Counts != (limit.Counts{Requests: 6, Prompt: 150, Completion: 150, Refused: 4}) || usage[1].Current.Counts.Requests != 7 {
			t.Errorf("usage = %+v, %v", usage, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = limit.New(limit.Options{Storage: storage})
		refused(t, ask("10.0.0.1", ""), apierr.TokenBudgetSpent, 0, "40 are left")
	})
}

// A tenant token's limits hold beside those of its key.
func TestTokenLimits(t *testing.T) {
	l := limit.New(limit.Options{Storage: &limittest.Memory{}})
	key := of(t, limit.Key("a"), `{"parallel":4}`)
	token := key
	token.Tenant, token.Token = "t", limit.Limits{Parallel: 1}
	other := token
	other.Tenant = "o"
	for _, p := range []limit.Party{token, other, key} {
		if _, e := admit(l, p, nobody, 1); e != nil {
			t.Fatal(e)
		}
	}
	_, e := admit(l, token, nobody, 1)
	refused(t, e, apierr.TooManyRequests, time.Second, "this tenant token")
	for _, name := range []string{"f", "g"} {
		token.Tenant = name
		_, e = admit(l, token, nobody, 1)
	}
	refused(t, e, apierr.TooManyRequests, time.Second, "this API key is 4 answers")
}

func TestTakeBack(t *testing.T) {
	l := limit.New(limit.Options{Storage: &limittest.Memory{}})
	workspace := of(t, limit.Workspace("w"), `{"requestsPerMinute":1,"parallel":1,"tokens":{"amount":1000,"period":"day"}}`)
	for range 3 {
		p, e := admit(l, nobody, workspace, 1000)
		if e != nil {
			t.Fatal(e)
		}
		p.TakeBack()
	}
	usage, err := l.Usage([]limit.Party{workspace})
	if err != nil || usage[0].Current.Counts != (limit.Counts{}) {
		t.Errorf("usage = %+v, %v", usage, err)
	}
}

func TestUsageOfPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Storage: &limittest.Memory{}})
		key := of(t, limit.Key("a"), `null`)
		for n := range 3 {
			for range n + 1 {
				p, _ := admit(l, key, nobody, 5)
				p.Settle(1, 2)
				p.End()
			}
			time.Sleep(24 * time.Hour)
		}
		p, _ := admit(l, key, nobody, 5)
		p.End()
		usage, err := l.Usage([]limit.Party{key, of(t, limit.Key("b"), `{"tokens":{"amount":9,"period":"total"}}`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := usage[0]; got.Current.Counts != (limit.Counts{Requests: 1}) || got.Previous.Counts != (limit.Counts{Requests: 3, Prompt: 3, Completion: 6}) || got.Current.Span.Start-got.Previous.Span.Start != 24*60*60 {
			t.Errorf("usage = %+v", got)
		}
		if usage[1].Previous.Subject != "" {
			t.Errorf("a total has a span before: %+v", usage[1])
		}
	})
}

// TestManyCounts has more subjects than storage adds at once.
func TestManyCounts(t *testing.T) {
	l := limit.New(limit.Options{Storage: &limittest.Memory{}})
	var parties []limit.Party
	for i := range 2500 {
		key := limit.Party{Subject: limit.Key(strconv.Itoa(i))}
		p, _ := admit(l, key, nobody, 0)
		p.End()
		parties = append(parties, key)
	}
	usage, err := l.Usage(parties)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range usage {
		if u.Current.Counts.Requests != 1 || u.Current.Subject != parties[i].Subject {
			t.Fatalf("usage %d = %+v", i, u)
		}
	}
}

func TestNobodyPays(t *testing.T) {
	var none *limit.Limiter
	for _, l := range []*limit.Limiter{none, limit.New(limit.Options{Storage: &limittest.Memory{}})} {
		p := &limit.Pass{}
		if s, err := l.Admit(p, nobody, nobody, 1<<40); err != nil || s.InForce() {
			t.Errorf("Admit = %+v, %v", s, err)
		}
		p.Round(5)
		p.Settle(1, 2)
		p.TakeBack()
		p.End()
	}
}
