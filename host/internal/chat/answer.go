package chat

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// An Outcome is what became of an answer: numbers and names only, never
// content. For logs and metrics.
type Outcome struct {
	Workspace      string     // that answered
	FellBack       []FellBack // the ones before it
	Source         string
	Model          string // that was asked, where the workspace's settings name it; else empty
	Plugin         string
	PluginVersion  string
	Messages       int      // of the request
	Lost           []string // what it asked for and did not get, by the workspace's rules
	Rounds         int      // requests to the provider, retries not counted
	Retries        int
	Searches       int // internal ones, failed ones included
	FailedSearches int
	EmptySearches  int           // that found nothing and did not fail
	SearchTime     time.Duration // of all searches, added up
	Chunks         int           // of what was sent, see [Sink]
	FirstWord      time.Time     // when it was there; zero where the answer has none
	Usage          abi.Usage
	HasUsage       bool
	Finish         string        // the reason sent to the client; empty where the answer failed
	Cancelled      bool          // the client left
	Err            *apierr.Error // the failure; its cause is for the log
	SearchErr      error         // the first failure of a search that was not the model's doing
	Guards         []GuardCount  // what guards did, by guard, stage and label
}

// attempted notes what is known of an answer that t is to give.
func (o *Outcome) attempted(t *attempt) {
	o.Workspace, o.Source, o.Plugin, o.PluginVersion, o.Lost = t.workspace.UID, t.workspace.Source, t.manifest.Name, t.manifest.Version, t.lost
}

// An Answer is a chat completion under way. It pulls: nothing is read from the
// provider that was not written to the client before. Not safe for concurrent
// use, but for Close.
type Answer struct {
	deps   *Deps
	ctx    context.Context // ends the answer; lives as long as it does
	cancel context.CancelCauseFunc
	limit  *time.Timer // of the answer's time
	taken  atomic.Bool // by WriteTo, or by Close before it

	asked Request // without its messages, tools, fields and carries
	attempt
	held held // the attempt's plugin

	pass   limit.Pass // who pays
	limits limit.State
	// admitted: the next round is paid for.
	admitted bool
	standIn  standIn
	mayMove  bool // there was one to begin with

	talk      conversation
	forming   bool // the round to come is for the format that others could not ask for
	tools     tools
	usage     bool      // the client gets it
	counted   []byte    // an object of what providers count beside tokens, of all rounds
	found     []citable // by the searches so far
	questions [2]string // the user's last message and the one before, as long as calls are answered
	said      []byte    // the text of all rounds, as far as it is needed
	hash      uint64    // of all of it
	sent      int       // bytes of what the provider was asked, and of
	heard     int       // what it answered
	spoke     bool      // the sink was given a part of the answer: text, a refusal, a call

	sink      Sink   // nil until WriteTo
	first     []byte // records that Start waited for
	named     string // the model's name, until the provider names its own
	created   int64  // in seconds
	clients   int    // calls of the client's functions so far
	round     round
	guards    *guarded    // nil: none
	guardedBy []guard.Use // the workspace's own of them
	broken    error       // what ends the answer behind what WriteFirst sent
	spare     *spareBuffers
	buffers   *buffers // nil while a waits
	outcome   Outcome
}

// WriteFirst gives s what Start waited for: where the client waits for nothing but
// that, before anything else is seen to. Call WriteTo next, which has its error.
func (a *Answer) WriteFirst(s Sink) {
	a.beginSink(s)
	a.broken = a.playFirst()
	if err := a.flushSink(); err != nil {
		a.broken = err
	}
}

// WriteTo gives s the answer, until it is whole or has failed, and returns nil in
// both cases. It returns an error where the client has left, or the context given
// to Start was cancelled.
func (a *Answer) WriteTo(s Sink) error {
	if a.taken.Swap(true) {
		a.outcome.Cancelled = true
		return a.ctx.Err()
	}
	defer a.guards.letGo()
	defer a.returnBuffers()
	defer a.endLimits()
	defer a.Close()
	defer a.drainRound()
	a.beginSink(s)
	for {
		again, err := false, a.playRound()
		if err == nil {
			again, err = a.concludeRound()
		}
		if err == nil && !again {
			return nil
		}
		if err == nil {
			err = a.openRound()
		}
		for err != nil && (a.adaptToModel(err) || a.fallBack(err)) {
			err = a.openRound()
		}
		if err != nil {
			return a.failAnswer(err)
		}
		a.learnAdapted()
	}
}

// Close ends the answer wherever it is, and the provider's request with it.
// It may be called more than once and from any goroutine.
func (a *Answer) Close() {
	a.limit.Stop()
	a.cancel(nil)
	taken := a.taken.Swap(true)
	if !taken {
		a.callOff()
	}
	a.held.letGo()
	if !taken {
		if a.first != nil { // it may say what it costs
			a.beginSink(Discard{})
			_ = a.playFirst()
		}
		a.endRound(a.ctx.Err())
		a.pass.End()
		a.guards.letGo()
	}
}

// Outcome is what became of the answer, once WriteTo has returned.
func (a *Answer) Outcome() Outcome {
	o := a.outcome
	if a.sink != nil {
		o.Chunks = a.sink.Sent()
	}
	if a.guards != nil {
		o.Guards = a.guards.made
	}
	if a.workspace.NamesModel(a.model) {
		o.Model = a.model
	}
	return o
}

