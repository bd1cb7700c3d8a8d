//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A harm is what one round does to a cluster. It returns what ends it, in order.
type harm struct {
	what   string
	weight int
	do     func(s *storm) (undo []func())
}

// harms are all that a round may do.
func harms() []harm {
	any := func(s *storm) int { return s.rng.IntN(len(s.nodes)) }
	all := func(s *storm) (list []int) {
		for i := range s.nodes {
			list = append(list, i)
		}
		return list
	}
	return []harm{
		{"kill the leader", 2, func(s *storm) []func() { return s.harmNodes(kill, s.leader()) }},
		{"stop the leader", 1, func(s *storm) []func() { return s.harmNodes(suspend, s.leader()) }},
		{"end the leader by a signal, and start it", 1, func(s *storm) []func() { return s.endNode(s.leader()) }},
		{"kill a node", 1, func(s *storm) []func() { return s.harmNodes(kill, any(s)) }},
		{"stop a node", 1, func(s *storm) []func() { return s.harmNodes(suspend, any(s)) }},
		{"end a node by a signal, and start it", 1, func(s *storm) []func() { return s.endNode(any(s)) }},
		{"kill a server of NATS", 1, func(s *storm) []func() { return []func(){kill(s.nats[any(s)])} }},
		{"stop a server of NATS", 1, func(s *storm) []func() { return []func(){suspend(s.nats[any(s)])} }},
		{"kill the leader and a server of NATS", 1, func(s *storm) []func() {
			return append([]func(){kill(s.nats[any(s)])}, s.harmNodes(kill, s.leader())...)
		}},
		{"kill all nodes and most servers of NATS", 1, func(s *storm) (undo []func()) {
			one := any(s)
			for i := range len(s.nats)/2 + 1 {
				undo = append(undo, kill(s.nats[(one+i)%len(s.nats)]))
			}
			return append(undo, s.harmNodes(kill, all(s)...)...)
		}},
		{"cut the leader off", 1, func(s *storm) []func() {
			at := s.leader()
			return s.cut(s.toNode[at], s.toNATS[at]...)
		}},
		{"cut a node off", 1, func(s *storm) []func() {
			at := any(s)
			return s.cut(s.toNode[at], s.toNATS[at]...)
		}},
		{"cut the leader off from NATS", 1, func(s *storm) []func() { return s.cut(nil, s.toNATS[s.leader()]...) }},
		{"cut a server of NATS off from the others, with a node", 1, (*storm).split},
		{"fill the disk of a node", 1, (*storm).fill},
		{"start a node that runs", 1, func(s *storm) []func() { s.startAgain(any(s)); return nil }},
		{"empty the directory of a node", 1, func(s *storm) []func() {
			at := any(s)
			s.hit(at)
			s.nodes[at].signal(syscall.SIGKILL)
			s.empty(s.dirs[at])
			return []func(){s.nodes[at].start, func() { s.ready(at) }}
		}},
		{"begin the cluster anew with a backup", 1, (*storm).restore},
	}
}

func suspend(p *process) func() {
	p.signal(syscall.SIGSTOP)
	return func() { p.signal(syscall.SIGCONT) }
}

func kill(p *process) func() {
	p.signal(syscall.SIGKILL)
	return p.start
}

func terminate(p *process) func() {
	p.signal(syscall.SIGTERM)
	return p.start
}

// endNode ends a node by a signal, which writes the chats under way to their end first.
func (s *storm) endNode(node int) (undo []func()) {
	s.signaled[node].Store(s.harmed[node].Load() + 1)
	return s.harmNodes(terminate, node)
}

// harmNodes does one thing to nodes, and has each be waited for in the end.
func (s *storm) harmNodes(how func(*process) func(), nodes ...int) (undo []func()) {
	for _, i := range nodes {
		s.hit(i)
		undo = append(undo, how(s.nodes[i]))
	}
	for _, i := range nodes {
		undo = append(undo, func() { s.ready(i) })
	}
	return undo
}

