package event

// An Outcome says how a request ended.
type Outcome uint64

// The outcomes.
const (
	Succeeded Outcome = 1 + iota
	Failed
)

// Labels implements [Enum].
func (Outcome) Labels() []string { return []string{"succeeded", "failed"} }

// An Env is the value of the option env.
type Env uint64

// Labels implements [Enum].
func (Env) Labels() []string { return []string{"development", "production", "other"} }

// A LogLevel is the value of the option log-level.
type LogLevel uint64

// Labels implements [Enum].
func (LogLevel) Labels() []string {
	return []string{"off", "error", "warn", "info", "debug", "trace", "other"}
}

// A LogsMode is the form of a log line.
type LogsMode uint64

// Labels implements [Enum].
func (LogsMode) Labels() []string { return []string{"human", "json"} }

// A Route is a family of routes of the API.
type Route uint64

// Labels implements [Enum].
func (Route) Labels() []string {
	return []string{
		"service", "indexes", "documents", "search", "multi_search", "facet_search", "settings", "tasks", "keys",
		"features", "network", "export", "dumps", "chats", "completions", "plugins", "other",
	}
}

// A FilterSyntax is the form in which a filter was written.
type FilterSyntax uint64

// The forms of a filter: one text; a list of texts; a list in which some entry
// is a list or joins conditions itself.
const (
	FilterString FilterSyntax = 1 + iota
	FilterArray
	FilterMixed
)

// Labels implements [Enum].
func (FilterSyntax) Labels() []string { return []string{"string", "array", "mixed"} }

// A Navigation is the way in which results are paged through.
type Navigation uint64

// The ways: by page and hitsPerPage, or by offset and limit.
const (
	Exhaustive Navigation = 1 + iota
	Estimated
)

// Labels implements [Enum].
func (Navigation) Labels() []string { return []string{"exhaustive", "estimated"} }

// A MatchingStrategy says which words a document may lack.
type MatchingStrategy uint64

// The strategies.
const (
	MatchLast MatchingStrategy = 1 + iota
	MatchAll
	MatchFrequency
	MatchAny
)

// Labels implements [Enum].
func (MatchingStrategy) Labels() []string { return []string{"last", "all", "frequency", "any"} }

// A DocumentsOperation is what was asked of the documents routes.
type DocumentsOperation uint64

// The operations.
const (
	DocumentsReplace        DocumentsOperation = 1 + iota // POST documents
	DocumentsUpdate                                       // PUT documents
	DocumentsList                                         // GET documents
	DocumentsFetch                                        // POST documents/fetch
	DocumentsGet                                          // GET documents/{id}
	DocumentsDelete                                       // DELETE documents/{id}
	DocumentsClear                                        // DELETE documents
	DocumentsDeleteBatch                                  // POST documents/delete-batch
	DocumentsDeleteByFilter                               // POST documents/delete
)

// Labels implements [Enum].
func (DocumentsOperation) Labels() []string {
	return []string{"replace", "update", "list", "fetch", "get", "delete", "clear", "delete_batch", "delete_by_filter"}
}

// An IndexOperation is what was asked of the index routes.
type IndexOperation uint64

// The operations.
const (
	IndexCreate IndexOperation = 1 + iota
	IndexUpdate
	IndexDelete
	IndexSwap
)

// Labels implements [Enum].
func (IndexOperation) Labels() []string { return []string{"create", "update", "delete", "swap"} }

// A TasksOperation is what was asked of the tasks routes.
type TasksOperation uint64

// The operations.
const (
	TasksGet TasksOperation = 1 + iota // one, by its uid
	TasksList
	TasksCancel
	TasksDelete
)

// Labels implements [Enum].
func (TasksOperation) Labels() []string { return []string{"get", "list", "cancel", "delete"} }

// An EmbedderSource is where an embedder's vectors come from.
type EmbedderSource uint64

// The sources.
const (
	EmbedderOpenAI EmbedderSource = 1 + iota
	EmbedderHuggingFace
	EmbedderOllama
	EmbedderUserProvided
	EmbedderREST
	EmbedderComposite
	EmbedderOther
)

// Labels implements [Enum].
func (EmbedderSource) Labels() []string {
	return []string{"openAi", "huggingFace", "ollama", "userProvided", "rest", "composite", "other"}
}

// A ProximityPrecision is the value of the setting of that name.
type ProximityPrecision uint64

// The precisions.
const (
	ByWord ProximityPrecision = 1 + iota
	ByAttribute
)

// Labels implements [Enum].
func (ProximityPrecision) Labels() []string { return []string{"byWord", "byAttribute"} }

// A PrefixSearch is the value of the setting of that name.
type PrefixSearch uint64

// The values.
const (
	PrefixIndexingTime PrefixSearch = 1 + iota
	PrefixDisabled
)

// Labels implements [Enum].
func (PrefixSearch) Labels() []string { return []string{"indexingTime", "disabled"} }

// A ChatOutcome says how a chat completion ended.
type ChatOutcome uint64

// The outcomes.
const (
	ChatAnswered  ChatOutcome = 1 + iota // to its end
	ChatToolCalls                        // with calls of the client's own functions
	ChatRefused                          // before the first word, for something in the request
	ChatFailed                           // by the provider or the host
	ChatLeft                             // the client went away
)

// Labels implements [Enum].
func (ChatOutcome) Labels() []string {
	return []string{"answered", "tool_calls", "refused", "failed", "left"}
}

// A ChatSource is the source that answered a chat: one of those that are
// shipped, or other; the field source_name tells those, too.
type ChatSource uint64

// Labels implements [Enum].
func (ChatSource) Labels() []string {
	return []string{"openAi", "azureOpenAi", "mistral", "gemini", "vLlm", "anthropic", "extract", "other", "bedrock", "cohere", "ollama", "vertex"}
}

// A ChatFailure says what went wrong with a chat: by the provider's word, as the
// kinds of a provider's error are called, or at the host.
type ChatFailure uint64

// Labels implements [Enum].
func (ChatFailure) Labels() []string {
	return []string{
		"auth", "permission", "not_found", "invalid_request", "context_length", "rate_limit", "quota", "content_filter", "overloaded", "timeout", "upstream",
		"network", "plugin", "request", "other",
	}
}

// A ChatFinish is why an answer ended.
type ChatFinish uint64

// Labels implements [Enum].
func (ChatFinish) Labels() []string {
	return []string{"stop", "length", "tool_calls", "content_filter"}
}

// A GuardStage is where a guard stands in a conversation.
type GuardStage uint64

// Labels implements [Enum].
func (GuardStage) Labels() []string {
	return []string{"question", "passages", "arguments", "answer", "reasoning"}
}

// OrdinalOf returns the ordinal of label in E, or that of "other" where E has
// no such label; 0 where it has neither.
func OrdinalOf[E Enum](label string) E {
	var other E
	for i, l := range E(0).Labels() {
		switch l {
		case label:
			return E(i + 1)
		case "other":
			other = E(i + 1)
		}
	}
	return other
}

// LabelOf returns the label of e, or "" where there is none.
func LabelOf[E Enum](e E) string {
	if l := e.Labels(); e >= 1 && e <= E(len(l)) {
		return l[e-1]
	}
	return ""
}
