// Package jetstream keeps a cluster's log in a stream of NATS JetStream, and
// carries the beats of its nodes. It owns the client of NATS.
package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-search/parley/host/internal/cluster"
)

// Options are the wishes for a [Log]. URLs and Name are needed.
type Options struct {
	// URLs are of NATS servers, as in nats://host:4222.
	URLs []string
	// Name is of the cluster: letters, digits and hyphens. Clusters of
	// different names share servers.
	Name string
	// Credentials is a file of a user's JWT and key; CA a file of certificates
	// that servers are checked by. Default: none, and those of the system.
	Credentials, CA string
	// Key is that of the cluster, and AcceptsUnsigned whether what has no code is taken
	// for a node's all the same: while the cluster's log has none either. nil: never.
	Key             cluster.Key
	AcceptsUnsigned func() bool
	// Timeout is how long one question or append may take. Default 2 s.
	Timeout time.Duration
	// Event is told of lost and restored connections; default: nobody.
	Event func(msg string, err error)
}

// A Log is a [cluster.Log] in a stream. Safe for concurrent use.
type Log struct {
	o    Options
	conn *nats.Conn
	js   jetstream.JetStream

	unverified atomic.Uint64 // beats that no node of the cluster sent
	readStall  time.Duration // [readStall], but in a test
}

var _ cluster.Log = (*Log)(nil)

