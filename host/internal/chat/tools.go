package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// searchFunction is the one function that the host itself answers.
const searchFunction = "searchInIndex"

// reports are the names by which a client asks for reports, in the order of
// the fields of [reportNames], and the ones that older front ends use.
var reports = [...][2]string{
	{"searchProgress", "_meiliSearchProgress"},
	{"searchSources", "_meiliSearchSources"},
	{"appendConversationMessage", "_meiliAppendConversationMessage"},
	{"reportErrors", "_meiliReportErrors"},
	{"reportError", "_meiliReportError"},
}

// reportNames holds the names under which the client wants each report; empty
// where it does not want it.
type reportNames struct{ progress, sources, message, errors, error string }

func (n *reportNames) at(i int) *string {
	return [...]*string{&n.progress, &n.sources, &n.message, &n.errors, &n.error}[i]
}

// reportOf returns which report name asks for, or -1.
func reportOf(name string) int {
	return slices.IndexFunc(reports[:], func(r [2]string) bool { return r[0] == name || r[1] == name })
}

// tools are the functions that the model may call, by who answers them.
type tools struct {
	names   map[string]bool // of the client's functions, which it answers itself
	reports reportNames
	every   bool // the client answers all functions, whatever their names
}

// parseTools reads tools, functions and tool_choice.
func (r *request) parseTools() error {
	r.tools.names = make(map[string]bool)
	r.askedTools = len(r.asked.Tools) > 0
	for i := range r.asked.Tools {
		if err := r.addTool(i, &r.asked.Tools[i]); err != nil {
			return err
		}
	}
	// The form before tools: still passed on, and called like them.
	functions, _ := jsonbody.ArrayOf(r.fields["functions"])
	for i, item := range functions {
		f, _ := jsonbody.ObjectOf(item)
		name, _ := rawjson.String(f["name"])
		if err := checkReserved(fmt.Sprintf("functions[%d].name", i), name); err != nil {
			return err
		}
		r.tools.names[name] = true
	}
	return checkChoice(r.fields["tool_choice"])
}

// addTool adds the tool at index i of the request.
func (r *request) addTool(i int, item *Item) error {
	path, v := fmt.Sprintf("tools[%d]", i), item.JSON
	tool, ok := jsonbody.ObjectOf(v)
	if !ok {
		return jsonbody.WrongType(apierr.BadRequest, path, "an object", v)
	}
	typ, ok := rawjson.String(tool["type"])
	if !ok {
		return jsonbody.WrongType(apierr.BadRequest, path+".type", `a string such as "function"`, tool["type"])
	}
	// A tool of another type says what it is under its type's name, if at all.
	definition, isObject := jsonbody.ObjectOf(tool[typ])
	name, named := rawjson.String(definition["name"])
	if typ == "function" && (!isObject || !named || name == "") {
		return jsonbody.WrongType(apierr.BadRequest, path+".function.name", "the function's name", definition["name"])
	}
	if err := checkReserved(cmp.Or(item.At, path+"."+typ+".name"), name); err != nil {
		return err
	}
	if i := reportOf(name); i >= 0 && typ == "function" {
		if at := r.tools.reports.at(i); *at == "" {
			*at = name
		}
		return nil
	}
	if name != "" {
		r.tools.names[name] = true
	}
	r.offered = append(r.offered, v)
	return nil
}

func checkReserved(path, name string) error {
	if name != searchFunction {
		return nil
	}
	return badField(path, "`%s` is %q, which is reserved: the host offers this function itself. Give yours another name.", path, searchFunction)
}

// checkChoice refuses to force a call that no model will make.
func checkChoice(v json.RawMessage) error {
	if name := chosenFunction(v); reportOf(name) >= 0 {
		return badField("tool_choice", "`tool_choice` names %q, which is a report of the host's and not for the model to call: name a function of yours, or leave it out.", name)
	}
	return nil
}

// chosenFunction returns the function that tool_choice forces, if it names
// one.
func chosenFunction(v json.RawMessage) string {
	choice, _ := jsonbody.ObjectOf(v)
	f, _ := jsonbody.ObjectOf(choice["function"])
	name, _ := rawjson.String(f["name"])
	return name
}

// laterChoice is tool_choice from the second round on. A client that forces a call wants
// one call; forced in every round, the model would make nothing but calls. nil leaves the
// choice to the model.
func laterChoice(v json.RawMessage) json.RawMessage {
	if s, ok := rawjson.String(v); ok {
		if s == "required" || s == "any" {
			return nil
		}
		return v
	}
	choice, ok := jsonbody.ObjectOf(v)
	if !ok {
		return v
	}
	if typ, _ := rawjson.String(choice["type"]); typ != "allowed_tools" {
		return nil
	}
	allowed, ok := jsonbody.ObjectOf(choice["allowed_tools"])
	if !ok {
		return v
	}
	// Still only these tools, but none of them by force.
	allowed["mode"] = jsonbody.Quote("auto")
	choice["allowed_tools"] = allowed.Append(nil)
	return choice.Append(nil)
}
