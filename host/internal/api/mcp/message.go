package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// Codes of errors, of JSON-RPC and of the protocol.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeParams  = -32602
	codeVersion = -32022
	codeHost    = -32000 // what HTTP's status says
)

const (
	versionHeader = "MCP-Protocol-Version"
	stateless     = "2026-07-28" // the first revision without initialize
	askTool       = "ask"
	searchTool    = "search"
	fetchTool     = "fetch"
	facetTool     = "facet_values"
)

// methods are the requests that are answered. What tools alone need.
var methods = []string{"server/discover", "initialize", "ping", "tools/list", "tools/call"}

// A Message is one message of a client, read once and strictly: what the SDK and
// the tools get is made of what was read, so that nothing can be read in two ways.
type Message struct {
	id        json.RawMessage // a string or an integer; nil of a notification
	method    string
	params    params
	arguments json.RawMessage // of the tool that is called; nil: none
	version   string          // of the protocol, as the message says
}

// params are those of all methods that are served. Others are ignored.
type params struct {
	Name         string                     `json:"name,omitempty"`      // of the tool that is called
	Arguments    json.RawMessage            `json:"arguments,omitempty"` // never the SDK's: see Message.arguments
	Cursor       string                     `json:"cursor,omitempty"`
	Version      string                     `json:"protocolVersion,omitempty"`
	Capabilities map[string]json.RawMessage `json:"capabilities,omitempty"`
	Client       map[string]json.RawMessage `json:"clientInfo,omitempty"`
	Meta         map[string]json.RawMessage `json:"_meta,omitempty"`
}

// envelope is what every message is made of.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// ReadMessage reads a body that must be one message. The error is an [*Error].
func ReadMessage(body []byte) (*Message, error) {
	if err := apierr.CheckJSON(body); err != nil {
		out := FromError(apierr.From(err))
		out.Code = codeParse
		return nil, out
	}
	if !isObject(body) {
		return nil, refuse(http.StatusBadRequest, nil, "The body must be one JSON-RPC message, an object: send several one by one.")
	}
	var e envelope
	if err := apierr.DecodeKnown(body, &e, nil); err != nil {
		return nil, refuse(http.StatusBadRequest, nil, apierr.From(err).Message)
	}
	m := &Message{method: e.Method}
	switch {
	case e.Version != "2.0":
		return nil, refuse(http.StatusBadRequest, nil, "`jsonrpc` must be \"2.0\".")
	case e.ID != nil && !isName(e.ID):
		return nil, refuse(http.StatusBadRequest, nil, "`id` must be a string or an integer.")
	}
	m.id = e.ID
	switch {
	case m.method == "":
		return nil, refuse(http.StatusBadRequest, m.id, "`method` is missing: only requests and notifications are taken.")
	case m.id == nil && !strings.HasPrefix(m.method, "notifications/"):
		return nil, refuse(http.StatusBadRequest, nil, "`id` is missing: a request needs one.")
	}
	if e.Params == nil || string(e.Params) == "null" {
		e.Params = json.RawMessage("{}")
	}
	if !isObject(e.Params) {
		return nil, refuse(http.StatusBadRequest, m.id, "`params` must be an object.")
	}
	if err := apierr.DecodeKnown(e.Params, &m.params, nil); err != nil {
		return nil, invalidParams(m.id, "`params` are refused: "+apierr.From(err).Message)
	}
	if token, ok := m.params.Meta["progressToken"]; ok && !isName(token) {
		return nil, invalidParams(m.id, "`progressToken` must be a string or an integer.")
	}
	m.arguments, m.params.Arguments = m.params.Arguments, nil
	_ = json.Unmarshal(m.params.Meta["io.modelcontextprotocol/protocolVersion"], &m.version) // what has a wrong type the SDK refuses
	return m, nil
}

// isObject reports whether value, which is JSON, is an object.
func isObject(value []byte) bool { return bytes.TrimSpace(value)[0] == '{' }

