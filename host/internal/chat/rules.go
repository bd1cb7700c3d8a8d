package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// providerFields ask a provider for a tool of its own outside of tools.
var providerFields = []string{"web_search_options"}

// guardedFields are what a workspace has rules about.
var guardedFields = slices.Concat([]string{"model", "messages", "tools", "tool_choice", "functions", "function_call", "stream", "stream_options", "n"}, providerFields, lengthFields)

// checkRules holds the request to what w lets its clients send.
func (r *request) checkRules(w *workspace.Workspace) error {
	if w.MaxInputBytes > 0 && r.size > w.MaxInputBytes {
		return badField("messages", "The request has %d bytes, and workspace %s takes %d: send fewer or shorter messages.", r.size, w.UID, w.MaxInputBytes)
	}
	if w.MaxMessages > 0 && len(r.messages) > w.MaxMessages {
		return badField("messages", "The request has %d messages, and workspace %s takes %d: send the last ones.", len(r.messages), w.UID, w.MaxMessages)
	}
	if w.ClientMessages == workspace.MessagesNoSystem {
		if err := r.checkRoles(w); err != nil {
			return err
		}
	}
	return r.checkTools(w)
}

// checkRoles refuses messages of the system's and the developer's.
func (r *request) checkRoles(w *workspace.Workspace) error {
	for i, m := range r.messages {
		var at [1]json.RawMessage
		jsonbody.Pick(m.JSON, at[:], "role")
		if role, _ := rawjson.String(at[0]); role != "system" && role != "developer" {
			continue
		} else if name := r.asked.messageAt(i); name == "instructions" {
			return badField(name, "`instructions` is not taken: workspace %s says itself what its model is told. Leave it out.", w.UID)
		} else {
			return badField(name+".role", "`%s.role` is %q, which is not taken: workspace %s says itself what its model is told. Leave the message out.", name, role, w.UID)
		}
	}
	return nil
}

// checkTools refuses tools of the provider that w does not enforce, and those of
// the client where it may bring none.
func (r *request) checkTools(w *workspace.Workspace) error {
	enforced, _ := jsonbody.ObjectOf(w.Enforced)
	kept := r.offered[:0]
	for i, v := range r.offered {
		var at [1]json.RawMessage
		jsonbody.Pick(v, at[:], "type")
		typ, _ := rawjson.String(at[0])
		switch {
		case workspace.OfClient(typ) && w.NoClientTools:
			return badField("tools", "`tools` are not taken: workspace %s has `clientTools` false. Leave them out.", w.UID)
		case workspace.OfClient(typ):
			kept = append(kept, v)
		case !enforces(enforced["tools"], typ):
			return badField("tools", "`tools[%d].type` is %q, a tool that the provider runs and has paid for: workspace %s does not allow it. Its `enforcedParameters` could bring it; leave it out.", i, jsonbody.Cut(typ, 64), w.UID)
		}
		// One that w enforces comes from there.
	}
	r.offered = kept
	if v := r.fields["functions"]; w.NoClientTools && v != nil && !rawjson.IsNull(v) {
		return badField("functions", "`functions` are not taken: workspace %s has `clientTools` false. Leave them out.", w.UID)
	}
	for _, name := range providerFields {
		if v := r.fields[name]; v != nil && !rawjson.IsNull(v) && enforced[name] == nil {
			return badField(name, "`%s` asks for a tool that the provider runs and has paid for: workspace %s does not allow it. Its `enforcedParameters` could bring it; leave it out.", name, w.UID)
		}
	}
	return nil
}

// ownFields are of OpenAI's API alone: others answer to them with an error.
var ownFields = []string{"store", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "user"}

// enforces reports whether an enforced tool is of type typ.
func enforces(tools json.RawMessage, typ string) bool {
	items, _ := jsonbody.ArrayOf(tools)
	return slices.ContainsFunc(items, func(v json.RawMessage) bool {
		tool, _ := jsonbody.ObjectOf(v)
		of, _ := rawjson.String(tool["type"])
		return of == typ
	})
}

// applyRules brings together what the request, w's parameters and w's rules say: a
// rule wins over the request, field by field, and the request over a parameter. It
// returns what the client asked for and does not get: for the log.
func (r *request) applyRules(w *workspace.Workspace) (lost []string) {
	if r.asked.Portable && w.Source != "openAi" && w.Source != "azureOpenAi" {
		for _, name := range ownFields {
			delete(r.fields, name)
		}
	}
	enforced, _ := jsonbody.ObjectOf(w.Enforced) // nil where there is nothing
	for _, name := range jsonbody.SortedKeys(enforced) {
		v := enforced[name]
		if name == "tools" {
			items, _ := jsonbody.ArrayOf(v)
			r.offered = append(r.offered, items...)
			continue
		}
		for said := range r.fields {
			if said != name && strings.EqualFold(said, name) { // a provider may take it for that
				lost = append(lost, said)
				delete(r.fields, said)
			}
		}
		if said := r.fields[name]; said != nil && !bytes.Equal(bytes.TrimSpace(said), bytes.TrimSpace(v)) {
			lost = append(lost, name)
		}
		if rawjson.IsNull(v) && name != "stream_options" { // which plugins add where it is not null
			delete(r.fields, name)
		} else {
			r.fields[name] = v
		}
	}
	parameters, _ := jsonbody.ObjectOf(w.Parameters)
	for name, v := range parameters {
		if r.fields[name] == nil && enforced[name] == nil {
			r.fields[name] = v
		}
	}
	lost = append(lost, r.capTokens(w.MaxCompletionTokens)...)
	options, _ := jsonbody.ObjectOf(r.fields["stream_options"])
	r.usage = string(bytes.TrimSpace(options["include_usage"])) == "true"
	return lost
}

// lengthFields are what a request says of its answer's length, by the names that
// providers have for it.
var lengthFields = []string{"max_completion_tokens", "max_tokens", "max_output_tokens", "n_predict", "max_new_tokens"}

// capTokens has no answer be longer than limit; 0: as the request says. What is no
// number from 1 on may mean no bound to a provider.
func (r *request) capTokens(limit int) (lost []string) {
	if limit == 0 {
		return nil
	}
	said := false
	for _, name := range lengthFields {
		v := r.fields[name]
		if v == nil {
			continue
		}
		if rawjson.IsNull(v) {
			delete(r.fields, name)
			continue
		}
		said = true
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(v)), 10, 64); err != nil || n < 1 || n > int64(limit) {
			lost = append(lost, fmt.Sprintf("%s %.20s, capped at %d", name, v, limit))
			r.fields[name] = strconv.AppendInt(nil, int64(limit), 10)
		}
	}
	if !said {
		r.fields["max_completion_tokens"] = strconv.AppendInt(nil, int64(limit), 10)
	}
	return lost
}
