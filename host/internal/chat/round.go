package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/abi/pattern"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

const (
	// maxErrorBody is how much of a refusal a plugin gets to see.
	maxErrorBody = 64 << 10
	// lingering is how long a provider may take to end its response after
	// [DONE]: to wait a little leaves the connection fit for the next request.
	lingering = 100 * time.Millisecond
	// maxRoundText bounds what is kept of a round's text for the next round.
	maxRoundText = 4 << 20
	// maxBatch is how many bytes of events one decode call gets, unless a
	// single event has more: what the network put together is no reason to go
	// over what a plugin's memory bears.
	maxBatch = 256 << 10
)

// A round is one request to the provider, or several steps of a plugin that asks again.
// Its slices are used again in the next one.
type round struct {
	steps
	in       abi.EncodeRequest // of the request under way
	response outbound.Response // nil for a reply
	reply    *string
	waiting  []abi.Event // read and not decoded
	done     bool        // the last event that was read is [DONE]
	last     bool        // no tools were offered
	begun    bool        // decode was called
	ended    bool        // decode was called for the last time
	state    []byte
	pattern  pattern.Matcher // of events that need no call of decode
	tells    bool            // the plugin has sent one
	text     []byte
	held     []byte        // text that is said once it has its format
	hash     uint64        // of the text that the client gets
	said     response.Said // beside it
	carry    []byte
	calls    []call
	finish   string
	usage    abi.Usage
	hasUsage bool
	counted  []byte // an object of what else it counts, or nothing
	sent     int    // bytes of the request
	heard    int    // bytes of the answer before it
	settled  bool   // it is paid for
	trace    tracedRound
}

// openRound begins the next round. It returns with a response that is a success, or a
// reply.
func (a *Answer) openRound() error {
	a.drainRound()
	rd := &a.round
	if a.talk.before != nil {
		if err := a.searchBeforehand(); err != nil {
			return err
		}
	}
	if a.sink != nil {
		a.sink.BeginRound()
	}
	rd.said.Reset()
	*rd = round{last: a.isLast(), hash: hashNone, said: rd.said, state: rd.state[:0], text: rd.text[:0], carry: rd.carry[:0], calls: rd.calls[:0]}
	rd.steps.taken = manifest.Has(a.manifest, abi.FeatureAgain)
	rd.in = abi.EncodeRequest{
		Settings: a.workspace.PluginSettings(a.manifest),
		Options:  a.workspace.GuestOptions(a.manifest),
		Chat:     a.talk.roundBody(a.outcome.Rounds, rd.last),
		Round:    a.outcome.Rounds,
		Carry:    a.carry.calls, TextCarry: a.carry.texts,
	}
	if a.deps.RequestOf != nil && manifest.Has(a.manifest, abi.FeatureRequestID) {
		rd.in.RequestID = a.deps.RequestOf(a.ctx)
	}
	a.outcome.Rounds++
	a.sent += len(rd.in.Chat)
	rd.sent, rd.heard = len(rd.in.Chat), a.heard
	if err := a.reserveTokens(len(rd.in.Chat)); err != nil {
		return err
	}
	a.beginTrace()
	err := a.openResponse()
	if !rd.steps.taken {
		rd.in = abi.EncodeRequest{} // it may be long, and no step needs it
	}
	return err
}

