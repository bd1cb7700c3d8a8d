package chat

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/secret"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/limit"
)

// A ChunkWriter takes an answer's frames.
type ChunkWriter interface {
	// WriteFrame takes one or more whole frames, each with its blank line.
	// The bytes are good within the call only. An error ends the answer.
	WriteFrame(frames []byte) error
	// Flush sends what was written on to the client. It is called after all
	// frames that came of one read from the provider, also where there are none.
	Flush() error
}

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
	Chunks         int           // written for the client
	FirstWord      time.Time     // when it was there; zero where the answer has none
	Usage          abi.Usage
	HasUsage       bool
	Finish         string        // the reason sent to the client; empty where the answer failed
	Cancelled      bool          // the client left
	Err            *apierr.Error // the failure; its cause is for the log
	SearchErr      error         // the first failure of a search that was not the model's doing
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

	caller *auth.Caller
	link        // the same in all rounds, whatever is swapped meanwhile
	held   held // the link's source

	pass   limit.Pass // who pays
	limits limit.State
	// admitted: the next round is paid for.
	admitted bool
	standIn  standIn
	mayMove  bool  // there was one to begin with
	most     int64 // tokens that the request lets each round say; 0: it does not say

	talk    conversation
	tools   tools
	usage   bool // the client is told of it
	options Options
	found   []citable // by the searches so far, where citations are wanted
	said    []byte    // the text of all rounds, as far as it is needed
	sent    int       // bytes of what the provider was asked, and of
	heard   int       // what it answered
	spoke   bool      // the client was sent a part of the answer's text

	render  *renderer
	round   round
	carry   []string         // for the last messages with calls: of earlier answers, and of the rounds before
	model   string           // that is asked
	noKey   *secret.Scrubber // for texts of this answer to begin with
	texts   [3]secret.Stream // of answerTexts
	members memberScrub      // of what is passed on as it was said
	broken  error            // what ends the answer behind the frames that Start made
	spare   *spareBuffers
	buffers *buffers // nil while a waits
	outcome Outcome
}

// WriteFirst writes what Start waited for: where the client waits for nothing but
// that, before anything else is seen to. Call WriteTo next, which has its error.
func (a *Answer) WriteFirst(w ChunkWriter) {
	if err := a.write(w); err != nil {
		a.broken = err
	}
}

// WriteTo writes the answer's frames, until it is whole or has failed: both
// end with [DONE], and WriteTo returns nil. It returns an error where the
// client has left, or the context given to Start was cancelled.
func (a *Answer) WriteTo(w ChunkWriter) error {
	if a.taken.Swap(true) {
		a.outcome.Cancelled = true
		return a.ctx.Err()
	}
	defer a.rest()
	defer a.end()
	defer a.Close()
	for {
		if err := a.stream(w); err != nil {
			return a.fail(w, err)
		}
		again, err := a.conclude(w)
		if err == nil && again {
			err = a.open()
			for err != nil && a.fallBack(err) {
				err = a.open()
			}
		}
		if err != nil {
			return a.fail(w, err)
		}
		if !again {
			return nil
		}
	}
}

// Close ends the answer wherever it is, and the provider's request with it.
// It may be called more than once and from any goroutine.
func (a *Answer) Close() {
	a.limit.Stop()
	a.cancel(nil)
	a.held.letGo()
	if !a.taken.Swap(true) {
		a.endRound(a.ctx.Err())
		a.pass.End()
	}
}

// Outcome says what became of the answer, once WriteTo has returned.
func (a *Answer) Outcome() Outcome {
	o := a.outcome
	o.Chunks = a.render.chunks
	if a.workspace.NamesModel(a.model) {
		o.Model = a.model
	}
	return o
}

// stream renders one round as it comes.
func (a *Answer) stream(w ChunkWriter) (err error) {
	defer func() { a.endRound(err) }()
	broken := a.broken
	a.broken = nil
	for {
		// What came before a failure was said and is sent.
		if err := a.write(w); err != nil {
			return err
		}
		if broken != nil {
			return broken
		}
		if a.round.ended {
			break
		}
		records, err := a.next()
		if err != nil {
			return err
		}
		broken = a.play(records)
	}
	a.endTexts()
	if a.round.finish == "" {
		return apierr.Newf(chaterr.LLMProviderError, "The provider's answer broke off: its stream ended without saying that it was finished. Ask again.")
	}
	return nil
}

// conclude does what a round's end asks for: end the answer, or answer the
// model's calls, so that another round can follow.
func (a *Answer) conclude(w ChunkWriter) (again bool, err error) {
	rd := &a.round
	if rd.hasUsage {
		a.addUsage(rd.usage)
	}
	internal, client := rd.split()
	if err := a.tellCarry(w, len(internal)); err != nil {
		return false, err
	}
	if len(internal) > 0 && !rd.truncated(internal) {
		if client == 0 && a.outcome.Rounds >= a.deps.Limits.Rounds {
			return false, apierr.Newf(chaterr.ChatTooManyRounds,
				"The model still asked for searches after %d rounds, so that the answer was ended: ask something narrower, or start the host with a higher --chat-max-rounds.", a.outcome.Rounds)
		}
		if err := a.answerCalls(w, internal); err != nil {
			return false, err
		}
		// A turn that calls the client's functions too ends with them: only the
		// client can answer those, and the model takes up no turn in part.
		if client == 0 {
			return true, nil
		}
	}
	return false, a.finish(w, client > 0)
}

// write hands over the frames rendered so far.
func (a *Answer) write(w ChunkWriter) error {
	var err error
	if len(a.render.out) > 0 {
		err = w.WriteFrame(a.render.out)
		a.render.out = a.render.out[:0]
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return &clientLeft{err}
	}
	return nil
}

// estimate counts tokens where the provider does not: about one in four bytes.
func (a *Answer) estimate() abi.Usage {
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
