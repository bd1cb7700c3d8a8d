package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A simLog does whatever a log may do, by a random source: it ignores what a
// writer expects, loses messages and answers, stores late, cuts nodes off, and
// shows readers less than there is.
type simLog struct {
	r    *rand.Rand
	list [][]byte
	late [][]byte // on their way
	cut  map[int]bool
	c    *coverage

	// between runs while a message is on its way, with the node that sent it.
	between func(node int)
}

// A simEnd is the log as one node has it.
type simEnd struct {
	*simLog
	node int
}

var (
	errNoAnswer = errors.New("no answer")
	errRefused  = errors.New("wrong last sequence")
)

func (e simEnd) Append(_ context.Context, messages [][]byte, last uint64) error {
	l := e.simLog
	if l.cut[e.node] {
		l.c.cut++
		if l.r.IntN(3) == 0 { // they left before the cut, and arrive later
			l.late = append(l.late, messages...)
		}
		return errNoAnswer
	}
	// They are sent without waiting: what becomes of one does not stop those
	// behind it, and others come in between.
	var failed error
	for i, b := range messages {
		if i > 0 && l.r.IntN(3) == 0 {
			l.arrive()
		}
		if between := l.between; l.r.IntN(12) == 0 {
			l.between = func(int) {}
			between(e.node)
			l.between = between
		}
		if uint64(len(l.list)) != last+uint64(i) {
			failed = errRefused
			if l.r.IntN(2) == 0 {
				l.c.ignored++
				l.list = append(l.list, b)
			}
			continue
		}
		switch l.r.IntN(24) {
		case 0: // lost on the way
			l.c.dropped++
			failed = errNoAnswer
			continue
		case 1: // on its way
			l.late = append(l.late, b)
			failed = errNoAnswer
			continue
		case 2: // stored, and the answer is lost
			l.c.unanswered++
			failed = errNoAnswer
		}
		l.list = append(l.list, b)
	}
	return failed
}

// arrive stores a message that was late, whatever it expected.
func (l *simLog) arrive() {
	if len(l.late) > 0 {
		i := l.r.IntN(len(l.late))
		l.list = append(l.list, l.late[i])
		l.late = slices.Delete(l.late, i, i+1)
		l.c.late++
	}
}

func (e simEnd) Read(_ context.Context, from uint64) (out []Message, err error) {
	l := e.simLog
	if l.cut[e.node] {
		return nil, errNoAnswer
	}
	end := uint64(len(l.list))
	if l.r.IntN(4) == 0 && end > 0 { // a replica that is behind
		end = l.r.Uint64N(end + 1)
		l.c.stale++
	}
	for s := from; s <= end && len(out) < 7; s++ {
		out = append(out, Message{s, l.list[s-1]})
	}
	return out, nil
}

// A simDB is a database that fails when it is told to.
type simDB struct {
	at   Position
	data map[string]string
	full bool
}

var errFull = fmt.Errorf("%w: the disk is full", ErrNoRoom)

func (d *simDB) Position() (Position, error) { return d.at, nil }

func (d *simDB) Apply(p Position, ops []Op) error {
	if d.full {
		return errFull
	}
	d.at = p
	for _, o := range ops {
		switch o.Kind {
		case OpSet, OpSetUntil:
			d.data[string(o.Key)] = string(o.Value)
		case OpDelete:
			delete(d.data, string(o.Key))
		case OpDeletePrefix:
			maps.DeleteFunc(d.data, func(k, _ string) bool { return strings.HasPrefix(k, string(o.Key)) })
		}
	}
	return nil
}

// A coverage counts what a simulation came upon.
type coverage struct {
	acked, ackedParts, refused, lost, found, unknown  int
	cut, ignored, dropped, unanswered, late, stale    int
	claims, terms, races, raced, resigned, crashes    int
	full, void, voidParts, restarts, deletes          int
	emptied, restored, otherLog, diverged             int
	stray, foreign, unsigned, again, altered, earlier int
}

