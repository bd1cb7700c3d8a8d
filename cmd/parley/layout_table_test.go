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
	layerProgram:     {layerABI, layerGuest, layerComposition, layerProgram},
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
	{layerABI, "abi/manifest", "abi abi/event", ""},
	{layerABI, "abi/metric", "abi", ""},
	{layerABI, "abi/pattern", "abi", ""},
	{layerABI, "abi/response", "abi abi/answer", ""},
	{layerABI, "abi/testdata/...", "abi", ""},
	{layerSDK, "sdk/collector", "abi abi/event sdk/internal/guestmem", ""},
	{layerSDK, "sdk/gemini", "abi sdk/openai sdk/pattern sdk/provider sdk/rawjson", ""},
	{layerSDK, "sdk/internal/guestmem", "", ""},
	{layerSDK, "sdk/openai", "abi sdk/internal/guestmem sdk/pattern sdk/provider sdk/rawjson", ""},
	{layerSDK, "sdk/pattern", "abi sdk/rawjson", ""},
	{layerSDK, "sdk/plugintest", "abi abi/event abi/manifest abi/metric abi/pattern abi/response sdk/collector sdk/provider sdk/rawjson", ""},
	{layerSDK, "sdk/provider", "abi sdk/internal/guestmem sdk/rawjson", ""},
	{layerSDK, "sdk/rawjson", "sdk/internal/guestmem", ""},
	{layerGuest, "examples/...", "abi abi/event sdk/...", ""},
	{layerGuest, "plugins/...", "abi abi/event sdk/...", ""},
	{layerGuest, ".", "", ""},
	{layerLeaf, "~apierr", "~rawjson", ""},
	{layerLeaf, "~apierr/chaterr", "~apierr", ""},
	{layerLeaf, "~apierr/indexerr", "~apierr", ""},
	{layerLeaf, "~apierr/searcherr", "~apierr", ""},
	{layerLeaf, "~clocktest", "", ""},
	{layerLeaf, "~freeport", "", ""},
	{layerLeaf, "~contain", "", ""},
	{layerLeaf, "~waittest", "", ""},
	{layerLeaf, "~memory", "~apierr", ""},
	{layerLeaf, "~outbound", "abi", ""},
	{layerLeaf, "~outbound/outboundtest", "", ""},
	{layerLeaf, "~rawjson", "", "github.com/valyala/fastjson"},
	{layerLeaf, "~secret", "", ""},
	{layerLeaf, "~system", "", "golang.org/x/sys/unix golang.org/x/sys/windows"},
	{layerDomain, "~anthropic", "abi ~apierr ~chat ~chat/jsonbody ~rawjson", ""},
	{layerDomain, "~auth", "~apierr ~limit ~rawjson", "github.com/golang-jwt/jwt/v5 github.com/google/uuid"},
	{layerDomain, "~auth/authtest", "~apierr ~auth ~limit", ""},
	{layerDomain, "~chat", "abi abi/answer abi/manifest abi/pattern abi/response ~apierr ~apierr/chaterr ~auth ~chat/jsonbody ~chat/workspace ~limit ~outbound ~rawjson ~secret", ""},
	{layerDomain, "~chat/chattest", "abi ~apierr ~apierr/chaterr ~apierr/searcherr ~auth ~chat ~chat/workspace ~limit ~outbound ~secret", ""},
	{layerDomain, "~chat/jsonbody", "~apierr ~rawjson", ""},
	{layerDomain, "~chat/workspace", "abi abi/manifest ~apierr ~apierr/chaterr ~chat/jsonbody ~limit ~outbound ~rawjson ~secret", ""},
	{layerDomain, "~cluster", "~contain", ""},
	{layerDomain, "~cluster/clustertest", "~cluster", ""},
	{layerDomain, "~export", "~apierr ~apierr/searcherr ~auth ~outbound ~search ~search/settings ~secret ~task", "github.com/dustin/go-humanize"},
	{layerDomain, "~feature", "~apierr", ""},
	{layerDomain, "~limit", "~apierr ~apierr/chaterr ~rawjson", ""},
	{layerDomain, "~limit/limittest", "~limit", ""},
	{layerDomain, "~network", "~apierr ~apierr/searcherr ~outbound ~secret", ""},
	{layerDomain, "~network/networktest", "~network ~secret", ""},
	{layerDomain, "~openai", "abi abi/response ~apierr ~apierr/chaterr ~chat ~rawjson", "github.com/google/uuid"},
	{layerDomain, "~responses", "", ""},
	{layerDomain, "~search", "abi ~apierr ~apierr/indexerr ~apierr/searcherr ~auth ~chat ~feature ~memory ~outbound ~rawjson ~search/attribute ~search/embedder ~search/filter ~search/folder ~search/highlight ~search/index ~search/passage ~search/rank ~search/settings ~search/storage ~search/text ~search/vector ~search/write", "github.com/RoaringBitmap/roaring/v2"},
	{layerDomain, "~search/attribute", "~rawjson", ""},
	{layerDomain, "~search/embed", "abi abi/answer ~outbound ~secret", ""},
	{layerDomain, "~search/embedder", "abi abi/answer abi/manifest ~apierr ~apierr/indexerr ~chat ~chat/workspace ~outbound ~search/embed ~search/settings ~secret", ""},
	{layerDomain, "~search/federate", "abi ~apierr ~apierr/indexerr ~apierr/searcherr ~auth ~contain ~feature ~network ~outbound ~rawjson ~search ~search/filter ~search/folder ~search/index ~search/rank ~search/settings ~search/text", ""},
	{layerDomain, "~search/filter", "~apierr ~feature ~rawjson ~search/attribute ~search/text", "github.com/RoaringBitmap/roaring/v2"},
	{layerDomain, "~search/folder", "~contain ~rawjson ~search/attribute ~search/storage ~search/text", "github.com/RoaringBitmap/roaring/v2 github.com/blevesearch github.com/google/uuid"},
	{layerDomain, "~search/highlight", "~apierr ~apierr/searcherr ~rawjson ~search/attribute ~search/settings ~search/text", ""},
	{layerDomain, "~search/index", "~apierr ~apierr/indexerr ~contain ~feature ~rawjson ~search/attribute ~search/filter ~search/folder ~search/settings ~search/storage ~search/vector", "github.com/google/uuid"},
	{layerDomain, "~search/ingest", "abi/answer ~apierr ~apierr/indexerr ~rawjson ~search/attribute ~search/settings ~search/vector", ""},
	{layerDomain, "~search/passage", "", "github.com/blevesearch/snowballstem"},
	{layerDomain, "~search/rank", "~search/attribute ~search/folder ~search/highlight ~search/settings ~search/text ~search/vector", "github.com/RoaringBitmap/roaring/v2"},
	{layerDomain, "~search/render", "~apierr ~apierr/indexerr ~auth ~feature ~rawjson ~search/attribute ~search/settings ~search/template", ""},
	{layerDomain, "~search/settings", "~apierr ~apierr/indexerr ~apierr/searcherr ~feature ~outbound ~rawjson ~search/attribute ~search/embed ~search/folder ~search/template ~search/text ~secret", "golang.org/x/text"},
	{layerDomain, "~search/storage", "", ""},
	{layerDomain, "~search/template", "", ""},
	{layerDomain, "~search/text", "~rawjson ~search/attribute", "github.com/blevesearch/bleve/v2/analysis github.com/blevesearch/vellum golang.org/x/text"},
	{layerDomain, "~search/vector", "~apierr ~apierr/indexerr ~contain ~search/storage", ""},
	{layerDomain, "~search/write", "abi ~apierr ~apierr/indexerr ~feature ~rawjson ~search/embedder ~search/filter ~search/folder ~search/index ~search/ingest ~search/settings ~search/storage ~search/template ~search/vector ~task", ""},
	{layerDomain, "~task", "~apierr ~contain", ""},
	{layerDomain, "~telemetry", "abi abi/event abi/metric ~rawjson ~system", "github.com/dustin/go-humanize"},
	{layerDomain, "~webhook", "~apierr ~outbound ~secret ~task", "github.com/google/uuid"},
	{layerTechnology, "~archive", "", "github.com/klauspost/compress/zstd"},
	{layerTechnology, "~cluster/jetstream", "~cluster ~contain", "github.com/nats-io/nats.go"},
	{layerTechnology, "~cluster/natsd", "~freeport", "github.com/nats-io/nats-server/v2"},
	{layerTechnology, "~console", "", ""},
	{layerTechnology, "~reference", "", ""},
	{layerTechnology, "~credential", "abi abi/manifest ~contain ~outbound", "github.com/aws/aws-sdk-go-v2/aws golang.org/x/oauth2"},
	{layerTechnology, "~deploy", "abi abi/manifest ~contain ~outbound ~plugin ~registry ~system", "aead.dev/minisign"},
	{layerTechnology, "~httpapi", "abi/event ~anthropic ~apierr ~apierr/chaterr ~apierr/indexerr ~auth ~chat ~chat/workspace ~cluster ~console ~export ~feature ~httpapi/adminapi ~httpapi/exchange ~httpapi/indexapi ~httpapi/pluginapi ~httpapi/taskapi ~httpapi/telemetryapi ~httpapi/transport ~limit ~logs ~mcp ~memory ~network ~openai ~outbound ~reader ~reference ~responses ~search ~search/federate ~search/settings ~task ~telemetry ~tracing ~webhook", "github.com/gofiber/fiber/v2 github.com/google/uuid github.com/rs/zerolog github.com/valyala/fasthttp"},
	{layerTechnology, "~httpapi/adminapi", "~apierr ~auth ~export ~feature ~httpapi/exchange ~httpapi/taskapi ~limit ~network ~task ~webhook", ""},
	{layerTechnology, "~httpapi/exchange", "~apierr ~auth ~httpapi/transport ~memory ~search", "github.com/gofiber/fiber/v2 github.com/molecule-man/go-brrr github.com/valyala/fasthttp"},
	{layerTechnology, "~httpapi/indexapi", "~apierr ~apierr/indexerr ~apierr/searcherr ~contain ~feature ~httpapi/exchange ~httpapi/taskapi ~outbound ~reader ~search ~search/federate ~search/highlight ~search/index ~search/ingest ~search/render ~search/settings ~search/write ~task", "github.com/google/uuid"},
	{layerTechnology, "~httpapi/pluginapi", "abi ~apierr ~auth ~chat ~cluster ~deploy ~httpapi/exchange", ""},
	{layerTechnology, "~httpapi/taskapi", "~apierr ~apierr/indexerr ~httpapi/exchange ~task", ""},
	{layerTechnology, "~httpapi/telemetryapi", "abi ~apierr ~httpapi/exchange ~telemetry", ""},
	{layerTechnology, "~httpapi/transport", "", "golang.org/x/crypto/ocsp golang.org/x/sys/unix"},
	{layerTechnology, "~kit", "abi abi/answer abi/event abi/manifest abi/metric abi/pattern abi/response abi/testdata/vectors ~outbound ~plugin ~upstream ~wasm", ""},
	{layerTechnology, "~logs", "", "github.com/rs/zerolog"},
	{layerTechnology, "~mcp", "~apierr ~apierr/chaterr ~apierr/indexerr ~apierr/searcherr ~auth ~chat ~rawjson ~search ~search/text", "github.com/google/jsonschema-go github.com/modelcontextprotocol/go-sdk"},
	{layerTechnology, "~metrics", "", "github.com/prometheus"},
	{layerTechnology, "~plugin", "abi abi/answer abi/event abi/manifest abi/metric abi/response ~apierr ~chat ~chat/workspace ~contain ~outbound ~rawjson ~wasm", "golang.org/x/mod/semver"},
	{layerTechnology, "~reader", "~reader/pdf ~search/passage", "github.com/gogs/chardet github.com/pelletier/go-toml/v2 github.com/xuri/excelize/v2 github.com/yuin/goldmark go.yaml.in/yaml/v3 golang.org/x/net/html golang.org/x/text/encoding"},
	{layerTechnology, "~reader/pdf", "~wasm", "github.com/klippa-app/go-pdfium"},
	{layerTechnology, "~registry", "", "github.com/opencontainers oras.land/oras-go/v2"},
	{layerTechnology, "~dbfolder", "~system", "github.com/dustin/go-humanize"},
	{layerTechnology, "~spool", "~dbfolder ~telemetry", "github.com/dgraph-io/badger/v4 github.com/dustin/go-humanize"},
	{layerTechnology, "~store", "~apierr ~auth ~chat/workspace ~cluster ~contain ~dbfolder ~export ~feature ~limit ~network ~search/settings ~search/storage ~search/write ~secret ~system ~task ~telemetry ~webhook", "github.com/RoaringBitmap/roaring/v2 github.com/dgraph-io/badger/v4 github.com/dustin/go-humanize github.com/google/uuid golang.org/x/crypto/chacha20poly1305"},
	{layerTechnology, "~tracing", "~apierr ~chat ~outbound", "go.opentelemetry.io/otel"},
	{layerTechnology, "~upstream", "abi ~export ~outbound ~rawjson ~secret ~task ~telemetry ~upstream/http1", "github.com/google/uuid"},
	{layerTechnology, "~upstream/http1", "", ""},
	{layerTechnology, "~upstream/upstreamtest", "", ""},
	{layerTechnology, "~wasm", "abi ~system ~wasm/meter", "github.com/klauspost/compress/zstd github.com/tetratelabs/wazero golang.org/x/sys/unix golang.org/x/sys/windows"},
	{layerTechnology, "~wasm/meter", "", ""},
	{layerTechnology, "~watch", "", "github.com/fsnotify/fsnotify"},
	{layerComposition, "~node", "~archive ~auth ~backup ~cluster ~cluster/jetstream ~config ~contain ~deploy ~feature ~figures ~httpapi ~httpapi/pluginapi ~masterkey ~metrics ~movein ~search ~search/index ~store ~task ~webhook", "github.com/rs/zerolog"},
	{layerComposition, "host", "abi abi/event abi/manifest abi/response ~...", "github.com/rs/zerolog"},
	{layerComposition, "~backup", "~apierr ~archive ~config ~deploy ~movein ~search ~store ~task", "github.com/rs/zerolog"},
	{layerComposition, "~config", "abi/event ~apierr ~chat/workspace ~deploy ~feature ~httpapi ~httpapi/transport ~outbound ~plugin ~secret ~system ~telemetry ~upstream", "github.com/dustin/go-humanize github.com/knadh/koanf"},
	{layerComposition, "~figures", "abi ~apierr ~apierr/searcherr ~chat ~httpapi ~limit ~memory ~metrics ~plugin ~search ~spool ~task ~telemetry", ""},
	{layerComposition, "~machine", "~dbfolder ~system", ""},
	{layerComposition, "~movein", "~apierr ~apierr/indexerr ~auth ~chat/workspace ~config ~feature ~network ~search ~search/index ~search/write ~secret ~store ~task ~upstream ~webhook", "github.com/google/uuid"},
	{layerComposition, "~masterkey", "~auth ~config ~store", "github.com/rs/zerolog"},
	{layerComposition, "~testhook", "~machine ~spool ~store ~task ~telemetry ~upstream", ""},
	{layerProgram, "cmd/parley", ". abi cmd/parley/internal/benchmark cmd/parley/internal/cli cmd/parley/internal/documents cmd/parley/internal/query cmd/parley/internal/telemetry examples/quickstart host", "github.com/dustin/go-humanize github.com/pkg/browser github.com/spf13/cobra github.com/spf13/pflag golang.org/x/crypto/x509roots/fallback golang.org/x/sys/unix"},
	{layerProgram, "cmd/quickstart", "", ""},
	{layerProgram, "cmd/parley/bench", "", "golang.org/x/sys/unix"},
	{layerProgram, "cmd/parley/internal/benchmark", "cmd/parley/bench cmd/parley/internal/cli cmd/parley/internal/documents examples/quickstart", "github.com/spf13/cobra golang.org/x/sys/unix"},
	{layerProgram, "cmd/parley/internal/cli", "host", "github.com/mattn/go-runewidth github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term"},
	{layerProgram, "cmd/parley/internal/documents", "cmd/parley/internal/cli host", "github.com/dustin/go-humanize github.com/spf13/cobra github.com/spf13/pflag"},
	{layerProgram, "cmd/parley/internal/query", "cmd/parley/internal/cli", "github.com/mattn/go-runewidth github.com/spf13/cobra"},
	{layerProgram, "cmd/parley/internal/telemetry", "abi cmd/parley/internal/cli host", "github.com/dustin/go-humanize github.com/spf13/cobra"},
	{layerTests, "host/e2e", "", ""},
	{layerTests, "host/e2e/apart", "", ""},
	{layerTests, "host/e2e/console", "", ""},
	{layerTests, "host/e2e/garbage", "", ""},
	{layerTests, "host/e2e/house", "abi cmd/parley/bench host ~plugin ~testhook ~waittest", "github.com/dgraph-io/badger/v4 github.com/klauspost/compress/zstd"},
}

// shared are modules that more than one package may own: types that cross
// borders, and small helpers.
var shared = []string{
	"github.com/rs/zerolog", "github.com/google/uuid", "github.com/dustin/go-humanize", "github.com/RoaringBitmap/roaring/v2",
	"golang.org/x/sys/unix", "golang.org/x/sys/windows", "golang.org/x/text",
	"github.com/klauspost/compress/zstd",
	"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/mattn/go-runewidth", // each package of commands makes its own
	"github.com/dgraph-io/badger/v4",                             // the database is store's, the spool of telemetry one of its own
	"github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp", // the server is httpapi's, a request and its answer are httpapi/exchange's
}
