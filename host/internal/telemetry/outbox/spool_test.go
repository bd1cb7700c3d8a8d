package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/telemetry"
)

var spoolTime = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func openSpool(t testing.TB, dir string) *Spool {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

func message(id string, size int) telemetry.Message {
	return telemetry.Message{ID: id, Collector: "a", Version: "1.0.0", Window: 7, Outbound: true, Body: bytes.Repeat([]byte("x"), size)}
}

func pending(t testing.TB, s *Spool) (ids []string) {
	t.Helper()
	all, err := s.Pending(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	return ids
}

func keep(t testing.TB, s *Spool, state string, now time.Time, add ...telemetry.Message) {
	t.Helper()
	if err := s.Keep(t.Context(), []byte(state), add, now); err != nil {
		t.Fatal(err)
	}
}

func TestSpool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	s := openSpool(t, dir)
	if got, err := s.State(t.Context()); got != nil || err != nil {
		t.Errorf("State of a new spool = %q, %v, want none", got, err)
	}
	keep(t, s, "one", spoolTime, message("a", 5), message("b", 5000), message("c", 7))
	if err := s.Quarantine(t.Context(), "b", spoolTime.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), []string{"a", "nobody"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openSpool(t, dir)
	if got, err := s.State(t.Context()); string(got) != "one" || err != nil {
		t.Errorf("State after opening again = %q, %v, want one", got, err)
	}
	keep(t, s, "two", spoolTime, message("d", 9))
	if got, want := fmt.Sprint(pending(t, s)), "[c d]"; got != want {
		t.Errorf("Pending = %s, want %s", got, want)
	}
	all, err := s.Pending(t.Context(), 1)
	if err != nil || len(all) != 1 || !bytes.Equal(all[0].Body, message("c", 7).Body) || all[0].Window != 7 || !all[0].Outbound {
		t.Errorf("Pending of one = %+v, %v, want c as it was kept", all, err)
	}
	u, err := s.Usage(t.Context())
	if want := (telemetry.Usage{Pending: 2, Quarantined: 1, Bytes: 5016}); u != want || err != nil {
		t.Errorf("Usage = %+v, %v, want %+v", u, err, want)
	}
	keep(t, s, "three", spoolTime.Add(2*time.Hour)) // b's time is over
	if u, _ = s.Usage(t.Context()); u.Quarantined != 0 || u.Dropped != 1 {
		t.Errorf("Usage after a quarantine = %+v, want none in it and one dropped", u)
	}
}

// TestSpoolBounds drops the oldest by size and by age, and counts them.
func TestBounds(t *testing.T) {
	s := openSpool(t, filepath.Join(t.TempDir(), "telemetry"))
	for i := range 12 {
		keep(t, s, "s", spoolTime.Add(time.Duration(i)*time.Minute), message(fmt.Sprint(i), 1<<20))
	}
	if got, want := fmt.Sprint(pending(t, s)), "[2 3 4 5 6 7 8 9 10 11]"; got != want {
		t.Errorf("Pending = %s, want the last 10 MiB: %s", got, want)
	}
	keep(t, s, "s", spoolTime.Add(MaxAge+10*time.Minute+time.Second))
	if got, want := fmt.Sprint(pending(t, s)), "[11]"; got != want {
		t.Errorf("Pending after a week = %s, want %s", got, want)
	}
	if u, _ := s.Usage(t.Context()); u.Dropped != 11 {
		t.Errorf("Usage = %+v, want 11 dropped", u)
	}
}

// TestSpoolRenew makes an empty spool anew that has grown, and loses nothing
// that counts.
func TestRenew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	s := openSpool(t, dir)
	s.dirBound = 8 << 20
	for i := range 8 {
		keep(t, s, fmt.Sprint("state ", i), spoolTime, message(fmt.Sprint(i), 1<<20))
	}
	if err := s.Delete(t.Context(), []string{"0", "1", "2", "3", "4", "5", "6"}); err != nil {
		t.Fatal(err)
	}
	if got := s.dirSize(); got < s.dirBound {
		t.Fatalf("the folder has %d bytes with a message in it, want it not renewed", got)
	}
	if err := s.Delete(t.Context(), []string{"7"}); err != nil {
		t.Fatal(err)
	}
	if got := s.dirSize(); got > s.dirBound {
		t.Errorf("the folder has %d bytes after it was renewed, want less than %d", got, s.dirBound)
	}
	if got, err := s.State(t.Context()); string(got) != "state 7" || err != nil {
		t.Errorf("State = %q, %v, want state 7", got, err)
	}
	keep(t, s, "more", spoolTime, message("x", 3))
	if got := fmt.Sprint(pending(t, s)); got != "[x]" {
		t.Errorf("Pending = %s, want [x]", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// A crash between the two folders.
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	s = openSpool(t, dir)
	if got := fmt.Sprint(pending(t, s)); got != "[x]" {
		t.Errorf("Pending after a crash while it was renewed = %s, want [x]", got)
	}
}

// TestSpoolPast keeps windows after their messages are delivered, local ones
// too, and deliveries; both are bounded.
func TestPast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	s := openSpool(t, dir)
	for w := range uint64(60) {
		a, mine := message(fmt.Sprint("a", w), 100), message(fmt.Sprint("mine", w), 100)
		a.Window, mine.Window, mine.Outbound = w+1, w+1, false
		keep(t, s, "s", spoolTime.Add(time.Duration(w)*time.Hour), a, mine)
		if err := s.Delete(t.Context(), []string{a.ID}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxDeliveries + 10 {
		if err := s.Note(t.Context(), telemetry.Delivery{Bytes: i, Messages: []telemetry.Delivered{{ID: "a"}}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		all, err := s.Windows(t.Context(), 1000)
		if err != nil || len(all) != maxWindows || all[0].Number != 60 || all[len(all)-1].Number != 60-maxWindows+1 {
			t.Fatalf("%s: %d windows, %v, want the last %d, the newest first", when, len(all), err, maxWindows)
		}
		if w := all[0]; len(w.Messages) != 2 || w.Messages[0].ID != "a59" || w.Messages[1].ID != "mine59" || !w.Sealed.Equal(spoolTime.Add(59*time.Hour)) {
			t.Errorf("%s: the last window is %+v, want both messages in their order", when, w)
		}
		if all, err = s.Windows(t.Context(), 2); err != nil || len(all) != 2 || all[1].Number != 59 {
			t.Errorf("%s: Windows(2) = %d of them, %v, want 60 and 59", when, len(all), err)
		}
		noted, err := s.Deliveries(t.Context())
		if err != nil || len(noted) != maxDeliveries || noted[0].Bytes != 10 || noted[0].Messages[0].ID != "a" {
			t.Errorf("%s: %d deliveries, %v, want the last %d", when, len(noted), err, maxDeliveries)
		}
	}
	check("at once")
	if err := s.renew(); err != nil {
		t.Fatal(err)
	}
	check("after it was made anew")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openSpool(t, dir)
	check("after it was opened again")
	var large []telemetry.Message
	for i := range maxPastBytes / telemetry.MaxMessage {
		m := message(fmt.Sprint("large", i), telemetry.MaxMessage)
		m.Window = 61
		large = append(large, m)
	}
	keep(t, s, "s", spoolTime.Add(61*time.Hour), append(large, message("small", 4000))...)
	if all, err := s.Windows(t.Context(), 1000); err != nil || len(all) != 1 {
		t.Errorf("%d windows beside one of 4 MiB, %v, want it alone, whose bytes are the bound", len(all), err)
	}
}

// TestSpoolLarge keeps more in one step than Badger puts into a transaction:
// the largest window there is, and a state.
func TestLarge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	s := openSpool(t, dir)
	var all []telemetry.Message
	for i := range 40 {
		all = append(all, message(fmt.Sprint(i), telemetry.MaxMessage))
	}
	keep(t, s, strings.Repeat("x", 500_000), spoolTime, all...)
	if got := len(pending(t, s)); got != 40 {
		t.Errorf("%d messages are pending, want 40", got)
	}
	// A crash before the last step: what was written does not count.
	if err := s.lay([]spooled{{Message: message("crashed", 9)}}, []spooled{{Message: message("crashed", 9)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openSpool(t, dir)
	if got := len(pending(t, s)); got != 40 {
		t.Errorf("%d messages are pending after a crash, want the 40 that were sealed", got)
	}
	keep(t, s, "", spoolTime, message("after", 9))
	if got := pending(t, s); len(got) != 41 || got[40] != "after" {
		t.Errorf("pending: %q, want the new one in place of the one that crashed", got)
	}
}

// TestSpoolNoSpace: nothing is written to a disk that is nearly full, and all
// goes on once there is room.
func TestNoSpace(t *testing.T) {
	s := openSpool(t, filepath.Join(t.TempDir(), "telemetry"))
	keep(t, s, "one", spoolTime, message("a", 5))
	s.free = func() (uint64, error) { return reserve - 1, nil }
	for what, err := range map[string]error{
		"Keep":       s.Keep(t.Context(), []byte("two"), []telemetry.Message{message("b", 5)}, spoolTime),
		"Delete":     s.Delete(t.Context(), []string{"a"}),
		"Quarantine": s.Quarantine(t.Context(), "a", spoolTime),
		"Note":       s.Note(t.Context(), telemetry.Delivery{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "only 16 MiB left") {
			t.Errorf("%s on a full disk: %v, want what is left", what, err)
		}
	}
	if state, err := s.State(t.Context()); string(state) != "one" || fmt.Sprint(pending(t, s)) != "[a]" {
		t.Errorf("on a full disk the state is %q, %v, and %q are pending, want what was there", state, err, pending(t, s))
	}
	s.free = func() (uint64, error) { return reserve, nil }
	keep(t, s, "two", spoolTime, message("b", 5))
	if got := fmt.Sprint(pending(t, s)); got != "[a b]" {
		t.Errorf("pending: %s, want [a b]", got)
	}
}

// TestHours seals hour after hour, delivering all, and looks at the disk:
// it stays small for ever. HOURS says how many; without it there are as many as
// write four times what may lie there.
func TestHours(t *testing.T) {
	t.Parallel()
	hours := 250
	if testing.Short() {
		hours = 25
	}
	if s := os.Getenv("HOURS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("HOURS=%q: want a number", s)
		}
		hours = n
	}
	s := openSpool(t, filepath.Join(t.TempDir(), "telemetry"))
	var most int64
	for h := range hours {
		now := spoolTime.Add(time.Duration(h) * time.Hour)
		var ids []string
		for c := range 7 {
			id := fmt.Sprintf("%d-%d", h, c)
			ids = append(ids, id)
			m := message(id, 2000)
			m.Window = uint64(h)
			keep(t, s, strings.Repeat(id, 20000), now, m)
		}
		if err := s.Delete(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		if h%50 == 0 {
			most = max(most, s.dirSize())
		}
	}
	if most > 2*maxDirBytes {
		t.Errorf("the folder had %d bytes at most, want no more than %d", most, 2*maxDirBytes)
	}
	t.Logf("%d hours: at most %d KiB on disk, %d KiB at the end", hours, most>>10, s.dirSize()>>10)
}

// TestEpoch shows that each spool has an epoch of its own, which it keeps as long as it is
// there.
func TestEpoch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	epoch := func(then func(*Spool) error) string {
		t.Helper()
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		e := s.Epoch()
		if err := errors.Join(then(s), s.Close()); err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := epoch(func(*Spool) error { return nil })
	if again := epoch((*Spool).renew); again != first || first == "" {
		t.Errorf("the epoch is %q, and was %q", again, first)
	}
	if again := epoch((*Spool).Empty); again != first {
		t.Errorf("the epoch after a renewal is %q, want %q", again, first)
	}
	second := epoch(func(*Spool) error { return os.RemoveAll(filepath.Join(dir, "nothing")) })
	if second == first || second == "" {
		t.Errorf("the epoch of a spool that was emptied is %q, as before", second)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if third := epoch(func(*Spool) error { return nil }); third == second || third == "" {
		t.Errorf("the epoch of a spool that was removed is %q, as before", third)
	}
}

// TestSpoolDamaged: a spool that cannot be read is set aside, and a new one is begun.
func TestSpoolDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Epoch()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables: %v, %v, want some", tables, err)
	}
	if err := os.WriteFile(tables[0], make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Damage == nil || s.Epoch() == before || s.Epoch() == "" {
		t.Errorf("damage %v, epoch %q after %q, want a damage and another epoch", s.Damage, s.Epoch(), before)
	}
	if _, err := os.Stat(filepath.Join(dir+".damaged", filepath.Base(tables[0]))); err != nil {
		t.Errorf("the damaged spool: %v", err)
	}
}
