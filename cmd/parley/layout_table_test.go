package main

// A layer is how close a package is to the outside. See maySee for which layers
// may import which.
type layer string

const (
	layerABI         layer = "contract"    // what host and plugins agree on
	layerSDK         layer = "sdk"         // for authors of plugins
	layerGuest       layer = "plugins"     // and examples of them
	layerLeaf        layer = "leaves"      // import nothing of ours but each other
	layerDomain      layer = "domain"      // what the service does; knows no technology
	layerTechnology  layer = "technology"  // implements what the domain asks for; owns modules of others
	layerComposition layer = "composition" // puts a host together
	layerProgram     layer = "programs"
	layerTests       layer = "tests of the whole"
)

// layers are in the order in which the page shows them.
var layers = []layer{layerABI, layerSDK, layerGuest, layerLeaf, layerDomain, layerTechnology, layerComposition, layerProgram, layerTests}

// maySee lists, for each layer, the layers that its rows may name.
var maySee = map[layer][]layer{
	layerABI:         {layerABI},
	layerSDK:         {layerABI, layerSDK},
	layerGuest:       {layerABI, layerSDK},
	layerLeaf:        {layerABI, layerLeaf},
	layerDomain:      {layerABI, layerLeaf, layerDomain},
	layerTechnology:  {layerABI, layerLeaf, layerDomain, layerTechnology},
	layerComposition: {layerABI, layerLeaf, layerDomain, layerTechnology, layerComposition},
	layerProgram:     {layerABI, layerGuest, layerLeaf, layerDomain, layerTechnology, layerComposition, layerProgram},
	layerTests:       {layerABI, layerLeaf, layerTechnology, layerComposition, layerProgram},
}

// A row says what the files of a package may import, apart from its tests and
// the standard library. A path that ends in /... stands for all packages below
// it; ~ stands for host/internal/.
type row struct {
	layer   layer
	pkg     string
	ours    string // packages, separated by spaces
	modules string // packages of others, or what their paths begin with
}