// enough fails the test where the simulation did not come upon what it is for:
// a simulation that never wrote in parts passes as well.
func (c *coverage) enough(t *testing.T, seeds int) {
	t.Helper()
	for what, got := range map[string]struct{ n, each100 int }{
		"acknowledged writes":                    {c.acked, 2500},
		"acknowledged writes in parts":           {c.ackedParts, 300},
		"writes refused by a follower":           {c.refused, 1000},
		"writes that were lost":                  {c.lost, 100},
		"writes found in the log, unanswered":    {c.found, 100},
		"writes whose caller never knew":         {c.unknown, 20},
		"calls of nodes that were cut off":       {c.cut, 80},
		"messages stored against what they want": {c.ignored, 100},
		"messages dropped":                       {c.dropped, 100},
		"answers lost":                           {c.unanswered, 100},
		"messages stored late":                   {c.late, 100},
		"reads of a replica that is behind":      {c.stale, 2000},
		"terms":                                  {c.terms, 400},
		"claims while something was on its way":  {c.races, 50},
		"claims that came second":                {c.raced, 30},
		"resignations":                           {c.resigned, 30},
		"crashes":                                {c.crashes, 400},
		"crashes while parts were held":          {c.restarts, 5},
		"disks that were full":                   {c.full, 20},
		"void messages":                          {c.void, 400},
		"parts behind something else":            {c.voidParts, 15},
		"deletions of a prefix":                  {c.deletes, 200},
		"stray messages":                         {c.stray, 100},
		"records of another cluster":             {c.foreign, 100},
		"records without a code":                 {c.unsigned, 50},
		"records that somebody wrote again":      {c.again, 100},
		"records that somebody changed":          {c.altered, 100},
		"records of an earlier log":              {c.earlier, 100},
		"streams made again empty":               {c.emptied, 5},
		"streams restored from a copy":           {c.restored, 5},
		"nodes halted by another log":            {c.otherLog, 10},
		"nodes halted since the log diverged":    {c.diverged, 10},
	} {
		if want := max(1, got.each100*seeds/100); got.n < want {
			t.Errorf("the simulation covered too little: %d %s, want %d or more of %d seeds", got.n, what, want, seeds)
		}
	}
}

// A simulation is three nodes on a log that misbehaves, and a fourth for a
// stream that was made again.
type simulation struct {
	r     *rand.Rand
	log   *simLog
	c     *coverage
	nodes []*Node
	dbs   []*simDB

	fence  fold // its switches
	writes []*simWrite
}

type simWrite struct {
	key     string
	parts   bool
	node    int
	attempt *attempt
	err     error
	known   bool
	crashed bool // its caller is gone
}

const simPart = 100

// Keys of the nodes, and of somebody who has no part in the cluster.
var simKey, foreignKey = Key("of the simulation"), Key("of somebody else")

// begun reports whether the log has a claim that counts.
func (l *simLog) begun() bool {
	for i, b := range l.list {
		if r, err := DecodeRecord(b, simKey); err == nil && r.Signed() && r.Kind == KindClaim && r.Prev == uint64(i) {
			return true
		}
	}
	return false
}

// intrude has somebody who reaches the log put there what he can make: texts, what the nodes
// wrote, and records that would fit if they had the cluster's code.
func (s *simulation) intrude() {
	l, n := s.log, s.nodes[s.r.IntN(len(s.nodes))]
	f := &n.fold
	r := Record{Format: Format, Kind: KindTxn, Log: f.Log, Term: f.Term, N: f.N + 1, Prev: uint64(len(l.list)), Chain: f.Chain, Data: []byte("\x03\x00")} // delete all
	if s.r.IntN(2) == 0 {
		r.Kind, r.Term, r.N, r.Data = KindClaim, f.Term+1, 0, []byte(`{"id":"intruder","url":"http://127.0.0.1:1"}`)
	}
	var b []byte
	switch s.r.IntN(6) {
	case 0:
		s.c.stray++
		b = make([]byte, s.r.IntN(120))
		for i := range b {
			b[i] = byte(s.r.Uint32())
		}
	case 1:
		s.c.foreign++
		b = r.Encode(foreignKey)
	case 2:
		if f.Format() < formatSigned {
			return // such a log has no codes
		}
		s.c.unsigned++
		r.Format = 1
		b = r.Encode(nil)
	case 3:
		if len(l.list) == 0 {
			return
		}
		s.c.again++
		b = l.list[s.r.IntN(len(l.list))]
	case 4:
		if len(l.list) == 0 {
			return
		}
		s.c.altered++
		b = bytes.Clone(l.list[s.r.IntN(len(l.list))])
		if len(b) < headLen+sumLen {
			return
		}
		binary.BigEndian.PutUint64(b[2+4*8:], r.Prev) // for this place
		b[s.r.IntN(len(b)-sumLen)] ^= 1 << s.r.IntN(8)
		b = binary.BigEndian.AppendUint32(b[:len(b)-sumLen], crc32.Checksum(b[:len(b)-sumLen], castagnoli))
	case 5: // what a node of the cluster wrote for this place, when it had another log
		if !l.begun() {
			return // the first record that counts decides which log it is
		}
		s.c.earlier++
		r.Log, r.Chain = 1, s.r.Uint64()
		b = r.Encode(simKey)
	}
	l.list = append(l.list, b)
}