var validName = regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`)

// Open connects to one of the servers. Where it cannot be reached any more, or
// not yet, the log connects to another one by itself.
func Open(o Options) (*Log, error) {
	o.Timeout = cmp.Or(o.Timeout, 2*time.Second)
	if o.Event == nil {
		o.Event = func(string, error) {}
	}
	if !validName.MatchString(o.Name) {
		return nil, fmt.Errorf("cluster name %.40q: want 1 to 32 letters, digits and hyphens", o.Name)
	}
	opts := []nats.Option{
		nats.Name("parley " + o.Name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(o.Timeout),
		// A server whose machine is gone says nothing: another one is asked then.
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsLost),
		// What is sent while there is no connection fails at once: stored late, it
		// would only be void.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			if !c.IsClosed() {
				o.Event("the connection to NATS is lost", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Event("connected to NATS at "+c.ConnectedUrlRedacted(), nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Event("NATS reports an error", err) }),
	}
	if o.Credentials != "" {
		opts = append(opts, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	conn, err := nats.Connect(strings.Join(o.URLs, ","), opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(o.Timeout), jetstream.WithPublishAsyncTimeout(forget))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to JetStream: %w", err)
	}
	return &Log{o: o, conn: conn, js: js, readStall: readStall}, nil
}

// pingEvery is how often a server is asked whether it is there, and pingsLost how
// often in a row it may not answer. The client's own are 2 min and 2.
const (
	pingEvery = 2 * time.Second
	pingsLost = 2
)

// forget is when an append without an answer is let go of inside the client. It
// is longer than any wait for an append, see [Log.Append].
const forget = time.Minute

// Close ends the connection.
func (l *Log) Close() { l.conn.Close() }

// why adds to err what keeps the client from connecting: a certificate, or rights.
func (l *Log) why(err error) error {
	if last := l.conn.LastError(); last != nil && !l.conn.IsConnected() {
		return fmt.Errorf("%w: not connected to NATS: %w", err, last)
	}
	return err
}

// Append implements [cluster.Log]. Messages are sent without waiting for each
// other. Each expects the one before, so that where one is lost, those behind it
// are refused; nothing depends on that.
func (l *Log) Append(ctx context.Context, messages [][]byte, last uint64) error {
	if len(messages) == 1 {
		return l.appendOne(ctx, messages[0], last)
	}
	late := time.NewTimer(l.o.Timeout) // with each answer the next one gets as long
	defer late.Stop()
	var acks []jetstream.PubAckFuture
	for i, b := range messages {
		f, err := l.js.PublishMsgAsync(&nats.Msg{Subject: l.subject(), Data: b}, jetstream.WithExpectLastSequence(last+uint64(i)), jetstream.WithRetryAttempts(0))
		if err != nil {
			return fmt.Errorf("message %d: %w", last+uint64(i)+1, err)
		}
		acks = append(acks, f)
	}
	for i, f := range acks {
		want := last + uint64(i) + 1
		select {
		case ack := <-f.Ok():
			if ack.Sequence != want || ack.Stream != l.stream() {
				return fmt.Errorf("message %d: it is %d in stream %s", want, ack.Sequence, ack.Stream)
			}
			late.Reset(l.o.Timeout)
		case err := <-f.Err():
			return fmt.Errorf("message %d: %w", want, err)
		case <-late.C:
			return fmt.Errorf("message %d: no answer for %v", want, l.o.Timeout)
		case <-ctx.Done():
			return fmt.Errorf("message %d: no answer: %w", want, ctx.Err())
		}
	}
	return nil
}

// taken are the codes by which a server refuses a message whose place another one has.
var taken = []jetstream.ErrorCode{jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant}

// sendAgain is how often a message is sent that has no answer yet.
const sendAgain = 250 * time.Millisecond

// appendOne appends one message, and sends it again until somebody answers: while the servers
// elect who leads the stream, nobody takes it, and it is not even said that nobody does where
// somebody else listens to its subject. It cannot count twice, since it is for one place. A server
// refuses what was sent again as soon as an earlier one is under way, which may still be acknowledged,
// or be in the log though its answer was lost: what has the place is looked up.
func (l *Log) appendOne(ctx context.Context, b []byte, last uint64) error {
	want := last + 1
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	answers := make(chan *nats.Msg, 2*l.o.Timeout/sendAgain)
	m := nats.NewMsg(l.subject())
	m.Reply, m.Data = l.conn.NewInbox(), b
	m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(last, 10))
	sub, err := l.conn.ChanSubscribe(m.Reply, answers)
	if err != nil {
		return fmt.Errorf("message %d: %w", want, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // it fails where the connection is closed
	tick := time.NewTicker(sendAgain)
	defer tick.Stop()
	sent, why, refused := 0, error(nil), error(nil)
	send := func() error {
		err := l.conn.PublishMsg(m)
		if errors.Is(err, nats.ErrReconnectBufExceeded) { // there is no connection just now
			why = err
			return nil
		}
		sent++
		return err
	}
	if err := send(); err != nil {
		return fmt.Errorf("message %d: %w", want, err)
	}
	for {
		select {
		case answer := <-answers:
			var ack struct {
				Error *jetstream.APIError
				jetstream.PubAck
			}
			switch err := json.Unmarshal(answer.Data, &ack); {
			case len(answer.Data) == 0:
				why = nats.ErrNoResponders
			case err != nil:
				return fmt.Errorf("message %d: the answer is none: %w", want, err)
			case ack.Error == nil && (ack.Sequence != want || ack.Stream != l.stream()):
				return fmt.Errorf("message %d: it is %d in stream %s", want, ack.Sequence, ack.Stream)
			case ack.Error == nil:
				return nil
			case sent > 1 && slices.Contains(taken, ack.Error.ErrorCode):
				refused = ack.Error
			default:
				return fmt.Errorf("message %d: %w", want, ack.Error)
			}
		case <-tick.C:
			if refused != nil {
				if list := l.look(ctx, want); len(list) > 0 && list[0].Seq == want {
					if bytes.Equal(list[0].Record, b) {
						return nil
					}
					return fmt.Errorf("message %d: %w", want, refused)
				}
			}
			if err := send(); err != nil {
				return fmt.Errorf("message %d: %w", want, err)
			}
		case <-ctx.Done():
			return fmt.Errorf("message %d: no answer: %w", want, cmp.Or(refused, why, ctx.Err()))
		}
	}
}

// look is Read for no longer than one tick of appendOne; none where it fails.
func (l *Log) look(ctx context.Context, from uint64) []cluster.Message {
	ctx, cancel := context.WithTimeout(ctx, sendAgain)
	defer cancel()
	list, err := l.Read(ctx, from)
	if err != nil {
		return nil
	}
	return list
}

// What one question may return.
const (
	batchMessages = 512
	batchBytes    = 8 << 20
)

// Read implements [cluster.Log]. Any replica answers, also while the stream has
// no leader, so no consumer is made.
func (l *Log) Read(ctx context.Context, from uint64) ([]cluster.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	inbox := l.conn.NewInbox()
	sub, err := l.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("read stream %s: %w", l.stream(), err)
	}
	defer func() { _ = sub.Unsubscribe() }() // it fails where the connection is closed
	ask := fmt.Appendf(nil, `{"seq":%d,"batch":%d,"max_bytes":%d}`, from, batchMessages, batchBytes)
	if err := l.conn.PublishRequest("$JS.API.DIRECT.GET."+l.stream(), inbox, ask); err != nil {
		return nil, fmt.Errorf("read stream %s: %w", l.stream(), err)
	}
	var out []cluster.Message
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			if len(out) > 0 {
				return out, nil
			}
			if errors.Is(err, nats.ErrNoResponders) { // nobody has it now, or it is not there at all
				if _, lost := l.info(ctx); errors.Is(lost, ErrNoStream) {
					return nil, lost
				}
			}
			return nil, fmt.Errorf("read stream %s: %w", l.stream(), err)
		}
		switch status := m.Header.Get("Status"); status {
		case "":
		case "204", "404": // the end of the answer; no message from there on
			return out, nil
		default:
			return nil, fmt.Errorf("read stream %s: %s %s", l.stream(), status, m.Header.Get("Description"))
		}
		seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read stream %s: an answer without a sequence", l.stream())
		}
		if want := from + uint64(len(out)); seq != want {
			if len(out) > 0 { // one was dropped on the way: ask again from there
				return out, nil
			}
			return l.first(ctx, cluster.Message{Seq: seq, Record: m.Data}, want)
		}
		out = append(out, cluster.Message{Seq: seq, Record: m.Data})
	}
}

// first returns m, which came in place of an earlier message, where the stream
// begins with it. A message that was dropped on the way looks the same.
func (l *Log) first(ctx context.Context, m cluster.Message, want uint64) ([]cluster.Message, error) {
	info, err := l.info(ctx)
	if err != nil {
		return nil, err
	}
	if info.State.FirstSeq <= want {
		return nil, fmt.Errorf("read stream %s: message %d came in place of %d", l.stream(), m.Seq, want)
	}
	if m.Seq != info.State.FirstSeq {
		return nil, fmt.Errorf("read stream %s: message %d came in place of the first, %d", l.stream(), m.Seq, info.State.FirstSeq)
	}
	return []cluster.Message{m}, nil
}