// cut has nothing pass some gates: connections end, or nothing arrives any more and
// nobody is told.
func (s *storm) cut(one *gate, more ...*gate) []func() {
	gates := more
	if one != nil {
		gates = append([]*gate{one}, more...)
	}
	how := ends
	if s.rng.IntN(2) == 0 {
		how = waits
	}
	for _, g := range gates {
		g.set(how)
	}
	return []func(){func() {
		for _, g := range gates {
			g.set(passes)
		}
	}}
}

// split cuts a server of NATS off from the others, with a node on its side: each side
// sees only itself.
func (s *storm) split() []func() {
	at := s.rng.IntN(len(s.nats))
	var gates []*gate
	for i := range s.nats {
		if i != at {
			gates = append(gates, s.routes[at][i], s.routes[i][at], s.toNATS[at][i], s.toNATS[i][at])
		}
	}
	return s.cut(s.toNode[at], gates...)
}

// restore has the cluster begin anew with a backup of what it has: one node is made of the backup,
// each of the others joins it without data or over what it has. Nothing is written meanwhile, so
// that all that was acknowledged is in the backup.
func (s *storm) restore() []func() {
	s.quiet.Lock()
	defer s.quiet.Unlock()
	s.level()
	began, first := time.Now(), s.rng.IntN(len(s.nodes))
	file := filepath.Join(s.t.TempDir(), "backup")
	s.command(first, "cluster", "snapshot", "--url", s.urls[first])
	s.command(first, "cluster", "backup", file)
	for i := range s.nodes {
		s.hit(i)
		s.nodes[i].signal(syscall.SIGTERM)
	}
	waittest.For(s.t, "the stream is deleted", func() bool {
		answer, err := s.askStream("DELETE")
		return err == nil && strings.Contains(string(answer), `"success":true`)
	})
	s.command(first, "cluster", "create", "--replicas", strconv.Itoa(len(s.nats)))
	s.empty(s.dirs[first])
	s.command(first, "cluster", "restore", file)
	s.nodes[first].start()
	waittest.For(s.t, "the node of the backup leads", func() bool { c, ok := s.see(first); return ok && c.Node.Role == "leader" })
	s.command(first, "cluster", "snapshot", "--url", s.urls[first])
	for i := range s.nodes {
		if i == first {
			continue
		}
		if s.rng.IntN(2) == 0 {
			s.empty(s.dirs[i])
		} else {
			s.command(i, "cluster", "join", "--replace")
		}
		s.nodes[i].start()
	}
	for i := range s.nodes {
		s.ready(i)
	}
	s.t.Logf("the cluster began anew with a backup within %v", time.Since(began).Round(10*time.Millisecond))
	return nil
}

// command runs one of the program with the options of a node.
func (s *storm) command(node int, args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), waittest.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, s.program, args...)
	c.Env = s.nodes[node].env
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("parley %s with the options of node %d: %v\n%s", strings.Join(args, " "), node, err, out)
	}
}

// startAgain starts a node's program once more over its files: it has to end, and to be in
// nobody's way.
func (s *storm) startAgain(node int) {
	ctx, cancel := context.WithTimeout(s.t.Context(), waittest.Patience)
	defer cancel()
	again := exec.CommandContext(ctx, s.nodes[node].program, s.nodes[node].args...)
	again.Env = s.nodes[node].env
	if out, err := again.CombinedOutput(); err == nil || ctx.Err() != nil || !strings.Contains(string(out), "in use") {
		s.t.Errorf("a second start of node %d: %v, %s; want an error that says what is in use", node, err, out)
	}
}