func newSimulation(seed uint64, c *coverage, fence fold) *simulation {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &simulation{r: r, c: c, fence: fence}
	s.log = &simLog{r: r, cut: map[int]bool{}, c: c}
	s.log.between = s.race
	for range 3 {
		s.add()
	}
	return s
}

func (s *simulation) add() {
	s.nodes, s.dbs = append(s.nodes, nil), append(s.dbs, &simDB{data: map[string]string{}})
	s.open(len(s.nodes) - 1)
}

// open starts a node on its database: all that was in memory is gone.
func (s *simulation) open(i int) {
	if old := s.nodes[i]; old != nil {
		s.count(old)
		if old.fold.held > 0 {
			s.c.restarts++
		}
		for _, w := range s.writes {
			w.crashed = w.crashed || w.node == i && !w.known
		}
	}
	n, err := Open(Options{Begins: true, Key: simKey, ID: "n" + strconv.Itoa(i), Log: simEnd{s.log, i}, Database: s.dbs[i]})
	if err != nil {
		panic(err) // a simDB has no such error
	}
	n.fold.partLen, n.fold.unplaced, n.fold.unfenced, n.random = simPart, s.fence.unplaced, s.fence.unfenced, s.r.Uint64
	s.nodes[i] = n
}

func (s *simulation) count(n *Node) {
	s.c.void += int(n.counts.Void)
	s.c.claims += int(n.counts.Claims)
	s.c.terms += int(n.counts.Terms)
}

// race has another node than the given one claim.
func (s *simulation) race(node int) {
	i := s.r.IntN(len(s.nodes))
	if n := s.nodes[i]; i != node && n.halted == nil && !n.leading {
		s.c.races++
		_ = n.claim(context.Background())
	}
}

// step has one node do something, or the log.
func (s *simulation) step() {
	i := s.r.IntN(len(s.nodes))
	n, ctx := s.nodes[i], context.Background()
	can := n.halted == nil
	switch s.r.IntN(14) {
	case 0, 1:
		if can {
			_ = n.readOn(ctx) // as a leader does, too, that asks whether the log is there
		}
	case 2:
		if can && !n.leading {
			_ = n.claim(ctx)
		}
	case 3:
		if s.r.IntN(4) == 0 {
			s.c.crashes++
			s.dbs[i].full = false
			s.open(i)
		}
	case 4:
		s.log.arrive()
		if s.r.IntN(3) == 0 {
			s.intrude()
		}
	case 5:
		s.log.cut[s.r.IntN(3)] = s.r.IntN(3) == 0
	case 6:
		switch s.r.IntN(8) {
		case 0:
			if n.leading {
				s.c.resigned++
				_ = n.HandOver(ctx)
			}
		case 1:
			if s.dbs[i].full {
				s.dbs[i].full = false // without a new start
			} else if s.r.IntN(8) == 0 {
				s.c.full++
				s.dbs[i].full = true
			}
		}
	default:
		// Whoever thinks that it leads, more often than not.
		if leader := slices.IndexFunc(s.nodes, func(n *Node) bool { return n.leading }); leader >= 0 && s.r.IntN(4) > 0 {
			i = leader
		}
		s.write(i)
	}
	s.settle()
}

// write has a node write a key beside a counter that every write raises: so a
// transaction that did not see the one before it is found out.
func (s *simulation) write(i int) {
	n, db := s.nodes[i], s.dbs[i]
	w := &simWrite{key: fmt.Sprintf("u/%05d", len(s.writes)), node: i}
	size := 10
	if s.r.IntN(6) == 0 {
		size, w.parts = 5*simPart/2, true
	}
	deletes := s.r.IntN(10) == 0
	a, err := n.append(context.Background(), func() ([]Op, error) {
		total, _ := strconv.Atoi(db.data["c/total"])
		number := strconv.Itoa(total + 1)
		list := []Op{
			{Kind: OpSet, Key: []byte(w.key), Value: []byte(number)},
			{Kind: OpSet, Key: []byte("pad/" + w.key), Value: bytes.Repeat([]byte{'x'}, size)},
			{Kind: OpSet, Key: []byte("c/total"), Value: []byte(number)},
			{Kind: OpSet, Key: []byte("last/" + w.key), Value: []byte(number)},
		}
		if deletes {
			s.c.deletes++
			list = append([]Op{{Kind: OpDeletePrefix, Key: []byte("last/")}}, list...)
		}
		return list, nil
	})
	w.attempt, w.err, w.known = a, err, a == nil
	s.writes = append(s.writes, w)
}

