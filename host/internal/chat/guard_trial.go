package chat

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// A GuardTrial is what the guards of a workspace make of a text.
type GuardTrial struct {
	Text    string        `json:"text"`    // as it passes; what went out before, where it was blocked
	Calls   []GuardedCall `json:"calls"`   // of the guards, in their order
	Notes   []GuardNote   `json:"notes"`   // in their order
	Blocked *BlockedByOne `json:"blocked"` // null where nothing was
}

// A GuardedCall is what a guard made of it.
type GuardedCall struct {
	Guard  string `json:"guard"`
	Action string `json:"action"` // pass, edit, block or fault
	Edits  int    `json:"edits"`
}

// A GuardNote is a label that a guard noted.
type GuardNote struct {
	Guard string `json:"guard"`
	Label string `json:"label"`
}

// A BlockedByOne is how a guard ends an answer.
type BlockedByOne struct {
	Guard   string `json:"guard"`
	How     string `json:"how"` // refusal, error, or leftOut for a passage
	Message string `json:"message"`
}

// TryGuards gives the text of body, {"stage", "text"}, to the guards of a workspace,
// those of the deployment before them. Nothing is counted or stored.
func (s *Service) TryGuards(ctx context.Context, caller *auth.Caller, uid string, body []byte) (*GuardTrial, error) {
	fields, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	for _, name := range jsonbody.SortedKeys(fields) {
		if name != "stage" && name != "text" && name != "guards" {
			return nil, apierr.Unknown("field", name, name, []string{"stage", "text", "guards"})
		}
	}
	stage, ok := rawjson.String(fields["stage"])
	if !ok || !slices.Contains(abi.Stages, stage) {
		return nil, badField("stage", "`stage` must be one of: %s.", strings.Join(abi.Stages, ", "))
	}
	text, ok := rawjson.String(fields["text"])
	if !ok {
		return nil, jsonbody.WrongType(apierr.BadRequest, "text", "a string", fields["text"])
	}
	settings := jsonbody.Object{}
	if v := fields["guards"]; v != nil {
		settings["guards"] = v
	}
	w, err := s.patcher().Try(ctx, uid, settings)
	if err != nil {
		return nil, err
	}
	return s.tryGuards(ctx, caller, w, stage, []byte(text))
}

func (s *Service) tryGuards(ctx context.Context, caller *auth.Caller, w *workspace.Workspace, stage string, text []byte) (*GuardTrial, error) {
	t := &GuardTrial{Calls: []GuardedCall{}, Notes: []GuardNote{}}
	quiet := s.deps
	quiet.Guarded = func(_ string, e guard.Event) {
		if e.Action == guard.ActionNote {
			t.Notes = append(t.Notes, GuardNote{e.Guard, e.Label})
			return
		}
		t.Calls = append(t.Calls, GuardedCall{e.Guard, e.Action, e.Edits})
	}
	g, err := quiet.guards(ctx, caller, w)
	if err != nil {
		return nil, err
	}
	if g == nil {
		t.Text = string(text)
		return t, nil
	}
	defer g.letGo()
	out, err := TryGuard(ctx, g.Chain, stage, text)
	t.Text = strings.ToValidUTF8(string(out), "\ufffd")
	if b, ok := errors.AsType[*guard.Blocked](err); ok {
		t.Blocked = &BlockedByOne{b.Guard, "error", blockedError(b).Message}
		if b.Refusal {
			t.Blocked.How = "refusal"
		}
		err = nil
	}
	if errors.Is(err, ErrLeftOut) {
		t.Blocked, err = &BlockedByOne{"", "leftOut", ""}, nil
		for _, c := range t.Calls {
			if c.Action == guard.ActionBlock {
				t.Blocked.Guard = c.Guard
			}
		}
	}
	return t, err
}

// ErrLeftOut says that guards take a passage out of what was found.
var ErrLeftOut = errors.New("the passage is left out")

// TryGuard takes a text through the guards of a chain at a stage, as a user's message, a
// passage's text, the arguments of a call or an answer.
func TryGuard(ctx context.Context, c *guard.Chain, stage string, text []byte) ([]byte, error) {
	switch stage {
	case abi.StageAnswer, abi.StageReasoning:
		kind := abi.ItemAnswer
		if stage == abi.StageReasoning {
			kind = abi.ItemReasoning
		}
		return c.Text(ctx, stage, kind, text)
	case abi.StageArguments:
		return c.JSON(ctx, stage, abi.ItemArguments, text)
	}
	items := []abi.Item{{Kind: abi.ItemUser, Text: bytes.Clone(text)}}
	at := 0
	if stage == abi.StagePassages {
		items, at = []abi.Item{{Kind: abi.ItemTitle}, {Kind: abi.ItemURL}, {Kind: abi.ItemText, Text: bytes.Clone(text)}}, 2
	}
	dropped, err := c.Whole(ctx, stage, items)
	if err != nil {
		return nil, err
	}
	if dropped[at] {
		return nil, ErrLeftOut
	}
	return items[at].Text, nil
}