// layout has one row for each package. To add a package, add its row, then run
// UPDATE=1 go test ./cmd/parley -run TestArchitecturePage.
var layout = []row{
	{layerABI, "abi", "", ""},
	{layerABI, "abi/answer", "abi", ""},
	{layerABI, "abi/event", "", ""},
	{layerABI, "abi/internal/eventgen", "", ""},
	{layerABI, "abi/manifest", "abi abi/answer abi/event", ""},
	{layerABI, "abi/metric", "abi abi/event", ""},
	{layerABI, "abi/pattern", "abi", ""},
	{layerABI, "abi/response", "abi abi/answer", ""},
	{layerABI, "abi/testdata/...", "abi", ""},
	{layerSDK, "sdk/collector", "abi abi/event sdk/internal/guestmem", ""},
	{layerSDK, "sdk/gemini", "abi sdk/openai sdk/pattern sdk/provider sdk/rawjson sdk/turns", ""},
	{layerSDK, "sdk/guard", "abi sdk/internal/guestmem sdk/match sdk/rawjson", ""},
	{layerSDK, "sdk/internal/guestmem", "abi", ""},
	{layerSDK, "sdk/match", "", ""},
	{layerSDK, "sdk/openai", "abi sdk/internal/guestmem sdk/pattern sdk/provider sdk/rawjson", ""},
	{layerSDK, "sdk/pattern", "abi sdk/rawjson", ""},
	{layerSDK, "sdk/plugintest", "abi abi/event abi/manifest abi/metric abi/pattern abi/response sdk/collector sdk/guard sdk/provider sdk/rawjson", ""},
	{layerSDK, "sdk/provider", "abi sdk/internal/guestmem sdk/rawjson", ""},
	{layerSDK, "sdk/rawjson", "sdk/internal/guestmem", ""},
	{layerSDK, "sdk/turns", "sdk/provider sdk/rawjson", ""},
	{layerGuest, "examples/...", "abi abi/event sdk/...", ""},
	{layerGuest, "plugins/...", "abi abi/event sdk/...", ""},
	{layerGuest, ".", "", ""},
	{layerLeaf, "~access", "", ""},
	{layerLeaf, "~api", "", ""},
	{layerLeaf, "~base", "", ""},
	{layerLeaf, "~base/apierr", "~base/rawjson", ""},
	{layerLeaf, "~base/apierr/chaterr", "~base/apierr", ""},
	{layerLeaf, "~base/apierr/indexerr", "~base/apierr", ""},
	{layerLeaf, "~base/apierr/searcherr", "~base/apierr", ""},
	{layerLeaf, "~base/clocktest", "", ""},
	{layerLeaf, "~base/contain", "", ""},
	{layerLeaf, "~base/framing", "abi ~base/outbound ~base/rawjson", ""},
	{layerLeaf, "~base/freeport", "", ""},
	{layerLeaf, "~base/lines", "", ""},
	{layerLeaf, "~base/memory", "~base/apierr", ""},
	{layerLeaf, "~base/outbound", "abi", ""},
	{layerLeaf, "~base/outbound/outboundtest", "", ""},
	{layerLeaf, "~base/rawjson", "", "github.com/valyala/fastjson"},
	{layerLeaf, "~base/secret", "", ""},
	{layerLeaf, "~base/sysinfo", "", "golang.org/x/sys/unix golang.org/x/sys/windows"},
	{layerLeaf, "~base/waittest", "", ""},
	{layerLeaf, "~data", "", ""},
	{layerLeaf, "~egress", "", ""},
	{layerLeaf, "~setup", "", ""},
	{layerDomain, "~access/auth", "~access/limit ~base/apierr ~base/rawjson", "github.com/golang-jwt/jwt/v5 github.com/google/uuid"},
	{layerDomain, "~access/auth/authtest", "~access/auth ~access/limit ~base/apierr", ""},
	{layerDomain, "~access/limit", "~base/apierr ~base/apierr/chaterr ~base/rawjson", ""},
	{layerDomain, "~access/limit/limittest", "~access/limit", ""},
	{layerDomain, "~api/uistream", "~base/apierr ~base/rawjson ~chat ~chat/jsonbody", ""},
	{layerDomain, "~api/anthropic", "abi ~base/apierr ~base/rawjson ~chat ~chat/jsonbody", ""},
	{layerDomain, "~api/openai", "abi abi/response ~base/apierr ~base/apierr/chaterr ~base/rawjson ~chat ~chat/jsonbody", "github.com/google/uuid"},
	{layerDomain, "~api/openai/responses", "", ""},
	{layerDomain, "~base/feature", "~base/apierr", ""},
	{layerDomain, "~chat", "abi abi/answer abi/manifest abi/pattern abi/response ~access/auth ~access/limit ~base/apierr ~base/apierr/chaterr ~base/apierr/indexerr ~base/contain ~base/outbound ~base/rawjson ~base/secret ~chat/jsonbody ~chat/workspace ~plugin/guard ~plugin/provider ~search/embed ~search/retrieval ~search/text", ""},
	{layerDomain, "~chat/chattest", "abi ~access/auth ~access/limit ~base/apierr ~base/apierr/chaterr ~base/apierr/searcherr ~base/outbound ~base/rawjson ~base/secret ~chat ~chat/jsonbody ~chat/workspace ~plugin/provider", ""},
	{layerDomain, "~chat/jsonbody", "~base/apierr ~base/rawjson", ""},
	{layerDomain, "~chat/workspace", "abi abi/manifest ~access/limit ~base/apierr ~base/apierr/chaterr ~base/outbound ~base/rawjson ~base/secret ~chat/jsonbody ~plugin/guard ~plugin/provider", ""},
	{layerDomain, "~cluster", "~base/contain", ""},
	{layerDomain, "~cluster/clustertest", "~cluster", ""},
	{layerDomain, "~egress/export", "~access/auth ~base/apierr ~base/apierr/searcherr ~base/outbound ~base/secret ~search ~search/settings ~task", "github.com/dustin/go-humanize"},
	{layerDomain, "~plugin/guard", "abi abi/manifest ~plugin/provider", ""},
	{layerDomain, "~plugin/guard/guardtest", "abi ~plugin/guard ~plugin/provider", ""},
	{layerDomain, "~plugin/provider", "abi", ""},
	{layerDomain, "~search", "abi ~access/auth ~base/apierr ~base/apierr/indexerr ~base/apierr/searcherr ~base/feature ~base/memory ~base/outbound ~base/rawjson ~search/attribute ~search/bleveindex ~search/embed ~search/embedder ~search/filter ~search/highlight ~search/index ~search/passage ~search/rank ~search/retrieval ~search/settings ~search/storage ~search/text ~search/vector ~search/write", "github.com/RoaringBitmap/roaring/v2"},
	{layerDomain, "~search/attribute", "~base/rawjson", ""},
	{layerDomain, "~search/bleveindex", "~base/contain ~base/rawjson ~search/attribute ~search/storage ~search/text", "github.com/RoaringBitmap/roaring/v2 github.com/blevesearch github.com/google/uuid"},
	{layerDomain, "~search/embed", "abi abi/answer ~base/memory ~base/outbound ~base/secret", ""},
	{layerDomain, "~search/embedder", "abi abi/manifest ~base/apierr ~base/apierr/indexerr ~base/outbound ~base/secret ~search/embed ~search/settings", ""},
	{layerDomain, "~search/federate", "abi ~access/auth ~base/apierr ~base/apierr/indexerr ~base/apierr/searcherr ~base/contain ~base/feature ~base/outbound ~base/rawjson ~search ~search/bleveindex ~search/filter ~search/index ~search/network ~search/rank ~search/settings ~search/text", ""},
	{layerDomain, "~search/filter", "~base/apierr ~base/feature ~base/rawjson ~search/attribute ~search/text", "github.com/RoaringBitmap/roaring/v2"},
	{layerDomain, "~search/highlight", "~base/apierr ~base/apierr/searcherr ~base/rawjson ~search/attribute ~search/settings ~search/text", ""},
	{layerDomain, "~search/index", "~base/apierr ~base/apierr/indexerr ~base/contain ~base/feature ~base/rawjson ~search/attribute ~search/bleveindex ~search/filter ~search/settings ~search/storage ~search/vector", "github.com/google/uuid"},
	{layerDomain, "~search/ingest", "abi/answer ~base/apierr ~base/apierr/indexerr ~base/lines ~base/rawjson ~search/attribute ~search/settings ~search/vector", ""},
	{layerDomain, "~search/network", "~base/apierr ~base/apierr/searcherr ~base/outbound ~base/secret", ""},
	{layerDomain, "~search/network/networktest", "~base/secret ~search/network", ""},
	{layerDomain, "~search/passage", "~search/text", ""},
	{layerDomain, "~search/rank", "~search/attribute ~search/bleveindex ~search/highlight ~search/settings ~search/text ~search/vector", "github.com/RoaringBitmap/roaring/v2"},
	{layerDomain, "~search/render", "~access/auth ~base/apierr ~base/apierr/indexerr ~base/feature ~base/rawjson ~search/attribute ~search/settings ~search/template", ""},
	{layerDomain, "~search/retrieval", "~base/rawjson", ""},
	{layerDomain, "~search/settings", "~base/apierr ~base/apierr/indexerr ~base/apierr/searcherr ~base/feature ~base/outbound ~base/rawjson ~base/secret ~search/attribute ~search/bleveindex ~search/embed ~search/template ~search/text", "golang.org/x/text"},
	{layerDomain, "~search/storage", "", ""},
	{layerDomain, "~search/template", "", ""},
	{layerDomain, "~search/text", "~base/rawjson ~search/attribute", "github.com/blevesearch/bleve/v2/analysis github.com/blevesearch/snowballstem github.com/blevesearch/vellum golang.org/x/text"},
	{layerDomain, "~search/vector", "~base/apierr ~base/apierr/indexerr ~base/contain ~search/storage", ""},
	{layerDomain, "~search/write", "abi ~base/apierr ~base/apierr/indexerr ~base/feature ~base/rawjson ~search/attribute ~search/bleveindex ~search/embedder ~search/filter ~search/index ~search/ingest ~search/settings ~search/storage ~search/template ~search/vector ~task", ""},
	{layerDomain, "~task", "~base/apierr ~base/contain ~base/memory", ""},
	{layerDomain, "~task/webhook", "~base/apierr ~base/outbound ~base/secret ~task", "github.com/google/uuid"},
	{layerDomain, "~telemetry", "abi abi/event abi/metric ~base/rawjson ~base/sysinfo", "github.com/dustin/go-humanize"},
	{layerTechnology, "~api/console", "", ""},
	{layerTechnology, "~api/httpapi", "abi/event ~access/auth ~access/limit ~api/anthropic ~api/console ~api/httpapi/adminapi ~api/httpapi/chatapi ~api/httpapi/indexapi ~api/httpapi/pluginapi ~api/httpapi/request ~api/httpapi/taskapi ~api/httpapi/telemetryapi ~api/httpapi/transport ~api/mcp ~api/openai ~api/openai/responses ~api/reference ~base/apierr ~base/apierr/chaterr ~base/apierr/indexerr ~base/feature ~base/logs ~base/memory ~base/outbound ~chat ~chat/workspace ~cluster ~egress/export ~search ~search/federate ~search/network ~search/reader ~search/settings ~task ~task/webhook ~telemetry ~telemetry/tracing", "github.com/gofiber/fiber/v2 github.com/google/uuid github.com/rs/zerolog github.com/valyala/fasthttp"},
	{layerTechnology, "~api/httpapi/adminapi", "~access/auth ~access/limit ~api/httpapi/request ~api/httpapi/taskapi ~base/apierr ~base/feature ~egress/export ~search/network ~task ~task/webhook", ""},
	{layerTechnology, "~api/httpapi/chatapi", "~access/auth ~access/limit ~api/anthropic ~api/httpapi/request ~api/mcp ~api/openai ~api/openai/responses ~api/uistream ~base/apierr ~base/apierr/chaterr ~base/apierr/indexerr ~base/apierr/searcherr ~chat ~chat/workspace ~search ~search/embed", "github.com/rs/zerolog"},
	{layerTechnology, "~api/httpapi/indexapi", "~api/httpapi/request ~api/httpapi/taskapi ~base/apierr ~base/apierr/indexerr ~base/apierr/searcherr ~base/contain ~base/feature ~base/outbound ~search ~search/federate ~search/highlight ~search/index ~search/ingest ~search/reader ~search/render ~search/retrieval ~search/settings ~search/write ~task", "github.com/google/uuid"},
	{layerTechnology, "~api/httpapi/pluginapi", "abi ~access/auth ~api/httpapi/request ~base/apierr ~chat ~cluster ~plugin/deploy", ""},
	{layerTechnology, "~api/httpapi/request", "~access/auth ~access/limit ~api/httpapi/transport ~base/apierr ~base/memory ~base/rawjson ~search", "github.com/gofiber/fiber/v2 github.com/klauspost/compress/gzip github.com/klauspost/compress/zlib github.com/klauspost/compress/zstd github.com/molecule-man/go-brrr github.com/valyala/fasthttp"},
	{layerTechnology, "~api/httpapi/taskapi", "~api/httpapi/request ~base/apierr ~base/apierr/indexerr ~task", ""},
	{layerTechnology, "~api/httpapi/telemetryapi", "abi ~api/httpapi/request ~base/apierr ~telemetry", ""},
	{layerTechnology, "~api/httpapi/transport", "", "golang.org/x/crypto/ocsp golang.org/x/sys/unix"},
	{layerTechnology, "~api/mcp", "~access/auth ~base/apierr ~base/apierr/chaterr ~base/apierr/indexerr ~base/apierr/searcherr ~base/memory ~base/rawjson ~chat ~search ~search/text", "github.com/google/jsonschema-go github.com/modelcontextprotocol/go-sdk"},
	{layerTechnology, "~api/reference", "", ""},
	{layerTechnology, "~base/badgerdir", "~base/sysinfo", "github.com/dgraph-io/badger/v4 github.com/dgraph-io/ristretto/v2 github.com/dustin/go-humanize"},
	{layerTechnology, "~base/logs", "", "github.com/rs/zerolog"},
	{layerTechnology, "~base/watch", "", "github.com/fsnotify/fsnotify"},
	{layerTechnology, "~cluster/jetstream", "~base/contain ~cluster", "github.com/nats-io/nats.go"},
	{layerTechnology, "~cluster/natsd", "~base/freeport", "github.com/nats-io/nats-server/v2"},
	{layerTechnology, "~data/archive", "", "github.com/klauspost/compress/zstd"},
	{layerTechnology, "~data/store", "~access/auth ~access/limit ~base/apierr ~base/badgerdir ~base/contain ~base/feature ~base/lines ~base/secret ~base/sysinfo ~chat/workspace ~cluster ~egress/export ~plugin/guard ~search/network ~search/settings ~search/storage ~search/write ~task ~task/webhook ~telemetry", "github.com/RoaringBitmap/roaring/v2 github.com/dgraph-io/badger/v4 github.com/dustin/go-humanize github.com/google/uuid golang.org/x/crypto/chacha20poly1305"},
	{layerTechnology, "~egress/credential", "abi abi/answer abi/manifest ~base/contain ~base/outbound", "github.com/aws/aws-sdk-go-v2/aws github.com/golang-jwt/jwt/v5 golang.org/x/oauth2"},
	{layerTechnology, "~egress/upstream", "abi ~base/framing ~base/outbound ~base/rawjson ~base/secret ~egress/export ~egress/upstream/http1 ~task ~telemetry", "github.com/google/uuid"},
	{layerTechnology, "~egress/upstream/http1", "", ""},
	{layerTechnology, "~egress/upstream/upstreamtest", "", ""},
	{layerTechnology, "~plugin", "abi abi/answer abi/event abi/manifest abi/metric abi/response ~base/apierr ~base/contain ~base/outbound ~base/rawjson ~plugin/guard ~plugin/provider ~plugin/wasm", "golang.org/x/mod/semver"},
	{layerTechnology, "~plugin/conformance", "abi abi/answer abi/event abi/manifest abi/metric abi/pattern abi/response abi/testdata/vectors ~base/framing ~base/outbound ~plugin ~plugin/guard ~plugin/wasm", ""},
	{layerTechnology, "~plugin/deploy", "abi abi/manifest ~base/contain ~base/outbound ~base/sysinfo ~plugin ~plugin/registry", "aead.dev/minisign"},
	{layerTechnology, "~plugin/registry", "", "github.com/opencontainers oras.land/oras-go/v2"},
	{layerTechnology, "~plugin/wasm", "abi ~base/sysinfo ~plugin/wasm/meter", "github.com/klauspost/compress/zstd github.com/tetratelabs/wazero golang.org/x/sys/unix golang.org/x/sys/windows"},
	{layerTechnology, "~plugin/wasm/meter", "", ""},
	{layerTechnology, "~search/reader", "~search/passage ~search/reader/pdf", "github.com/gogs/chardet github.com/pelletier/go-toml/v2 github.com/xuri/excelize/v2 github.com/yuin/goldmark go.yaml.in/yaml/v3 golang.org/x/net/html golang.org/x/text/encoding"},
	{layerTechnology, "~search/reader/pdf", "~plugin/wasm", "github.com/klippa-app/go-pdfium"},
	{layerTechnology, "~setup/metrics", "", "github.com/prometheus"},
	{layerTechnology, "~telemetry/outbox", "~base/badgerdir ~telemetry", "github.com/dgraph-io/badger/v4 github.com/dustin/go-humanize"},
	{layerTechnology, "~telemetry/tracing", "~base/apierr ~base/outbound ~chat ~plugin/provider", "go.opentelemetry.io/otel"},
	{layerComposition, "~setup/node", "~access/auth ~api/httpapi ~api/httpapi/pluginapi ~base/contain ~base/feature ~cluster ~cluster/jetstream ~data/archive ~data/store ~plugin/deploy ~search ~search/index ~setup/backup ~setup/config ~setup/figures ~setup/masterkey ~setup/meilidump ~setup/metrics ~task ~task/webhook", "github.com/rs/zerolog"},
	{layerComposition, "host", "abi abi/event abi/manifest abi/response ~...", "github.com/rs/zerolog"},
	{layerComposition, "~setup/backup", "~base/apierr ~base/sysinfo ~data/archive ~data/store ~plugin/deploy ~search ~search/index ~setup/config ~setup/meilidump ~task", "github.com/rs/zerolog"},
	{layerComposition, "~setup/config", "abi/event abi/manifest ~api/httpapi ~api/httpapi/transport ~base/apierr ~base/feature ~base/outbound ~base/secret ~base/sysinfo ~chat/workspace ~egress/upstream ~plugin ~plugin/deploy ~plugin/guard ~telemetry", "github.com/dustin/go-humanize github.com/knadh/koanf"},
	{layerComposition, "~setup/figures", "abi ~access/limit ~api/httpapi ~base/apierr ~base/apierr/searcherr ~base/memory ~chat ~plugin ~plugin/guard ~search ~setup/metrics ~task ~telemetry ~telemetry/outbox", ""},
	{layerComposition, "~setup/masterkey", "~access/auth ~data/store ~setup/config", "github.com/rs/zerolog"},
	{layerComposition, "~setup/meilidump", "~access/auth ~base/apierr ~base/apierr/indexerr ~base/feature ~base/lines ~base/logs ~base/secret ~chat/workspace ~data/store ~egress/upstream ~search ~search/index ~search/network ~search/write ~setup/config ~task ~task/webhook", "github.com/google/uuid"},
	{layerComposition, "~setup/trial", "abi abi/manifest abi/response ~access/auth ~api/openai ~base/framing ~base/outbound ~base/secret ~chat ~chat/workspace ~egress/credential ~egress/upstream ~plugin ~plugin/conformance ~plugin/guard ~plugin/provider ~plugin/wasm", ""},
	{layerComposition, "~setup/testhook", "~base/sysinfo ~data/store ~egress/upstream ~task ~telemetry ~telemetry/outbox", ""},
	{layerProgram, "cmd/parley", "host/cli", "golang.org/x/crypto/x509roots/fallback"},
	{layerProgram, "cmd/parley/embedded", "", ""},
	{layerProgram, "cmd/quickstart", "", ""},
	{layerProgram, "cmd/parley/bench", "", "golang.org/x/sys/unix"},
	{layerProgram, "host/cli", ". abi cmd/parley/embedded host/cli/internal/... examples/quickstart host ~...", "github.com/dustin/go-humanize github.com/pkg/browser github.com/spf13/cobra github.com/spf13/pflag golang.org/x/sys/unix"},
	{layerProgram, "host/cli/internal/benchmark", "cmd/parley/bench host/cli/internal/cmdutil host/cli/internal/documents examples/quickstart", "github.com/spf13/cobra golang.org/x/sys/unix"},
	{layerProgram, "host/cli/internal/cmdutil", "~base/apierr ~base/logs ~data/store ~setup/config host", "github.com/mattn/go-runewidth github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term"},
	{layerProgram, "host/cli/internal/documents", "host/cli/internal/cmdutil ~base/apierr ~base/apierr/indexerr ~search/ingest ~search/reader ~search/reader/pdf ~search/text", "github.com/dustin/go-humanize github.com/spf13/cobra github.com/spf13/pflag"},
	{layerProgram, "host/cli/internal/query", "host/cli/internal/cmdutil ~search/retrieval", "github.com/mattn/go-runewidth github.com/spf13/cobra"},
	{layerProgram, "host/cli/internal/telemetry", "abi abi/manifest host host/cli/internal/cmdutil ~plugin ~plugin/deploy ~setup/config ~setup/metrics ~telemetry", "github.com/dustin/go-humanize github.com/spf13/cobra"},
	{layerTests, "host/e2e", "", ""},
	{layerTests, "host/e2e/apart", "", ""},
	{layerTests, "host/e2e/console", "", ""},
	{layerTests, "host/e2e/garbage", "", ""},
	{layerTests, "host/e2e/house", "abi cmd/parley/bench host ~base/logs ~base/waittest ~plugin ~setup/config ~setup/testhook", "github.com/dgraph-io/badger/v4 github.com/klauspost/compress/zstd"},
}

// shared are modules that more than one package may own: types that cross
// borders, and small helpers.
var shared = []string{
	"github.com/rs/zerolog", "github.com/google/uuid", "github.com/dustin/go-humanize", "github.com/RoaringBitmap/roaring/v2",
	"golang.org/x/sys/unix", "golang.org/x/sys/windows", "golang.org/x/text",
	"github.com/klauspost/compress/zstd",
	"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/mattn/go-runewidth", // each package of commands makes its own
	"github.com/dgraph-io/badger/v4",                             // the database is store's, the spool of telemetry one of its own
	"github.com/golang-jwt/jwt/v5",                               // auth reads the tokens of tenants, credential makes those for providers
	"github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp", // the server is httpapi's, a request and its answer are httpapi/request's
}
