package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

// Codes of errors, of JSON-RPC and of the protocol.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeVersion = -32022
	codeHost    = -32000 // what HTTP's status says
)

const (
	versionHeader = "MCP-Protocol-Version"
	stateless     = "2026-07-28" // the first revision without initialize
	askTool       = "ask"
	searchTool    = "search"
)

// methods are the requests that are answered. What tools alone need.
var methods = []string{"server/discover", "initialize", "ping", "tools/list", "tools/call"}

// A Message is one message of a client.
type Message struct {
	body     []byte
	id       json.RawMessage // nil of a notification
	method   string
	tool     string // that is called
	progress bool   // the client wants to be told of it
	version  string // of the protocol, as the message says
}

// ReadMessage reads a body that must be one message. The error is an [*Error].
func ReadMessage(body []byte) (*Message, error) {
	if err := apierr.CheckJSON(body); err != nil {
		out := FromError(apierr.From(err))
		out.Code = codeParse
		return nil, out
	}
	if b := bytes.TrimSpace(body); b[0] != '{' {
		return nil, refuse(http.StatusBadRequest, nil, "The body must be one JSON-RPC message, an object: send several one by one.")
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name string                     `json:"name"`
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m) // what has a wrong type the SDK refuses
	out := &Message{body: body, id: m.ID, method: m.Method}
	if m.Method == "tools/call" {
		out.tool = m.Params.Name
	}
	_, out.progress = m.Params.Meta["progressToken"]
	_ = json.Unmarshal(m.Params.Meta["io.modelcontextprotocol/protocolVersion"], &out.version)
	return out, nil
}

// Asks reports whether m calls the tool ask.
func (m *Message) Asks() bool { return m.tool == askTool }

// Searches reports whether m calls the tool search.
func (m *Message) Searches() bool { return m.tool == searchTool }

// wantsProgress reports whether m is answered by a stream of events.
func (m *Message) wantsProgress() bool { return m.Asks() && m.progress }

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
	if m.id == nil || m.method == "" || slices.Contains(methods, m.method) {
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