// settle takes the outcomes that the log has told, and compares the nodes that
// are equally far.
func (s *simulation) settle() {
	for _, w := range s.writes {
		if w.known || w.crashed {
			continue
		}
		select {
		case <-w.attempt.done:
			w.known, w.err = true, w.attempt.err
			if w.err == nil {
				s.c.found++
			}
		default:
		}
	}
}

// diverged names two nodes that are equally far and not equal, neither of which
// knows that something is wrong.
func (s *simulation) diverged() error {
	for i, a := range s.dbs {
		for j, b := range s.dbs[:i] {
			if s.nodes[i].halted != nil || s.nodes[j].halted != nil || a.at.Seq != b.at.Seq {
				continue
			}
			if a.at != b.at {
				return fmt.Errorf("at message %d, %+v and %+v", a.at.Seq, a.at, b.at)
			}
			if !maps.Equal(a.data, b.data) {
				return fmt.Errorf("at message %d, nodes %d and %d have different data", a.at.Seq, i, j)
			}
		}
	}
	return nil
}

// peace ends all harm: what is late arrives, one node leads, all read to the
// end.
func (s *simulation) peace() error {
	clear(s.log.cut)
	for len(s.log.late) > 0 {
		s.log.arrive()
	}
	for _, db := range s.dbs {
		db.full = false
	}
	ctx := context.Background()
	for range 2000 {
		level, leads := true, false
		for _, n := range s.nodes {
			if n.halted == nil {
				_ = n.readOn(ctx)
			}
			// One that has more than a log that was made again cannot get level.
			level = level && (n.halted != nil || int(n.fold.Seq) >= len(s.log.list))
			leads = leads || n.leading && n.halted == nil && int(n.fold.Seq) == len(s.log.list)
		}
		s.settle()
		if level && leads {
			return nil
		}
		if n := s.nodes[s.r.IntN(len(s.nodes))]; !leads && n.halted == nil && s.r.IntN(4) == 0 {
			_ = n.claim(ctx)
		}
		if !slices.ContainsFunc(s.nodes, func(n *Node) bool { return n.halted == nil }) {
			return nil
		}
	}
	return errors.New("nobody leads, or somebody is behind, after 2,000 rounds without harm")
}

// check compares what callers were told with what the nodes have.
func (s *simulation) check() error {
	var errs []error
	for i, n := range s.nodes {
		if n.halted != nil {
			errs = append(errs, fmt.Errorf("node %d is halted: %w", i, n.halted))
		}
	}
	if err := s.diverged(); err != nil {
		errs = append(errs, err)
	}
	data := s.dbs[0].data
	numbers, there := map[string]string{}, 0
	for _, w := range s.writes {
		number, is := data[w.key]
		if _, pad := data["pad/"+w.key]; is != pad {
			errs = append(errs, fmt.Errorf("%s: half of a transaction", w.key))
		}
		if is {
			there++
			if other := numbers[number]; other != "" {
				errs = append(errs, fmt.Errorf("%s and %s are both number %s: one did not see the other", w.key, other, number))
			}
			numbers[number] = w.key
		}
		switch {
		case w.crashed || !w.known:
			s.c.unknown++
		case w.err == nil:
			s.c.acked++
			if w.parts {
				s.c.ackedParts++
			}
			if !is {
				errs = append(errs, fmt.Errorf("%s was acknowledged and is gone", w.key))
			}
		case errors.Is(w.err, ErrNotLeader), errors.Is(w.err, ErrLost):
			if errors.Is(w.err, ErrLost) {
				s.c.lost++
			} else {
				s.c.refused++
			}
			if is {
				errs = append(errs, fmt.Errorf("%s was refused (%w) and is there", w.key, w.err))
			}
		case errors.Is(w.err, ErrUnknown):
			s.c.unknown++
		default:
			errs = append(errs, fmt.Errorf("%s: %w", w.key, w.err))
		}
	}
	if total, _ := strconv.Atoi(data["c/total"]); total != there {
		errs = append(errs, fmt.Errorf("%d writes are there and the counter is at %d", there, total))
	}
	return errors.Join(errs...)
}