// openResponse has the plugin describe the round's request, and sends it: again once
// where nothing came of it. It returns with a response that is a success, or a reply.
func (a *Answer) openResponse() error {
	in := &a.round.in
	for {
		again, err := a.sendRound(in)
		wait := a.deps.Limits.RetryDelay
		if e, ok := errors.AsType[*apierr.Error](err); ok && a.waitsFor(e, in.Attempt) {
			again, wait = true, max(wait, e.RetryAfter)
		}
		if !again {
			return err
		}
		select {
		case <-time.After(wait):
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
		in.Attempt++
		a.outcome.Retries++
	}
}

// maxWait is how long an answer waits where a provider asks for patience.
const maxWait = 10 * time.Second

// waitsFor reports whether a round waits out e, a provider's limit, and asks once
// more: where rounds before it would be lost, and the client has no text yet.
func (a *Answer) waitsFor(e *apierr.Error, attempt int) bool {
	return e.Code == chaterr.LLMProviderRateLimited && a.outcome.Rounds > 1 && !a.spoke && attempt == 0 &&
		e.RetryAfter > 0 && e.RetryAfter <= maxWait && a.ctx.Err() == nil
}

// sendRound asks the provider once. again: it may be asked once more.
func (a *Answer) sendRound(in *abi.EncodeRequest) (again bool, err error) {
	out, err := a.encodeRequest(in)
	if err != nil {
		return false, a.pluginError(err)
	}
	if out.Reply != nil {
		a.round.reply = out.Reply
		return false, nil
	}
	response, err := a.sendRequest(out)
	if err != nil {
		up, ok := errors.AsType[*outbound.Error](err)
		// Broken before its head is a connection error too: the provider has
		// not said a word yet.
		again = ok && (up.Retryable || up.Kind == outbound.Broken)
		return again && in.Attempt == 0 && a.ctx.Err() == nil, err
	}
	status := response.Status()
	if status/100 == 2 {
		a.round.response = response
		return false, nil
	}
	body := response.Body(maxErrorBody)
	_ = response.Close()
	if status == http.StatusServiceUnavailable && len(bytes.TrimSpace(body)) == 0 && in.Attempt == 0 {
		return true, nil
	}
	return false, a.explainRefusal(status, response.Header(), body)
}

// encodeRequest has the plugin describe the request.
func (a *Answer) encodeRequest(in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	_, step := a.deps.step(a.round.trace.ctx, stepEncode)
	out, err := a.source.Encode(a.ctx, in)
	step.End(err)
	return out, err
}

// sendRequest sends what the plugin described, and waits for the response's head.
func (a *Answer) sendRequest(out *abi.EncodeResponse) (outbound.Response, error) {
	_, step := a.deps.step(a.round.trace.ctx, stepRequest)
	request, err := a.outgoingRequest(out)
	if err != nil {
		step.End(err)
		return nil, err
	}
	request.Round = a.outcome.Rounds - 1 // openRound has counted it
	response, err := a.deps.Upstream.Do(a.ctx, request)
	if err == nil {
		step.Number("http.response.status_code", response.Status())
	}
	step.End(err)
	return response, err
}

// nextRecords reads what the provider has sent and returns the records that it
// decodes to, good until the next call. Once the round has ended, it must not
// be called again.
func (a *Answer) nextRecords() ([]byte, error) {
	rd := &a.round
	if rd.reply != nil {
		return a.decodeEvents([]abi.Event{{Data: []byte(*rd.reply)}}, true)
	}
	if len(rd.waiting) > 0 {
		return a.decodeBatch()
	}
	a.returnBuffers()
	events, err := rd.response.Next()
	last := false
	if err != nil {
		if ctxErr := a.ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		// After its last word, how a response ends is no matter.
		last = errors.Is(err, io.EOF) || rd.finish != ""
		if !last {
			return a.decodeBroken(err)
		}
	}
	rd.done = len(events) > 0 && string(events[len(events)-1].Data) == "[DONE]"
	if last || len(events) == 0 {
		return a.decodeEvents(events, last)
	}
	rd.waiting = events
	return a.decodeBatch()
}

// decodeBroken ends a response that broke off with cause, which is the error unless the
// plugin has seen the answer's end: some servers close the connection behind it.
func (a *Answer) decodeBroken(cause error) ([]byte, error) {
	records, err := a.decodeEvents(nil, true)
	for rest := records; err == nil; {
		r, after, ok, malformed := abi.NextRecord(rest)
		if malformed != nil || !ok || r.Kind == abi.RecordError {
			break
		}
		if r.Kind == abi.RecordFinish {
			return records, nil
		}
		rest = after
	}
	return nil, cause
}

// decodeBatch decodes the first of the events that wait.
func (a *Answer) decodeBatch() ([]byte, error) {
	events, n := a.round.waiting, 1
	for size := len(events[0].Data); n < len(events); n++ {
		if size += len(events[n].Data); size > maxBatch {
			break
		}
	}
	a.round.waiting = events[n:]
	return a.decodeEvents(events[:n], a.round.done && n == len(events))
}

// firstEvents is how many events a call gets behind which the plugin may send a
// pattern: more of a kind that the host can make records of would be decoded.
const firstEvents = 4

// decodeEvents turns events into records: those that are of the round's pattern by
// that, and the others by the plugin, whose state travels.
func (a *Answer) decodeEvents(events []abi.Event, last bool) ([]byte, error) {
	rd, b := &a.round, a.takeBuffers()
	b.records = b.records[:0]
	for {
		matched, rest := rd.pattern.AppendRecords(b.records, events)
		b.records = matched
		if len(events) > 0 && len(rest) == 0 && !last {
			return matched, nil
		}
		now := len(rest)
		if !rd.begun || rd.tells {
			now = min(now, firstEvents)
		}
		records, err := a.callDecode(b, rest[:now], last && now == len(rest))
		if err != nil {
			return nil, err
		}
		if now == len(rest) && len(b.records) == 0 {
			return records, nil
		}
		b.records = append(b.records, records...)
		if now == len(rest) || rd.again != nil {
			return b.records, nil
		}
		events = rest[now:]
	}
}

// callDecode has the plugin turn events into records.
func (a *Answer) callDecode(b *buffers, events []abi.Event, last bool) ([]byte, error) {
	rd := &a.round
	flags := byte(abi.FlagPatterns)
	if !rd.begun {
		flags |= abi.FlagFirst
	}
	if last {
		flags |= abi.FlagLast
	}
	rd.begun, rd.ended = true, last
	events = rd.pattern.BeginCall(events)
	b.in = slices.Grow(b.in[:0], inputSize(rd.state, events))
	b.in = abi.AppendDecodeInput(b.in, rd.state, flags, events)
	out, err := a.decodeTraced(b.in, b.out[:0])
	if err != nil {
		return nil, a.pluginError(err)
	}
	b.out = out
	state, records, err := abi.DecodeOutput(out)
	if err != nil {
		return nil, a.pluginError(fmt.Errorf("read decode output: %w", err))
	}
	rd.state = append(rd.state[:0], state...)
	told, err := rd.pattern.LearnFrom(records)
	if err != nil {
		return nil, a.pluginError(fmt.Errorf("read record: %w", err))
	}
	rd.tells = rd.tells || told
	if rd.steps.taken {
		if records, err = rd.takeSteps(records); err != nil {
			return nil, a.pluginError(fmt.Errorf("read record: %w", err))
		}
	}
	return records, nil
}

// inputSize is about what a decode call's input needs, so that it grows at once
// and not field by field.
func inputSize(state []byte, events []abi.Event) int {
	n := 16 + len(state)
	for _, e := range events {
		n += 8 + len(e.Type) + len(e.Data)
	}
	return n
}

// endRound lets the round's response go, unless drainRound is to; err is why it failed.
// It may be called more than once.
func (a *Answer) endRound(err error) {
	a.endTrace(err)
	if err != nil || !a.round.done {
		a.round.done = false
		a.round.close()
	}
	a.callOff()
	a.settleRound()
}

// drainRound reads what is left of the response of a round that has ended, once the
// client has what came of it.
func (a *Answer) drainRound() {
	if a.round.done {
		a.round.done = false
		a.returnBuffers()
		a.round.drain()
	}
}

// close lets the response go. It may be called more than once.
func (rd *round) close() {
	if rd.response != nil {
		_ = rd.response.Close()
	}
}
