package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/egress/credential"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TryOptions say how a provider is tried.
type TryOptions struct {
	Options
	Chat   []byte            // a chat completion
	Values map[string]string // settings and options of the workspace, by name
	Send   bool              // what the plugin describes; else its first request is shown alone
}

// Try asks a provider plugin a question as a host would, and writes to w what goes in and
// out: requests, events, and the records that become of them. No secret is written.
func Try(ctx context.Context, module []byte, t TryOptions, w io.Writer) (err error) {
	runtime, err := wasm.Open(wasm.Options{CacheDir: t.CacheDir, Aside: t.Compiler, Log: func(l wasm.LogLine) { fmt.Fprintf(w, "log      %s\n", l.Text) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	p, err := plugin.Load(ctx, runtime, module, "try", plugin.Options{CallTimeout: t.CallTimeout})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	space, err := workspaceOf(p.Manifest(), t.Values)
	if err != nil {
		return err
	}
	q, err := chat.ParseRequest(t.Chat)
	if err != nil {
		return err
	}
	q.UID, q.Workspace, q.Caller = space.UID, space, auth.Everyone()
	deps := chat.Deps{Sources: one{shown{p, w, space}}, Searcher: noIndexes{}, Upstream: notSent{}}
	if t.Send {
		reach := upstream.Options{Private: upstream.AnyPrivate()} // of baseUrl alone, which is the author's own
		tokens := upstream.NewTransport(reach)
		defer tokens.CloseIdleConnections()
		reach.Signer = credential.New(credential.Options{Transport: tokens})
		sender := upstream.New(reach)
		defer sender.Close()
		deps.Upstream = sender
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a, err := chat.New(deps).Start(ctx, cancel, q)
	if err == nil {
		err = a.WriteTo(chat.Discard{})
		if o := a.Outcome(); err == nil && o.Err != nil {
			err = o.Err
		}
	}
	if errors.Is(err, errNotSent) {
		return nil
	}
	return err
}

// workspaceOf makes a workspace of what the command line says.
func workspaceOf(m *abi.Manifest, values map[string]string) (*workspace.Workspace, error) {
	w := &workspace.Workspace{UID: "try", Source: m.Source, Options: map[string]json.RawMessage{}, OptionSecrets: map[string]secret.Text{}}
	settings := map[string]*string{"baseUrl": &w.BaseURL, "orgId": &w.OrgID, "projectId": &w.ProjectID, "apiVersion": &w.APIVersion, "deploymentId": &w.DeploymentID}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		o, isOption := m.Options[name]
		switch at := settings[name]; {
		case name == "apiKey":
			w.APIKey = secret.New(values[name])
		case at != nil:
			*at = values[name]
		case !isOption:
			return nil, fmt.Errorf("the plugin has no option %.64q: its manifest has %s, beside the settings apiKey, %s", name,
				strings.Join(slices.Sorted(maps.Keys(m.Options)), ", "), strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
		case o.Secret:
			w.OptionSecrets[name] = secret.New(values[name])
		default:
			v := optionValue(m, name, values[name])
			if err := manifest.CheckValue(&o, v); err != nil {
				return nil, fmt.Errorf("option %s: %w", name, err)
			}
			w.Options[name] = v
		}
	}
	return w, nil
}

// noIndexes has nothing to search.
type noIndexes struct{}

func (noIndexes) ChatIndexes(context.Context, *auth.Caller, []string) ([]chat.Index, error) {
	return nil, nil
}

func (noIndexes) ChatSearch(context.Context, *auth.Caller, string, string, string) (chat.Found, error) {
	return chat.Found{}, errors.New("there are no indexes")
}

// errNotSent is why a request that was only to be shown has no response.
var errNotSent = errors.New("not sent")

type notSent struct{}

func (notSent) Do(context.Context, *outbound.Request) (outbound.Response, error) {
	return nil, &outbound.Error{Kind: outbound.Refused, Message: errNotSent.Error(), Err: errNotSent}
}

// one is the plugin that is tried, whatever is wished for.
type one struct{ of provider.Source }

func (o one) Source(provider.Wish) (provider.Source, bool) { return o.of, true }

func (o one) Acquire(context.Context, provider.Wish, provider.Client) (provider.Source, func(), bool) {
	return o.of, func() {}, true
}

func (o one) Plugins(string) []string { return []string{o.of.Manifest().Name} }

func (o one) SourceNames() []string { return []string{o.of.Manifest().Source} }

// shown writes what goes into a plugin and comes out of it.
type shown struct {
	provider.Source
	w     io.Writer
	space *workspace.Workspace
}

// Encode implements [provider.Source].
func (s shown) Encode(ctx context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	out, err := s.Source.Encode(ctx, in)
	fmt.Fprintf(s.w, "encode   round %d, step %d, attempt %d", in.Round, in.Step, in.Attempt)
	if in.Cancelled {
		fmt.Fprint(s.w, ", to call off")
	}
	switch {
	case err != nil:
		fmt.Fprintf(s.w, "\n         %v\n", err)
		return out, err
	case out.Reply != nil:
		fmt.Fprintf(s.w, "\nreply    %s\n", cut(*out.Reply))
		return out, nil
	}
	fmt.Fprintf(s.w, "\nrequest  %s %s\n", out.Method, out.URL)
	for _, name := range slices.Sorted(maps.Keys(out.Headers)) {
		fmt.Fprintf(s.w, "         %s: %s\n", name, cut(out.Headers[name]))
	}
	m := s.Manifest()
	if c, err := s.space.Credential(m, out, s.space.Values(m)); err == nil && c != nil && c.Auth != nil {
		fmt.Fprintf(s.w, "         signed in by %s, the scheme %s\n", c.Auth.Name, c.Auth.Scheme)
	}
	if len(out.Body) > 0 {
		fmt.Fprintf(s.w, "         %s\n", cut(out.Body))
	}
	return out, nil
}

// Decode implements [provider.Source].
func (s shown) Decode(ctx context.Context, in, dst []byte) ([]byte, error) {
	before := len(dst)
	out, err := s.Source.Decode(ctx, in, dst)
	if call, bad := abi.ParseDecodeInput(in); bad == nil {
		for {
			typ, data, ok := call.Next()
			if !ok {
				break
			}
			fmt.Fprintf(s.w, "event    %s%s\n", typePrefix(typ), cut(data))
		}
		if call.Flags&abi.FlagLast != 0 {
			fmt.Fprintln(s.w, "end      of the response")
		}
	}
	if err != nil {
		fmt.Fprintf(s.w, "         %v\n", err)
		return out, err
	}
	_, records, err := abi.DecodeOutput(out[before:])
	for err == nil && len(records) > 0 {
		var r abi.Record
		if r, records, _, err = abi.NextRecord(records); err == nil {
			fmt.Fprintf(s.w, "  %s\n", describeRecord(r))
		}
	}
	return out, nil
}

// Error implements [provider.Source].
func (s shown) Error(ctx context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error) {
	out, err := s.Source.Error(ctx, in)
	fmt.Fprintf(s.w, "response %d %s\n", in.Status, cut(in.Body))
	if err == nil {
		b, _ := json.Marshal(out)
		fmt.Fprintf(s.w, "  error %s\n", b)
	}
	return out, err
}

func typePrefix(typ []byte) string {
	if len(typ) == 0 {
		return ""
	}
	return string(typ) + ": "
}

// textRecords are the names of the records that hold a text.
var textRecords = map[abi.RecordKind]string{
	abi.RecordText: "text", abi.RecordReasoning: "reasoning", abi.RecordRefusal: "refusal", abi.RecordFinish: "finish", abi.RecordError: "error",
	abi.RecordExtra: "extra", abi.RecordOuter: "outer",
}

// describeRecord is a record for a person.
func describeRecord(r abi.Record) string {
	switch r.Kind {
	case abi.RecordToolStart:
		index, id, name, _ := r.ToolStart()
		return fmt.Sprintf("tool %d starts: %s, id %s", index, name, id)
	case abi.RecordToolArguments:
		index, piece, _ := r.ToolArguments()
		return fmt.Sprintf("tool %d arguments %q", index, cut(piece))
	case abi.RecordUsage:
		u, members, _ := r.Usage()
		return strings.TrimSpace(fmt.Sprintf("usage %d prompt, %d completion, %d total, %d cached, %d reasoning %s", u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning, cut(members)))
	case abi.RecordResponse:
		id, model, _ := r.Response()
		return fmt.Sprintf("response id %q, model %q", id, model)
	case abi.RecordCarry:
		return fmt.Sprintf("carry %d bytes", len(r.Payload))
	case abi.RecordPattern:
		return "pattern: the host makes the records of events like this one"
	case abi.RecordAgain:
		again, _ := r.Again()
		s := fmt.Sprintf("again after %d ms", again.AfterMS)
		if again.Cancel {
			s += ", or called off"
		}
		return s
	}
	if name := textRecords[r.Kind]; name != "" {
		return fmt.Sprintf("%s %q", name, cut(r.Payload))
	}
	return fmt.Sprintf("a record of kind %d, which this host skips", r.Kind)
}

// cut is the beginning of a text that may be long, on one line.
func cut[T ~string | ~[]byte](text T) string {
	const most = 2000
	b := bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(" "))
	if len(b) <= most {
		return string(b)
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(b[:most]), ""), len(b))
}