// quarrels counts how the log's void messages came about, by reading it anew.
func (s *simulation) quarrels() {
	f := fold{partLen: simPart, key: simKey}
	for i, b := range s.log.list {
		step, err := f.judge(uint64(i+1), b)
		if err != nil {
			return
		}
		if r := step.record; step.meaning == meansNothing {
			if r.Kind == KindClaim && r.Term == f.Term {
				s.c.raced++
			}
			if r.Prev == uint64(i) {
				s.c.voidParts++
			}
		}
		f.advance(&step)
	}
}

func (s *simulation) run() error {
	for range 600 {
		s.step()
		if err := s.diverged(); err != nil {
			return err
		}
	}
	if err := s.peace(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	s.quarrels()
	for _, n := range s.nodes {
		s.count(n)
	}
	return nil
}

// runAgain makes the stream again below the nodes: empty, or as a copy of some
// time before had it. Nodes may halt then. None may take the other log's records
// for its own, and say nothing.
func (s *simulation) runAgain() error {
	keep := 0
	if s.r.IntN(2) == 0 {
		s.c.emptied++
	} else {
		s.c.restored++
		keep = s.r.IntN(len(s.log.list))
	}
	before := len(s.log.list)
	s.log.list = slices.Clip(s.log.list[:keep])
	s.add() // a node without data, which may claim
	s.writes = nil
	for range 2 * before {
		s.step()
	}
	// Past every place that a node of before has seen, and one record more.
	fresh := len(s.nodes) - 1
	for range 4000 {
		if err := s.peace(); err != nil {
			return err
		}
		if s.nodes[fresh].halted != nil || len(s.log.list) > before+20 {
			break
		}
		for i, n := range s.nodes {
			if n.leading {
				s.write(i)
			}
		}
	}
	if err := s.peace(); err != nil {
		return err
	}
	for i, n := range s.nodes {
		switch {
		case errors.Is(n.halted, ErrOtherLog):
			s.c.otherLog++
		case errors.Is(n.halted, ErrDiverged):
			s.c.diverged++
		case n.halted != nil:
			return fmt.Errorf("node %d is halted by %w", i, n.halted)
		}
	}
	return s.diverged()
}

func (s *simulation) String() string {
	var b strings.Builder
	for i, n := range s.nodes {
		fmt.Fprintf(&b, "node %d: %+v leading %v halted %v\n", i, n.stored, n.leading, n.halted)
	}
	return b.String()
}

// seeds is how many simulations a test runs.
func seeds(short int) int {
	if n, err := strconv.Atoi(os.Getenv("SEEDS")); err == nil {
		return n
	}
	if os.Getenv("LONG") != "" {
		return 20 * short
	}
	return short
}

// TestSim: whatever the log does, what was acknowledged is on all nodes, what
// was refused is on none, transactions are whole and in one order, and nodes
// that took the same messages are equal.
func TestSim(t *testing.T) {
	c, n := new(coverage), seeds(500)
	for seed := range uint64(n) {
		s := newSimulation(seed+1, c, fold{})
		if err := s.run(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed+1, err, s)
		}
		if seed%5 == 0 {
			if err := s.runAgain(); err != nil {
				t.Fatalf("seed %d, on a stream made again: %v\n%v", seed+1, err, s)
			}
		}
	}
	c.enough(t, n)
	t.Logf("%+v", *c)
}

// TestSimUnfenced: the same simulation finds what is wrong where nodes trust the
// log to check what writers expect, and where they do not look at the place that
// a record was written for.
func TestSimUnfenced(t *testing.T) {
	for name, tt := range map[string]struct {
		fence fold
		want  []string
	}{
		"no fence": {fold{unfenced: true}, []string{"was refused", "did not see the other"}},
		"no place": {fold{unplaced: true}, []string{"the sum of the records before"}},
	} {
		found := map[string]int{}
		for seed := range uint64(60) {
			err := newSimulation(seed+1, new(coverage), tt.fence).run()
			for _, what := range tt.want {
				if err != nil && strings.Contains(err.Error(), what) {
					found[what]++
				}
			}
		}
		t.Logf("%s: %v", name, found)
		if len(found) < len(tt.want) {
			t.Errorf("%s: 60 simulations found %v, want each of %q", name, found, tt.want)
		}
	}
}
