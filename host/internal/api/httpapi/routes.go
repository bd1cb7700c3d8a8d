package httpapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/console"
	"github.com/parley-search/parley/host/internal/api/httpapi/chatapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/indexapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// routes returns the API's table of contents. A route is declared here and
// nowhere else.
func (s *Server) routes() []*route {
	return slices.Concat(s.serviceRoutes(), s.chatRoutes(), s.conventionalRoutes(), s.keyRoutes(), s.indexRoutes(),
		s.documentRoutes(), s.searchRoutes(), s.settingRoutes(), s.taskRoutes(), s.pageRoutes())
}

func (s *Server) serviceRoutes() []*route {
	const logs = feature.LogsRoute
	return []*route{
		{method: "GET", path: "/health", id: "getHealth", public: true, handle: s.answerHealth, family: "service"},
		{method: "GET", path: "/ready", id: "getReady", public: true, handle: s.answerReady, family: "service"},
		{method: "GET", path: "/version", id: "getVersion", actions: may(auth.Version), handle: s.answerVersion, family: "service"},
		{method: "GET", path: "/stats", id: "getStats", actions: may(auth.StatsGet), query: indexapi.SizeParameters, handle: s.indexes.Stats, family: "service", tell: tellStats(false)},
		{method: "GET", path: "/usage", id: "getUsage", actions: may(auth.StatsGet), handle: s.getUsage, family: "service"},
		{method: "GET", path: "/cluster", id: "getCluster", actions: may(auth.MetricsGet), handle: s.getCluster, family: "service"},
		{method: "POST", path: "/cluster/snapshot", id: "makeClusterSnapshot", actions: may(auth.ClusterUpdate), query: []string{"message"}, handle: s.makeClusterSnapshot, family: "service"},
		{method: "POST", path: "/cluster/resign", id: "resignCluster", actions: may(auth.ClusterUpdate), handle: s.resignCluster, family: "service"},
		{method: "POST", path: "/cluster/upgrade", id: "upgradeCluster", actions: may(auth.ClusterUpdate), handle: s.upgradeCluster, family: "service"},
		{method: "GET", path: "/metrics", id: "getMetrics", actions: may(auth.MetricsGet), needs: feature.Metrics, handle: s.getMetrics, family: "service"},

		{method: "GET", path: "/telemetry", id: "getTelemetry", actions: may(auth.TelemetryGet), handle: s.reports.GetTelemetry, family: "service", loaded: true},
		{method: "DELETE", path: "/telemetry", id: "deleteTelemetry", actions: may(auth.TelemetryDelete), handle: s.reports.DeleteTelemetry, family: "service", loaded: true},
		{method: "GET", path: "/telemetry/messages", id: "getTelemetryMessages", actions: may(auth.TelemetryGet), query: []string{"of"}, handle: s.reports.GetMessages, family: "service", loaded: true},
		{method: "GET", path: "/telemetry/metrics", id: "getTelemetryMetrics", actions: may(auth.TelemetryGet), handle: s.reports.GetTelemetryMetrics, family: "service", loaded: true},
		{method: "GET", path: "/telemetry/windows", id: "getTelemetryWindows", actions: may(auth.TelemetryGet), query: []string{"limit"}, handle: s.reports.GetWindows, family: "service", loaded: true},
		{method: "GET", path: "/telemetry/deliveries", id: "getTelemetryDeliveries", actions: may(auth.TelemetryGet), handle: s.reports.GetDeliveries, family: "service", loaded: true},
		{method: "GET", path: "/telemetry/export", id: "exportTelemetry", actions: may(auth.TelemetryGet), handle: s.reports.GetTelemetryExport, family: "service", loaded: true},
		{method: "POST", path: "/telemetry/verify", id: "verifyTelemetry", actions: may(auth.TelemetryVerify), handle: s.reports.VerifyTelemetry, family: "service", loaded: true},
		{method: "POST", path: "/telemetry/flush", id: "flushTelemetry", actions: may(auth.TelemetryFlush), handle: s.reports.EndWindow, family: "service", loaded: true},

		{method: "GET", path: "/plugins", id: "listPlugins", actions: may(auth.PluginsGet), handle: s.plugins.ListPlugins, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/reload", id: "reloadPlugins", actions: may(auth.PluginsReload), handle: s.plugins.ReloadPlugins, family: "plugins", loaded: true},

		{method: "POST", path: "/plugins/install", id: "installPlugin", actions: may(auth.PluginsUpdate), handle: s.plugins.InstallPlugin, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/install/file", id: "installPluginFile", actions: may(auth.PluginsUpdate), query: []string{"grant", "takeSource", "beside", "sha256"}, handle: s.plugins.InstallFile, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/pin", id: "pinPlugin", actions: may(auth.PluginsUpdate), handle: s.plugins.PinPlugin, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/rollback", id: "rollbackPlugin", actions: may(auth.PluginsUpdate), handle: s.plugins.RollbackPlugin, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/remove", id: "removePlugin", actions: may(auth.PluginsUpdate), handle: s.plugins.RemovePlugin, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/diff", id: "comparePlugins", actions: may(auth.PluginsUpdate), handle: s.plugins.ComparePlugins, family: "plugins", loaded: true},
		{method: "POST", path: "/plugins/diff/file", id: "comparePluginFile", actions: may(auth.PluginsUpdate), handle: s.plugins.CompareFile, family: "plugins", loaded: true},

		{method: "GET", path: "/experimental-features", id: "getFeatures", actions: may(auth.ExperimentalGet), handle: s.admin.GetFeatures, family: "features"},
		{method: "PATCH", path: "/experimental-features", id: "updateFeatures", actions: may(auth.ExperimentalUpdate), handle: s.admin.PatchFeatures, family: "features", tell: tellFeatures},
		{method: "GET", path: "/network", id: "getNetwork", actions: may(auth.NetworkGet), needs: feature.Network, handle: s.admin.GetNetwork, family: "network"},
		{method: "PATCH", path: "/network", id: "updateNetwork", actions: may(auth.NetworkUpdate), needs: feature.Network, handle: s.admin.PatchNetwork, family: "network", tell: tellNetwork},

		{method: "GET", path: "/webhooks", id: "listWebhooks", actions: may(auth.WebhooksGet), handle: s.admin.ListWebhooks, family: "other"},
		{method: "POST", path: "/webhooks", id: "createWebhook", actions: may(auth.WebhooksCreate), handle: s.admin.CreateWebhook, family: "other"},
		{method: "GET", path: "/webhooks/:uuid", id: "getWebhook", actions: may(auth.WebhooksGet), handle: s.admin.GetWebhook, family: "other"},
		{method: "PATCH", path: "/webhooks/:uuid", id: "updateWebhook", actions: may(auth.WebhooksUpdate), handle: s.admin.PatchWebhook, family: "other"},
		{method: "DELETE", path: "/webhooks/:uuid", id: "deleteWebhook", actions: may(auth.WebhooksDelete), handle: s.admin.DeleteWebhook, family: "other"},

		{method: "POST", path: "/logs/stderr", id: "setLogLevel", actions: may(auth.MetricsGet), needs: logs, handle: s.setLogLevel, family: "other"},
		{method: "POST", path: "/logs/stream", id: "streamLogs", actions: may(auth.MetricsGet), needs: logs, handle: s.streamLogs, family: "other"},
		{method: "DELETE", path: "/logs/stream", id: "endLogs", actions: may(auth.MetricsGet), needs: logs, handle: s.endLogs, family: "other"},

		{method: "POST", path: "/dumps", id: "createDump", actions: may(auth.DumpsCreate), handle: s.admin.CreateDump, family: "dumps"},
		{method: "POST", path: "/snapshots", id: "createSnapshot", actions: may(auth.SnapshotsCreate), handle: s.admin.CreateSnapshot, family: "dumps"},
		{method: "POST", path: "/export", id: "createExport", actions: may(auth.Export), handle: s.admin.CreateExport, family: "export", tell: tellExport},
	}
}

func (s *Server) chatRoutes() []*route {
	const on = feature.ChatCompletions
	return []*route{
		{method: "GET", path: "/chats", id: "listChats", actions: may(auth.ChatsGet), needs: on, query: page, handle: s.chats.ListChats, family: "chats"},
		{method: "GET", path: "/chats/:uid", id: "getChat", actions: may(auth.ChatsGet), needs: on, handle: s.chats.GetChat, family: "chats"},
		{method: "DELETE", path: "/chats/:uid", id: "deleteChat", actions: may(auth.ChatsDelete), needs: on, handle: s.chats.DeleteChat, family: "chats"},
		{method: "GET", path: "/chats/:uid/settings", id: "getChatSettings", actions: may(auth.ChatsSettingsGet), needs: on, handle: s.chats.GetSettings, family: "chats"},
		{method: "PATCH", path: "/chats/:uid/settings", id: "updateChatSettings", actions: may(auth.ChatsSettingsWrite), needs: on, handle: s.chats.PatchSettings, family: "chats"},
		{method: "DELETE", path: "/chats/:uid/settings", id: "resetChatSettings", actions: may(auth.ChatsSettingsWrite), needs: on, handle: s.chats.ResetSettings, family: "chats"},
		{method: "GET", path: "/chats/:uid/models", id: "listProviderModels", actions: may(auth.ChatsSettingsGet), needs: on, handle: s.chats.ListProviderModels, family: "chats"},
		{method: "POST", path: "/chats/:uid/models", id: "tryProviderModels", actions: may(auth.ChatsSettingsWrite), needs: on, handle: s.chats.ListProviderModels, family: "chats"},
		{method: "POST", path: "/chats/:uid/feedback", id: "rateAnswer", actions: may(auth.ChatCompletions), needs: feature.Feedback, handle: s.chats.PutFeedback, family: "chats", writes: true},
		{method: "GET", path: "/chats/:uid/feedback", id: "listFeedback", actions: may(auth.ChatsSettingsWrite), needs: feature.Feedback, query: page, handle: s.chats.ListFeedback, family: "chats"},
		{method: "GET", path: "/chats/:uid/feedback/export", id: "exportFeedback", actions: may(auth.ChatsSettingsWrite), needs: feature.Feedback, handle: s.chats.ExportFeedback, family: "chats"},
		{method: "DELETE", path: "/chats/:uid/feedback/:id", id: "deleteFeedback", actions: may(auth.ChatsSettingsWrite), needs: feature.Feedback, handle: s.chats.DeleteFeedback, family: "chats"},
		{method: "POST", path: "/chats/:uid/guards/test", id: "testGuards", actions: may(auth.ChatsSettingsWrite), needs: on, reads: true, handle: s.chats.TestGuards, family: "chats"},
		{method: "POST", path: "/chats/:uid/test", id: "testChat", actions: may(auth.ChatsSettingsWrite), needs: on, handle: s.chats.TestChat, family: "chats"},
		{method: "POST", path: "/chats/:uid/chat/completions", id: "createChatCompletion", actions: may(auth.ChatCompletions, auth.Search), needs: on, handle: s.chats.Answer(chatapi.ParseChat), family: "completions", tell: tellRefusedChat, chats: true},
		{method: "POST", path: "/chats/:uid/ui", id: "createUIStream", actions: may(auth.ChatCompletions, auth.Search), needs: on, handle: s.chats.Answer(chatapi.ParseUI), family: "completions", tell: tellRefusedChat, chats: true},
	}
}

// conventionalRoutes are those whose shape others have defined.
func (s *Server) conventionalRoutes() []*route {
	const on = feature.ChatCompletions
	return []*route{
		{method: "GET", path: "/v1/models", id: "listModels", actions: may(auth.ChatCompletions), needs: on, dialect: openAI, handle: s.chats.ListModels, family: "chats"},
		{method: "GET", path: "/v1/models/*", id: "getModel", actions: may(auth.ChatCompletions), needs: on, dialect: openAI, handle: s.chats.GetModel, family: "chats"},
		{method: "POST", path: "/v1/chat/completions", id: "createCompletion", actions: may(auth.ChatCompletions, auth.Search), needs: on, dialect: openAI, handle: s.chats.Answer(chatapi.ParseV1), family: "completions", tell: tellRefusedChat, chats: true},
		{method: "POST", path: "/v1/responses", id: "createResponse", actions: may(auth.ChatCompletions, auth.Search), needs: on, dialect: openAI, handle: s.chats.Answer(chatapi.ParseResponse), family: "completions", tell: tellRefusedChat, chats: true},
		{method: "POST", path: messagesPath, id: "createMessage", actions: may(auth.ChatCompletions, auth.Search), needs: on, dialect: anthropicAPI, handle: s.chats.Answer(chatapi.ParseMessage), family: "completions", tell: tellRefusedChat, chats: true},
		{method: "POST", path: messagesPath + "/count_tokens", id: "countTokens", actions: may(auth.ChatCompletions), needs: on, dialect: anthropicAPI, handle: s.chats.CountTokens, family: "chats"},
		{method: "POST", path: "/v1/completions", id: "createTextCompletion", actions: may(auth.ChatCompletions, auth.Search), needs: on, dialect: openAI, handle: s.chats.Answer(chatapi.ParseText), family: "completions", tell: tellRefusedChat, chats: true},
		{method: "POST", path: "/v1/embeddings", id: "createEmbedding", actions: may(auth.ChatCompletions, auth.Search), needs: on, dialect: openAI, reads: true, handle: s.chats.Embed, family: "other"},
		{method: "GET", path: "/v1/responses/:id", id: "getResponse", actions: may(auth.ChatCompletions), needs: on, dialect: openAI, handle: s.chats.GetResponse, family: "chats"},
		{method: "DELETE", path: "/v1/responses/:id", id: "deleteResponse", actions: may(auth.ChatCompletions), needs: on, dialect: openAI, handle: s.chats.DeleteResponse, family: "chats"},
		{method: "GET", path: "/v1/responses/:id/input_items", id: "listInputItems", actions: may(auth.ChatCompletions), needs: on, dialect: openAI, handle: s.chats.ListInputItems, family: "chats"},
		{method: "POST", path: "/v1/responses/:id/cancel", id: "cancelResponse", actions: may(auth.ChatCompletions), needs: on, dialect: openAI, handle: s.chats.CancelResponse, family: "chats"},

		{method: "POST", path: "/mcp", id: "callMCP", actions: may(auth.Search), needs: feature.MCP, dialect: rpc, handle: s.answerMCP, family: "other"},
	}
}

func (s *Server) keyRoutes() []*route {
	return []*route{
		{method: "GET", path: "/keys", id: "listKeys", actions: may(auth.KeysGet), query: page, handle: s.admin.ListKeys, family: "keys"},
		{method: "POST", path: "/keys", id: "createKey", actions: may(auth.KeysCreate), handle: s.admin.CreateKey, family: "keys"},
		{method: "GET", path: "/keys/current", id: "getCurrentKey", handle: s.admin.GetCurrentKey, family: "keys"},
		{method: "GET", path: "/keys/:key", id: "getKey", actions: may(auth.KeysGet), handle: s.admin.GetKey, family: "keys"},
		{method: "PATCH", path: "/keys/:key", id: "updateKey", actions: may(auth.KeysUpdate), handle: s.admin.PatchKey, family: "keys"},
		{method: "DELETE", path: "/keys/:key", id: "deleteKey", actions: may(auth.KeysDelete), handle: s.admin.DeleteKey, family: "keys"},
	}
}

func (s *Server) indexRoutes() []*route {
	return []*route{
		{method: "GET", path: "/indexes", id: "listIndexes", actions: may(auth.IndexesGet), query: page, handle: s.indexes.ListIndexes, family: "indexes"},
		{method: "POST", path: "/indexes", id: "createIndex", actions: may(auth.IndexesCreate), handle: s.indexes.CreateIndex, family: "indexes", tell: tellIndex(event.IndexCreate)},
		{method: "GET", path: "/indexes/:uid", id: "getIndex", actions: may(auth.IndexesGet), handle: s.indexes.GetIndex, family: "indexes"},
		{method: "PATCH", path: "/indexes/:uid", id: "updateIndex", actions: may(auth.IndexesUpdate), handle: s.indexes.PatchIndex, family: "indexes", tell: tellIndex(event.IndexUpdate)},
		{method: "DELETE", path: "/indexes/:uid", id: "deleteIndex", actions: may(auth.IndexesDelete), handle: s.indexes.DeleteIndex, family: "indexes", tell: tellIndex(event.IndexDelete)},
		{method: "POST", path: "/swap-indexes", id: "swapIndexes", actions: may(auth.IndexesSwap), handle: s.indexes.SwapIndexes, family: "indexes", tell: tellIndex(event.IndexSwap)},
		{method: "GET", path: "/indexes/:uid/stats", id: "getIndexStats", actions: may(auth.StatsGet), query: indexapi.SizeParameters, handle: s.indexes.IndexStats, family: "indexes", tell: tellStats(true)},
	}
}

func (s *Server) documentRoutes() []*route {
	const all, one = "/indexes/:uid/documents", "/indexes/:uid/documents/:id"
	listed := []string{"offset", "limit", "fields", "filter", "ids", "sort", "retrieveVectors"}
	note := []string{"customMetadata"}
	added := []string{"primaryKey", "csvDelimiter", "skipCreation", "customMetadata"}
	return []*route{
		{method: "GET", path: all, id: "listDocuments", actions: may(auth.DocumentsGet), reads: true, query: listed, handle: s.indexes.ListDocuments, family: "documents", tell: tellDocuments(event.DocumentsList)},
		{method: "POST", path: all, id: "addDocuments", actions: may(auth.DocumentsAdd), query: added, handle: s.indexes.PutDocuments, family: "documents", tell: tellDocuments(event.DocumentsReplace)},
		{method: "PUT", path: all, id: "updateDocuments", actions: may(auth.DocumentsAdd), query: added, handle: s.indexes.PatchDocuments, family: "documents", tell: tellDocuments(event.DocumentsUpdate)},
		{method: "DELETE", path: all, id: "deleteAllDocuments", actions: may(auth.DocumentsDelete), query: note, handle: s.indexes.DeleteAllDocuments, family: "documents", tell: tellDocuments(event.DocumentsClear)},
		{method: "POST", path: all + "/fetch", id: "fetchDocuments", actions: may(auth.DocumentsGet), reads: true, handle: s.indexes.FetchDocuments, family: "documents", tell: tellDocuments(event.DocumentsFetch)},
		{method: "POST", path: all + "/delete-batch", id: "deleteDocuments", actions: may(auth.DocumentsDelete), query: note, handle: s.indexes.DeleteDocuments, family: "documents", tell: tellDocuments(event.DocumentsDeleteBatch)},
		{method: "POST", path: all + "/delete", id: "deleteDocumentsByFilter", actions: may(auth.DocumentsDelete), query: note, handle: s.indexes.DeleteByFilter, family: "documents", tell: tellDocuments(event.DocumentsDeleteByFilter)},
		{method: "POST", path: "/indexes/:uid/files", id: "addFiles", actions: may(auth.DocumentsAdd), query: []string{"source", "baseUrl", "split"}, handle: s.indexes.AddFiles, family: "documents", tell: tellDocuments(event.DocumentsReplace)},
		{method: "GET", path: "/indexes/:uid/files", id: "listFiles", actions: may(auth.DocumentsGet), query: append([]string{"q"}, page...), handle: s.indexes.ListFiles, family: "documents", tell: tellDocuments(event.DocumentsList)},
		{method: "GET", path: "/indexes/:uid/files/*", id: "getFile", actions: may(auth.DocumentsGet), query: []string{"source"}, handle: s.indexes.GetFile, family: "documents", tell: tellDocuments(event.DocumentsGet)},
		{method: "GET", path: one, id: "getDocument", actions: may(auth.DocumentsGet), query: []string{"fields", "retrieveVectors"}, handle: s.indexes.GetDocument, family: "documents", tell: tellDocuments(event.DocumentsGet)},
		{method: "DELETE", path: one, id: "deleteDocument", actions: may(auth.DocumentsDelete), query: note, handle: s.indexes.DeleteDocument, family: "documents", tell: tellDocuments(event.DocumentsDelete)},
	}
}

func (s *Server) searchRoutes() []*route {
	return []*route{
		{method: "POST", path: "/indexes/:uid/search", id: "search", actions: may(auth.Search), searches: true, handle: s.indexes.SearchIndex, family: "search", tell: tellSearch},
		{method: "GET", path: "/indexes/:uid/search", id: "searchByURL", actions: may(auth.Search), searches: true, query: indexapi.SearchParameters, handle: s.indexes.SearchByURL, family: "search", tell: tellSearch},
		{method: "POST", path: "/indexes/:uid/facet-search", id: "searchFacet", actions: may(auth.Search), searches: true, handle: s.indexes.SearchFacet, family: "facet_search", tell: tellFacetSearch},
		{method: "POST", path: "/indexes/:uid/similar", id: "findSimilar", actions: may(auth.Search), searches: true, handle: s.indexes.Similar, family: "indexes"},
		{method: "GET", path: "/indexes/:uid/similar", id: "findSimilarByURL", actions: may(auth.Search), searches: true, query: indexapi.SimilarParameters, handle: s.indexes.SimilarByURL, family: "indexes"},
		{method: "POST", path: "/render-template", id: "renderTemplate", actions: may(auth.SettingsGet, auth.DocumentsGet), needs: feature.RenderRoute, handle: s.indexes.RenderTemplate, family: "indexes"},
		{method: "POST", path: "/multi-search", id: "multiSearch", actions: may(auth.Search), reads: true, handle: s.indexes.MultiSearch, family: "multi_search", tell: tellMultiSearch},
	}
}

// settingRoutes are those of all settings at once, and of each by itself.
func (s *Server) settingRoutes() []*route {
	const all = "/indexes/:uid/settings"
	rows := []*route{
		{method: "GET", path: all, id: "getSettings", actions: may(auth.SettingsGet), handle: s.indexes.GetSettings},
		{method: "PATCH", path: all, id: "updateSettings", actions: may(auth.SettingsUpdate), handle: s.indexes.PatchSettings, tell: tellSettings},
		{method: "DELETE", path: all, id: "resetSettings", actions: may(auth.SettingsUpdate), handle: s.indexes.ResetSettings, tell: tellSettingsReset},
	}
	patched := settings.SettingRoutes()
	for _, name := range slices.Sorted(maps.Keys(patched)) {
		verbs := []string{"PUT"}
		switch {
		case name == "chat":
			verbs = []string{"PATCH", "PUT"} // older clients put it
		case patched[name]:
			verbs = []string{"PATCH"}
		}
		path, noun, tell := all+"/"+name, settingNoun(name), tellSetting(name)
		rows = append(rows, &route{method: "GET", path: path, id: "get" + noun, actions: may(auth.SettingsGet), handle: s.indexes.GetSetting(name)})
		for i, verb := range verbs {
			id := []string{"update", "put"}[i] + noun
			rows = append(rows, &route{method: verb, path: path, id: id, actions: may(auth.SettingsUpdate), handle: s.indexes.PutSetting(name), tell: tell})
		}
		rows = append(rows, &route{method: "DELETE", path: path, id: "reset" + noun, actions: may(auth.SettingsUpdate), handle: s.indexes.ResetSetting(name), tell: tell})
	}
	for _, row := range rows {
		row.family = "settings"
	}
	return rows
}

func (s *Server) taskRoutes() []*route {
	listed := append([]string{"limit", "from", "reverse"}, taskapi.Filters...)
	return []*route{
		{method: "GET", path: "/tasks", id: "listTasks", actions: may(auth.TasksGet), query: listed, handle: s.tasks.ListTasks, family: "tasks", tell: tellTasks(event.TasksList)},
		{method: "DELETE", path: "/tasks", id: "deleteTasks", actions: may(auth.TasksDelete), query: taskapi.Filters, handle: s.tasks.DeleteTasks, family: "tasks", tell: tellTasks(event.TasksDelete)},
		{method: "POST", path: "/tasks/cancel", id: "cancelTasks", actions: may(auth.TasksCancel), query: taskapi.Filters, handle: s.tasks.CancelTasks, family: "tasks", tell: tellTasks(event.TasksCancel)},
		{method: "GET", path: "/tasks/:uid", id: "getTask", actions: may(auth.TasksGet), handle: s.tasks.GetTask, family: "tasks", tell: tellTasks(event.TasksGet)},
		{method: "GET", path: "/tasks/:uid/documents", id: "getTaskDocuments", actions: may(auth.TasksGet, auth.DocumentsGet), needs: feature.TaskDocuments, handle: s.indexes.TaskDocuments, family: "tasks"},
		{method: "GET", path: "/batches", id: "listBatches", actions: may(auth.TasksGet), progress: true, query: listed, handle: s.tasks.ListBatches, family: "tasks"},
		{method: "GET", path: "/batches/:uid", id: "getBatch", actions: may(auth.TasksGet), progress: true, handle: s.tasks.GetBatch, family: "tasks"},
	}
}

// pageRoutes are the pages for people, and their files.
func (s *Server) pageRoutes() []*route {
	rows := []*route{{method: "GET", path: "/openapi.json", public: true, handle: s.getOpenAPI, family: "other"}}
	if !s.NoDocs {
		rows = append(rows, &route{method: "GET", path: "/docs/:file?", public: true, handle: s.getDocs, family: "other"})
	}
	rows = append(rows, &route{method: "GET", path: "/", public: true, handle: redirectConsole, family: "other"})
	if !s.Console {
		return append(rows, &route{method: "GET", path: "/console/:file?", public: true, handle: noConsole, family: "other"})
	}
	s.consoleFiles = console.Files()
	return append(rows, &route{method: "GET", path: "/console/:file?", public: true, handle: s.consoleFile, family: "other"})
}

// settingNoun names the setting of a path in an operationId: "StopWordsSetting".
func settingNoun(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Setting"
}

// page are the query parameters of a list.
var page = []string{"offset", "limit"}

func may(actions ...auth.Action) []auth.Action { return actions }
