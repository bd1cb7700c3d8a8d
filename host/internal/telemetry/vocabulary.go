package telemetry

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi/event"
)

// The parsers turn texts of clients into texts that may be counted. Each of them
// gives its own output back when it is given that.
var parsers = map[string]func(string) string{
	event.VocabularyVersion:        version,
	event.VocabularyKernel:         kernel,
	event.VocabularyDistribution:   distribution,
	event.VocabularyServerProvider: serverProvider,
	event.VocabularyUserAgent:      userAgent,
	event.VocabularyMediaType:      mediaType,
	event.VocabularyAttribute:      attribute,
	event.VocabularySource:         source,
	event.VocabularyGuard:          source,
	event.VocabularyNote:           note,
}

var (
	versionForm = regexp.MustCompile(`^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9a-z.]{1,24})?$`)
	kernelForm  = regexp.MustCompile(`^\d{1,3}\.\d{1,4}(\.\d{1,5})?`)
	// A version of three parts at most, since one of four could be an address.
	clientVersionForm = regexp.MustCompile(`^v?\d{1,5}(\.\d{1,5}){0,2}(-?[a-z]{1,5}\.?\d{0,3})?$`)
	sdkForm           = regexp.MustCompile(`(?i)\bMeilisearch ([a-z.]{1,16}) \(v?([0-9.]{1,17})\)`)
	attributeForm     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	mediaTypeForm     = regexp.MustCompile(`^(application|audio|font|image|message|model|multipart|text|video)/[a-z0-9][a-z0-9.+-]{0,46}$`)
	uuidForm          = regexp.MustCompile(`(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)
	sourceForm        = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	noteForm          = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._/+-]{0,63}$`)
	digitsForm        = regexp.MustCompile(`\d{7,}`)
)

func version(s string) string {
	s = strings.TrimPrefix(s, "v")
	if !versionForm.MatchString(s) {
		return "0.0.0"
	}
	return s
}

// kernel returns the numbers that s begins with, or "".
func kernel(s string) string { return kernelForm.FindString(s) }

var distributions = []string{
	"alma", "almalinux", "alpine", "amzn", "android", "arch", "archarm", "azurelinux", "bottlerocket", "centos", "chromeos", "clear-linux-os",
	"cos", "darwin", "debian", "devuan", "dragonfly", "elementary", "endeavouros", "fedora", "flatcar", "freebsd", "gentoo", "kali", "linux",
	"linuxmint", "manjaro", "mariner", "netbsd", "nixos", "ol", "openbsd", "opensuse-leap", "opensuse-tumbleweed", "openwrt", "photon",
	"pop", "raspbian", "rhel", "rocky", "sles", "slackware", "solus", "steamos", "talos", "ubuntu", "ubuntu-core", "void", "windows", "wolfi",
}

func distribution(s string) string { return oneOf(distributions, s) }

var serverProviders = []string{
	"aws", "azure", "alibaba", "cleverapps", "cloudflare", "digitalocean", "docker", "exoscale", "fly", "gcp", "heroku", "hetzner", "ibm", "ionos",
	"kamatera", "koyeb", "leaseweb", "linode", "northflank", "oracle", "ovh", "platformsh", "railway", "render", "scaleway", "tencent", "upcloud", "vultr",
}

func serverProvider(s string) string {
	if s == "" {
		return ""
	}
	return oneOf(serverProviders, s)
}

// oneOf returns s in lower case where the list has it, and other otherwise.
func oneOf(list []string, s string) string {
	s = strings.ToLower(s)
	if slices.Contains(list, s) {
		return s
	}
	return otherText
}

// clients are the products whose names may be counted, in lower case, with how
// they write themselves.
var clients = byLowerCase(
	"Go-http-client", "Java-http-client", "Mozilla", "OpenAI", "Parley", "PostmanRuntime", "Python-urllib", "Wget", "aiohttp", "axios", "bruno",
	"bun", "curl", "deno", "fasthttp", "got", "guzzlehttp", "hey", "httpx", "insomnia", "java", "k6", "ktor-client", "libcurl",
	"node", "node-fetch", "okhttp", "openai-python", "openai-node", "oha", "python-httpx", "python-requests", "reqwest", "rest-client", "ruby",
	"undici", "ureq", "vegeta", "wrk",
	"Meilisearch-dart", "Meilisearch-dotnet", "Meilisearch-go", "Meilisearch-java", "Meilisearch-js", "Meilisearch-php", "Meilisearch-python",
	"Meilisearch-ruby", "Meilisearch-rust", "Meilisearch-swift", "instant-meilisearch", "docs-scraper", "firestore-meilisearch", "gatsby-plugin-meilisearch",
	"Meilisearch-laravel-scout", "Meilisearch-rails", "Meilisearch-strapi", "Meilisearch-symfony", "Meilisearch-vue",
)

func byLowerCase(names ...string) map[string]string {
	m := make(map[string]string, len(names))
	for _, name := range names {
		m[strings.ToLower(name)] = name
	}
	return m
}

// userAgent returns the client that a header names: the first product in it
// that is known, with its version where that has the form of one. Comments and
// all else are left out: they tell machines and people apart.
func userAgent(header string) string {
	if m := sdkForm.FindStringSubmatch(clip(header, 256)); m != nil {
		// Meilisearch's own clients write "Meilisearch Python (v0.31.0)".
		header = "Meilisearch-" + strings.NewReplacer("javascript", "js", ".net", "dotnet").Replace(strings.ToLower(m[1])) + "/" + m[2]
	}
	for field := range strings.FieldsFuncSeq(clip(header, 256), func(r rune) bool { return r == ' ' || r == ';' || r == ',' || r == '(' || r == ')' }) {
		product, v, _ := strings.Cut(field, "/")
		name, ok := clients[strings.ToLower(product)]
		if !ok {
			continue
		}
		if v = strings.TrimPrefix(strings.ToLower(v), "v"); clientVersionForm.MatchString(v) {
			return name + "/" + v
		}
		return name
	}
	return otherText
}

// mediaType returns type/subtype without parameters.
func mediaType(header string) string {
	switch header {
	case "", "missing":
		return "missing"
	}
	t, _, _ := strings.Cut(clip(header, 256), ";")
	if t = strings.ToLower(strings.TrimSpace(t)); len(t) > 64 || !mediaTypeForm.MatchString(t) || shapedLikeAPerson(t) {
		return "invalid"
	}
	return t
}

// attribute lets names of fields through that say nothing of anybody.
func attribute(name string) string {
	if !attributeForm.MatchString(name) || shapedLikeAPerson(name) {
		return otherText
	}
	return name
}

// source lets names of sources through, which the operator's plugins have.
func source(name string) string {
	if !sourceForm.MatchString(name) || shapedLikeAPerson(name) {
		return otherText
	}
	return name
}

// note lets labels through that manifests of guards have.
func note(label string) string {
	if !noteForm.MatchString(label) || shapedLikeAPerson(label) {
		return otherText
	}
	return label
}

// shapedLikeAPerson reports whether s holds what identifies a person: a UUID,
// or a long number, as of a phone or a customer.
func shapedLikeAPerson(s string) bool { return uuidForm.MatchString(s) || digitsForm.MatchString(s) }

func clip(s string, n int) string { return s[:min(len(s), n)] }