// isName reports whether value, which is JSON, is a string or an integer that every
// reader of JSON takes for the same, as ids are.
func isName(value json.RawMessage) bool {
	if value[0] == '"' {
		return true
	}
	_, err := strconv.ParseInt(string(value), 10, 54)
	return err == nil
}

// encoded is m for the SDK. What its tool is told it has of [Message.arguments].
func (m *Message) encoded() []byte {
	return encode(envelope{"2.0", m.id, m.method, encode(m.params)})
}

// Asks reports whether m calls the tool ask.
func (m *Message) Asks() bool { return m.tool() == askTool }

// searches returns how many indexes answering m looks into, of so many as there are.
func (m *Message) searches(indexes func() int) int {
	switch m.tool() {
	case fetchTool, facetTool:
		return 1
	case searchTool:
		var in searchInput
		_ = json.Unmarshal(m.arguments, &in) // what is wrong with it the tool refuses
		if in.Index == "" {
			return max(indexes(), 1)
		}
		return 1
	}
	return 0
}

// tool is what m calls; "": nothing.
func (m *Message) tool() string {
	if m.method != "tools/call" {
		return ""
	}
	return m.params.Name
}

// wantsProgress reports whether m is answered by a stream of events.
func (m *Message) wantsProgress() bool { return m.Asks() && m.params.Meta["progressToken"] != nil }

// check checks what of m the SDK would refuse in other words, or not at all.
// version is what the header says.
func (m *Message) check(version string) error {
	if version != "" && !slices.Contains(versions, version) {
		return &Error{
			Status: http.StatusBadRequest, Code: codeVersion, id: m.id,
			Message: "The header `" + versionHeader + "` names a revision that is not served: use one of " + strings.Join(versions, ", ") + ".",
			Data: struct {
				Supported []string `json:"supported"`
				Requested string   `json:"requested"`
			}{versions, version},
		}
	}
	if m.id == nil || slices.Contains(methods, m.method) {
		return nil
	}
	// Clients of older revisions ask for methods that no capability promised, and
	// take the status 404 for the end of the connection.
	status := http.StatusOK
	if version >= stateless {
		status = http.StatusNotFound
	}
	return &Error{Status: status, Code: codeMethod, id: m.id, Message: "There is no method `" + m.method + "` here: there are tools alone."}
}

// An Error is a message that is refused as a whole, in the form of JSON-RPC.
type Error struct {
	Status  int // of HTTP
	Code    int
	Message string
	Data    any // nil: none
	id      json.RawMessage
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// refuse is the error for what is no request of the protocol.
func refuse(status int, id json.RawMessage, message string) *Error {
	out := FromError(&apierr.Error{Code: apierr.BadRequest, Message: message})
	out.Status, out.Code, out.id = status, codeRequest, id
	return out
}

// invalidParams is the error for params that a request cannot have.
func invalidParams(id json.RawMessage, message string) *Error {
	out := refuse(http.StatusBadRequest, id, message)
	out.Code = codeParams
	return out
}

// FromError returns e as the protocol has it. Who a caller is comes before what
// it may do: a key that is wrong has the status 401.
func FromError(e *apierr.Error) *Error {
	out := &Error{Status: e.Code.Status(), Code: codeHost, Message: e.Message, Data: struct {
		Code string `json:"code"`
	}{e.Code.String()}}
	switch e.Code {
	case apierr.InvalidAPIKey:
		out.Status = http.StatusUnauthorized
	case apierr.FeatureNotEnabled:
		out.Status = http.StatusNotFound
	}
	return out
}

// Denied is the error for a key that lacks an action.
func Denied(e *apierr.Error) *Error {
	out := FromError(e)
	out.Status = http.StatusForbidden
	return out
}

// Body is the body of e's answer.
func (e *Error) Body() []byte {
	id := e.id
	if id == nil {
		id = json.RawMessage("null")
	}
	type fields struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   fields          `json:"error"`
	}{"2.0", id, fields{e.Code, e.Message, e.Data}})
}