// empty removes all that a directory has.
func (s *storm) empty(dir string) {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// fill fills the disk of the node that has one of its own. Once there is room again, it goes on
// by itself: its /health is right all the while.
func (s *storm) fill() []func() {
	at, file := s.disk, filepath.Join(s.dirs[s.disk], "filler")
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.dirs[at], &disk); err != nil {
		s.t.Fatal(err)
	}
	free := int64(disk.Bavail) * int64(disk.Bsize)
	if out, err := exec.Command("fallocate", "-l", strconv.FormatInt(free-fillTo, 10), file).CombinedOutput(); err != nil {
		s.t.Fatalf("fill the disk of node %d: %v %s", at, err, out)
	}
	return []func(){func() {
		if err := os.Remove(file); err != nil {
			s.t.Fatal(err)
		}
		if status, b, err := s.call(at, "GET", "/health", ""); status != 200 {
			s.t.Errorf("the /health of node %d, whose disk was full, says %d %.200s %v", at, status, b, err)
		}
		s.ready(at)
	}}
}

// round does one thing to the cluster, and returns what, and how long writes took
// until one was acknowledged that began later.
func (s *storm) round() (what string, gap time.Duration) {
	pause := time.Duration(500+s.rng.IntN(5500)) * time.Millisecond
	list, sum := harms(), 0
	for i := range list {
		if strings.HasPrefix(list[i].what, "fill") && s.disk < 0 {
			list[i].weight = 0
		}
		sum += list[i].weight
	}
	var chosen harm
	for n := s.rng.IntN(sum); n >= 0; n -= chosen.weight {
		chosen, list = list[0], list[1:]
	}
	at := time.Now()
	undo := chosen.do(s)
	time.Sleep(pause)
	for _, f := range undo {
		f()
	}
	if !s.acknowledged(at) {
		s.logNodes()
		s.t.Fatalf("after %q no write is acknowledged", chosen.what)
	}
	return chosen.what, s.gap(at)
}

// rest has nobody write until all nodes have the same and no task waits: what is accepted is
// applied also where no later write comes.
func (s *storm) rest() {
	s.t.Helper()
	s.quiet.Lock()
	defer s.quiet.Unlock()
	s.level()
}

// level waits until all nodes have the same and no task waits, while nobody writes.
func (s *storm) level() {
	s.t.Helper()
	var behind string
	if !waittest.Until(func() bool { behind = s.behind(); return behind == "" }) {
		s.logNodes()
		s.t.Fatalf("not all nodes are level, or a task waits: %s", behind)
	}
}

// acknowledged waits until a write was acknowledged that began after a time.
func (s *storm) acknowledged(at time.Time) bool {
	return waittest.Until(func() bool { return s.gap(at) > 0 })
}

// gap returns how long after a time the first write was acknowledged that began behind
// it; 0: none was yet.
func (s *storm) gap(at time.Time) (gap time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.acks) {
		if a.at.Before(at) {
			break
		}
		if a.began.After(at) {
			gap = a.at.Sub(at)
		}
	}
	return gap
}

// streamLeader returns which server of NATS leads the cluster's stream; a drawn one
// where nobody says.
func (s *storm) streamLeader() int {
	answer, err := s.askStream("INFO")
	var info struct{ Cluster struct{ Leader string } }
	if err == nil && json.Unmarshal(answer, &info) == nil {
		if n, err := strconv.Atoi(strings.TrimPrefix(info.Cluster.Leader, "nats-")); err == nil {
			return n
		}
	}
	return s.rng.IntN(len(s.nats))
}

// askStream asks the servers of NATS for INFO of the cluster's stream, or to DELETE it, and
// returns the first answer.
func (s *storm) askStream(what string) (answer []byte, err error) {
	for _, addr := range s.ports {
		var conn *nats.Conn
		if conn, err = nats.Connect("nats://"+addr, nats.Timeout(time.Second)); err != nil {
			continue
		}
		var m *nats.Msg
		m, err = conn.Request("$JS.API.STREAM."+what+".PARLEY_"+stormCluster+"_LOG", nil, 5*time.Second)
		conn.Close()
		if err == nil {
			return m.Data, nil
		}
	}
	return nil, err
}