// beginSink begins the answer of s, once.
func (a *Answer) beginSink(s Sink) {
	if a.sink == nil {
		a.sink = s
		if a.guards != nil {
			a.sink = &guardedSink{Sink: s, g: a.guards, keep: a.keepSaid, seal: a.sealedDetails}
		}
		s.Begin(Head{Created: a.created, Model: a.named})
		a.tellBeforehand()
	}
}

// playFirst plays what Start waited for, once.
func (a *Answer) playFirst() error {
	records := a.first
	a.first = nil
	return a.playRecords(records)
}

// playRound passes one round on as it comes.
func (a *Answer) playRound() (err error) {
	defer func() { a.endRound(err) }()
	broken := a.broken
	a.broken = nil
	if broken == nil && a.first != nil {
		broken = a.playFirst()
	}
	for {
		// What came before a failure was said and is sent.
		if err := a.flushSink(); err != nil {
			return err
		}
		if err := a.guards.blockError(); err != nil {
			return err
		}
		if broken != nil {
			return broken
		}
		if a.round.again != nil {
			broken = a.openStep()
			continue
		}
		if a.round.ended {
			break
		}
		records, err := a.nextRecords()
		if err != nil {
			return err
		}
		broken = a.playRecords(records)
	}
	a.endTexts()
	if err := a.guards.blockError(); err != nil {
		return err
	}
	if a.round.finish == "" {
		return a.pluginError(&provider.CallError{
			Kind:    provider.Fault,
			Message: fmt.Sprintf("the plugin %s %s wrote neither finish nor error", a.manifest.Name, a.manifest.Version),
		})
	}
	return nil
}

// concludeRound does what a round's end asks for: end the answer, or answer the
// model's calls, so that another round can follow.
func (a *Answer) concludeRound() (again bool, err error) {
	rd := &a.round
	if rd.hasUsage {
		a.addUsage(rd.usage)
		a.counted = addCounts(a.counted, rd.counted)
	}
	internal, client := rd.split()
	a.tellCarry(len(internal))
	if err := a.guards.blockError(); err != nil {
		return false, err
	}
	if len(internal) > 0 && !rd.truncated(internal) {
		if client == 0 && a.outcome.Rounds >= a.maxRounds() {
			if rd.last && len(rd.text) > 0 {
				return false, a.finishAnswer(false)
			}
			return false, apierr.Newf(chaterr.ChatTooManyRounds,
				"The model still asked for searches after %d rounds, so that the answer was ended: ask something narrower, or raise the workspace's `maxRounds` or the host's --chat-max-rounds.", a.outcome.Rounds)
		}
		if err := a.answerCalls(internal); err != nil {
			return false, err
		}
		// A turn that calls the client's functions too ends with them: only the
		// client can answer those, and the model takes up no turn in part.
		if client == 0 {
			return true, nil
		}
	}
	if a.waitsForFormat() {
		if client == 0 && (rd.finish == "stop" || rd.finish == "tool_calls") {
			a.askForFormat()
			return true, nil
		}
		a.sayHeldText()
	}
	return false, a.finishAnswer(client > 0)
}

// maxRounds is how many requests the answer may take.
func (a *Answer) maxRounds() int {
	return min(cmp.Or(a.workspace.MaxRounds, workspace.DefaultRounds), a.deps.Limits.Rounds)
}

// isLast reports whether the round to come is the last one, which is for an answer
// alone.
func (a *Answer) isLast() bool {
	return a.forming || a.talk.before != nil || len(a.talk.indexes) > 0 && a.outcome.Rounds+1 >= a.maxRounds()
}

// waitsForFormat reports whether the round's text is a draft: one more round turns it into
// the response format that was asked for.
func (a *Answer) waitsForFormat() bool { return a.talk.format != nil && !a.round.last }

// askForFormat prepares the round for the format.
func (a *Answer) askForFormat() {
	a.forming = true
	if a.talk.answered = len(a.round.text) > 0; a.talk.answered {
		a.talk.addMessage(response.AppendMessage(nil, a.round.text, &response.Said{}, nil))
		a.carry.texts = append(a.carry.texts, base64.StdEncoding.EncodeToString(a.round.carry))
	}
}

// sayHeldText passes on a text that waited for its format: the round ended otherwise.
func (a *Answer) sayHeldText() {
	if text := a.round.held; len(text) > 0 {
		a.rememberText(text)
		a.noteSpoken()
		a.sink.Text(Content, text, nil)
	}
}

// flushSink has the sink send on what it has.
func (a *Answer) flushSink() error {
	if err := a.sink.Flush(); err != nil {
		return &clientLeft{err}
	}
	return nil
}

// estimateUsage counts tokens where the provider does not: about one in four bytes.
func (a *Answer) estimateUsage() abi.Usage {
	u := abi.Usage{Prompt: uint64(a.sent+3) / 4, Completion: uint64(a.heard+3) / 4}
	u.Total = u.Prompt + u.Completion
	return u
}

func (a *Answer) addUsage(u abi.Usage) {
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	sum := &a.outcome.Usage
	sum.Prompt += u.Prompt
	sum.Completion += u.Completion
	sum.Total += u.Total
	sum.Cached += u.Cached
	sum.Reasoning += u.Reasoning
	a.outcome.HasUsage = true
}
