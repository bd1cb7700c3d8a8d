package httpapi

import (
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// public is the action of a route that asks for no key.
const public auth.Action = ""

// routes is the API's table of contents: each route with the action that it
// asks for and the query parameters that it knows.
func (s *Server) routes() {
	s.route("GET", "/health", public, s.health)
	s.route("GET", "/ready", public, s.ready)
	s.route("GET", "/version", auth.Version, s.version)
	s.route("GET", "/stats", auth.StatsGet, s.stats)
	s.route("GET", "/metrics", auth.MetricsGet, s.needs(feature.Metrics, s.getMetrics))
	s.route("GET", "/telemetry", auth.TelemetryGet, s.getTelemetry)
	s.route("GET", "/telemetry/messages", auth.TelemetryGet, s.getMessages, "of")
	s.route("GET", "/telemetry/metrics", auth.TelemetryGet, s.getTelemetryMetrics)
	s.route("GET", "/telemetry/windows", auth.TelemetryGet, s.getWindows, "limit")
	s.route("GET", "/telemetry/deliveries", auth.TelemetryGet, s.getDeliveries)
	s.route("GET", "/telemetry/export", auth.TelemetryGet, s.getTelemetryExport)
	s.route("POST", "/telemetry/verify", auth.TelemetryVerify, s.verifyTelemetry)
	s.route("GET", "/plugins", auth.PluginsGet, s.plugins)
	s.route("POST", "/plugins/reload", auth.PluginsReload, s.reloadPlugins)

	chats := func(h handler) handler { return s.needs(feature.ChatCompletions, h) }
	s.route("GET", "/chats", auth.ChatsGet, chats(s.listChats), "offset", "limit")
	s.route("GET", "/chats/:uid", auth.ChatsGet, chats(s.getChat))
	s.route("DELETE", "/chats/:uid", auth.ChatsDelete, chats(s.deleteChat))
	s.route("GET", "/chats/:uid/settings", auth.ChatsSettingsGet, chats(s.getChatSettings))
	s.route("PATCH", "/chats/:uid/settings", auth.ChatsSettingsWrite, chats(s.patchChatSettings))
	s.route("DELETE", "/chats/:uid/settings", auth.ChatsSettingsWrite, chats(s.resetChatSettings))
	s.route("POST", completionsPath, auth.ChatCompletions, chats(s.complete))
	s.app.Name(nameOf([]auth.Action{auth.ChatCompletions, auth.Search})) // which complete asks for, too

	s.routesV1()
	s.routeMCP()
	s.routesConsole()

	s.route("GET", "/experimental-features", auth.ExperimentalGet, s.getFeatures)
	s.route("PATCH", "/experimental-features", auth.ExperimentalUpdate, s.patchFeatures)
	s.route("GET", "/network", auth.NetworkGet, s.needs(feature.Network, s.getNetwork))
	s.route("PATCH", "/network", auth.NetworkUpdate, s.needs(feature.Network, s.patchNetwork))

	s.route("GET", "/keys", auth.KeysGet, s.listKeys, "offset", "limit")
	s.route("POST", "/keys", auth.KeysCreate, s.createKey)
	s.route("GET", "/keys/:key", auth.KeysGet, s.getKey)
	s.route("PATCH", "/keys/:key", auth.KeysUpdate, s.patchKey)
	s.route("DELETE", "/keys/:key", auth.KeysDelete, s.deleteKey)

	s.route("GET", "/indexes", auth.IndexesGet, s.listIndexes, "offset", "limit")
	s.route("POST", "/indexes", auth.IndexesCreate, s.createIndex)
	s.route("GET", "/indexes/:uid", auth.IndexesGet, s.getIndex)
	s.route("PATCH", "/indexes/:uid", auth.IndexesUpdate, s.patchIndex)
	s.route("DELETE", "/indexes/:uid", auth.IndexesDelete, s.deleteIndex)
	s.route("POST", "/swap-indexes", auth.IndexesSwap, s.swapIndexes)
	s.route("GET", "/indexes/:uid/stats", auth.StatsGet, s.indexStats)

	s.route("GET", "/indexes/:uid/documents", auth.DocumentsGet, s.listDocuments, "offset", "limit", "fields", "filter", "ids", "sort", "retrieveVectors")
	s.route("POST", "/indexes/:uid/documents", auth.DocumentsAdd, s.putDocuments, "primaryKey", "csvDelimiter")
	s.route("PUT", "/indexes/:uid/documents", auth.DocumentsAdd, s.patchDocuments, "primaryKey", "csvDelimiter")
	s.route("DELETE", "/indexes/:uid/documents", auth.DocumentsDelete, s.deleteAllDocuments)
	s.route("POST", "/indexes/:uid/documents/fetch", auth.DocumentsGet, s.fetchDocuments)
	s.route("POST", "/indexes/:uid/documents/delete-batch", auth.DocumentsDelete, s.deleteDocuments)
	s.route("POST", "/indexes/:uid/documents/delete", auth.DocumentsDelete, s.deleteByFilter)
	s.route("GET", "/indexes/:uid/documents/:id", auth.DocumentsGet, s.getDocument, "fields", "retrieveVectors")
	s.route("DELETE", "/indexes/:uid/documents/:id", auth.DocumentsDelete, s.deleteDocument)

	s.route("POST", "/indexes/:uid/search", auth.Search, s.search)
	s.route("GET", "/indexes/:uid/search", auth.Search, s.searchByURL, searchParameters...)
	s.route("POST", "/indexes/:uid/facet-search", auth.Search, s.searchFacet)
	s.route("POST", "/indexes/:uid/similar", auth.Search, s.similar)
	s.route("GET", "/indexes/:uid/similar", auth.Search, s.similarByURL, similarParameters...)
	s.route("POST", "/multi-search", auth.Search, s.multiSearch)

	s.route("GET", "/indexes/:uid/settings", auth.SettingsGet, s.getSettings)
	s.route("PATCH", "/indexes/:uid/settings", auth.SettingsUpdate, s.patchSettings)
	s.route("DELETE", "/indexes/:uid/settings", auth.SettingsUpdate, s.resetSettings)
	settings := settings.SettingRoutes()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		verb := "PUT"
		if settings[name] {
			verb = "PATCH"
		}
		path := "/indexes/:uid/settings/" + name
		s.route("GET", path, auth.SettingsGet, s.getSetting(name))
		s.route(verb, path, auth.SettingsUpdate, s.putSetting(name))
		if name == "chat" { // older clients put it
			s.route("PUT", path, auth.SettingsUpdate, s.putSetting(name))
		}
		s.route("DELETE", path, auth.SettingsUpdate, s.resetSetting(name))
	}

	page := append([]string{"limit", "from", "reverse"}, taskFilters...)
	s.route("POST", "/logs/stderr", auth.MetricsGet, s.needs(feature.LogsRoute, s.setLogLevel))
	s.route("POST", "/logs/stream", auth.MetricsGet, s.needs(feature.LogsRoute, s.streamLogs))
	s.route("DELETE", "/logs/stream", auth.MetricsGet, s.needs(feature.LogsRoute, s.endLogs))

	s.route("POST", "/dumps", auth.DumpsCreate, s.createDump)
	s.route("POST", "/snapshots", auth.SnapshotsCreate, s.createSnapshot)
	s.route("POST", "/export", auth.Export, s.createExport)

	s.route("GET", "/tasks", auth.TasksGet, s.listTasks, page...)
	s.route("DELETE", "/tasks", auth.TasksDelete, s.deleteTasks, taskFilters...)
	s.route("POST", "/tasks/cancel", auth.TasksCancel, s.cancelTasks, taskFilters...)
	s.route("GET", "/tasks/:uid", auth.TasksGet, s.getTask)
	s.route("GET", "/batches", auth.TasksGet, s.listBatches, page...)
	s.route("GET", "/batches/:uid", auth.TasksGet, s.getBatch)
}

// A handler answers one route.
type handler func(*call) error

// A call is a request whose sender may do what it asks for. It ends with the
// handler: what is kept must be a copy, which all methods of call return.
type call struct {
	*fiber.Ctx
	caller *auth.Caller
	query  query
	access *access
	limit  bodyLimit

	// What the request's event is made of, beside these.
	raw     []byte         // the body that body returned
	found   *search.Result // what a search found
	creates bool           // the index that documents go to is not there
}

// route adds a route: the caller is known and allowed, and the query
// parameters are known, before h is called. The router knows it by the name of
// its action.
func (s *Server) route(method, path string, action auth.Action, h handler, parameters ...string) {
	h = s.told(method, path, h)
	guarded := func(c *fiber.Ctx) error {
		caller, err := s.authorize(c, action)
		if err != nil {
			return err
		}
		q, err := parseQuery(c.Request().URI().QueryArgs(), parameters)
		if err != nil {
			return err
		}
		a, _ := accessOf(c)
		return h(&call{Ctx: c, caller: caller, query: q, access: a, limit: s.bodyLimit(action)})
	}
	s.app.Add(method, path, guarded).Name(string(action))
	if method == fiber.MethodGet {
		s.app.Add(fiber.MethodHead, path, guarded)
	}
}
