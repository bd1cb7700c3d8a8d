package config

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// optionTests names, for each option, a value that is not its default and the
// test that sees its effect; where that is in a package below, the value gets
// there as TestOptionsAreTaken says.
var optionTests = map[string]struct{ value, test string }{
	"db-path":                           {"elsewhere", "TestKill"},
	"http-addr":                         {"127.0.0.1:1", "TestStartRefused"},
	"allow-private-networks":            {"10.0.0.0/8", "TestPrivateNetworks"},
	"allowed-hosts":                     {"parley.example", "TestKeylessHost"},
	"console":                           {"off", "TestConsole"},
	"docs-page":                         {"false", "TestDocs"},
	"allowed-origins":                   {"https://app.example", "TestKeylessHost"},
	"ssl-cert-path":                     {"c.pem", "TestTLS"},
	"ssl-key-path":                      {"k.pem", "TestTLS"},
	"ssl-auth-path":                     {"a.pem", "TestTLSAuthority"},
	"ssl-require-auth":                  {"true", "TestTLSAuthority"},
	"ssl-ocsp-path":                     {"o.der", "TestTLS"},
	"ssl-resumption":                    {"true", "TestTLSResumption"},
	"ssl-tickets":                       {"true", "TestTLSResumption"},
	"env":                               {"production", "TestLoadRefuses"},
	"master-key":                        {"a key of 16 bytes", "TestRotateMasterKey"},
	"http-payload-size-limit":           {"1 MiB", "TestEveryErrorCode"},
	"http-search-payload-size-limit":    {"2 MiB", "TestHostileSearchBodies"},
	"max-indexing-memory":               {"1 MiB", "TestIndexingMemory"},
	"max-vector-memory":                 {"1 MiB", "TestSemanticSearchFollowsWrites"},
	"max-indexing-threads":              {"3", "TestSpread"},
	"task-webhook-url":                  {"http://x.example", "TestWebhookPosts"},
	"task-webhook-authorization-header": {"Bearer x", "TestWebhookPosts"},
	"log-level":                         {"error", "TestLevels"},
	"experimental-logs-mode":            {"json", "TestLog"},
	"experimental-enable-metrics":       {"true", "TestFeaturesAtLaunch"},
	"experimental-enable-logs-route":    {"true", "TestLogLevel"},
	"experimental-contains-filter":      {"true", "TestFeaturesAtLaunch"},
	"experimental-reduce-indexing-memory-usage": {"true", "TestReducedIndexing"},
	"experimental-replication-parameters":       {"true", "TestReplicationParameters"},
	"experimental-embedding-cache-entries":      {"10", "TestQueryVectors"},
	"plugin-dir":                                {"p", "TestLocked"},
	"plugin-lock":                               {"off", "TestReload"},
	"plugin-fuel":                               {"1000", "TestFuelOfTheDeployment"},
	"plugin-isolation":                          {"workspace", "TestAttackBetweenAnswers"},
	"plugin-public-key":                         {"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3", "TestSigned"},
	"experimental-search-queue-size":            {"7", "TestSearchBounds"},
	"public-url":                                {"https://a.example/x/", "TestV1Citations"},
	"responses-ttl":                             {"0", "TestV1ResponsesNotKept"},
	"responses-max-bytes":                       {"1 MiB", "TestBounds"},
	"chat-max-rounds":                           {"3", "TestTooManyRounds"},
	"provider-connect-timeout":                  {"1s", "TestNoConnection"},
	"provider-first-byte-timeout":               {"1s", "TestWeather"},
	"provider-silence-timeout":                  {"1s", "TestWeather"},
	"provider-timeout-max":                      {"1s", "TestPluginTimeouts"},
	"provider-answer-timeout":                   {"1s", "TestLimits"},
	"dump-dir":                                  {"d", "TestArchives"},
	"import-dump":                               {"a.dump", "TestArchives"},
	"import-dump-master-key":                    {"a key", "TestImportUnderAnotherKey"},
	"ignore-missing-dump":                       {"true", "TestImportRefused"},
	"ignore-dump-if-db-exists":                  {"true", "TestImportRefused"},
	"snapshot-dir":                              {"s", "TestArchives"},
	"schedule-snapshot":                         {"60", "TestScheduledSnapshots"},
	"import-snapshot":                           {"a.snapshot", "TestArchives"},
	"ignore-missing-snapshot":                   {"true", "TestImportRefused"},
	"ignore-snapshot-if-db-exists":              {"true", "TestImportRefused"},
	"chat-record-dir":                           {"r", "TestRecordAndReplay"},
	"chat-record-workspaces":                    {"w", "TestRecordAndReplay"},
	"no-analytics":                              {"true", "TestTelemetryOff"},
	"telemetry-url":                             {"http://x.example", "TestTelemetrySeen"},
	"telemetry-write-key":                       {"k", "TestTelemetrySeen"},
	"telemetry-contact":                         {"us@x.example", "TestTelemetryCommands"},
	"telemetry-file":                            {"f", "TestFile"},
	"telemetry-collectors":                      {"c", "TestTelemetrySeen"},
	"otlp-endpoint":                             {"http://x.example", "TestTraces"},
	"shutdown-grace":                            {"1s", "TestShutdownEndsStreams"},
}

// absentOptions are the experiments of Meilisearch that telemetry reports, each
// as a constant, and that are no options here.
const absentOptions = `
## What is not offered

Options and features of Meilisearch that ` + "`GET /telemetry`" + ` reports as off, since nothing switches them here:

| | because |
|---|---|
| ` + "`--experimental-dumpless-upgrade`" + ` | there is one data format so far, and no upgrade to allow |
| ` + "`--experimental-no-edition-2024-for-settings`" + ` | it chooses between two indexers; here is one |
| feature ` + "`editDocumentsByFunction`" + ` | it runs scripts over documents; this host runs no code but plugins |
| CUDA | vectors are compared by the processor |
`

// Each option changes the configuration, by a value of its own and alone.
func TestOptionsAreTaken(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range AllOptions() {
		seen[o.Name] = true
		row, ok := optionTests[o.Name]
		if !ok {
			t.Errorf("option %s is in no row of this test: add one with the test that sees its effect", o.Name)
			continue
		}
		var before, after Config
		if o.Default != "" {
			if err := o.set(&before, o.Default); err != nil {
				t.Errorf("option %s refuses its default: %v", o.Name, err)
			}
			if err := o.set(&after, o.Default); err != nil {
				t.Errorf("option %s refuses its default: %v", o.Name, err)
			}
		}
		if err := o.set(&after, row.value); err != nil || reflect.DeepEqual(before, after) {
			t.Errorf("option %s = %s changes nothing, or fails: %v", o.Name, row.value, err)
		}
	}
	for name := range optionTests {
		if !seen[name] {
			t.Errorf("there is no option %s", name)
		}
	}
}

// TestOptionsPage holds OPTIONS.md to the options that there are, and the tests
// that it names to those that there are.
func TestOptionsPage(t *testing.T) {
	tests := testFunctions(t)
	var b strings.Builder
	b.WriteString("# Options\n\nWritten by `UPDATE=1 go test ./host/internal/config -run TestOptionsPage`. A flag is stronger than its variable, that stronger than the file's key, that than the default. `parley config explain` shows what is in force.\n" +
		"`DO_NOT_TRACK` is another way to say `no-analytics`. What switches while the host runs: [features](README.md#features).\n\n" +
		"A wrong value is one line that names the option, where it came from, the value (but of a secret) and what is allowed; the exit status is 2 then, and where a certificate or an archive that an option names cannot be used.\n\n" +
		"| flag | variable | key | default | effect | allowed | seen by |\n|---|---|---|---|---|---|---|\n" +
		"| `--config-file-path` | `PARLEY_CONFIG_FILE_PATH` | none | `" + DefaultConfigFile + "`, where it exists | TOML file with the keys of this table | the path of a file | `TestConfigFile` |\n")
	for _, o := range AllOptions() {
		row := optionTests[o.Name]
		if !tests[row.test] {
			t.Errorf("option %s: there is no test %q", o.Name, row.test)
		}
		def := "none"
		if o.Default != "" {
			def = "`" + o.Default + "`"
		}
		fmt.Fprintf(&b, "| `--%s` | `%s` | `%s` | %s | %s | %s | `%s` |\n", o.Name, o.Env(), o.Key(), def, cell(o.Meaning), cell(o.Allowed), row.test)
	}
	for _, o := range AllOptions() {
		if strings.Contains(absentOptions, "`--"+o.Name+"`") {
			t.Errorf("option %s is offered and said not to be", o.Name)
		}
	}
	b.WriteString(absentOptions)
	if !tests["TestConfigFile"] {
		t.Error("there is no test TestConfigFile")
	}
	old, err := os.ReadFile("../../OPTIONS.md")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(old) == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("OPTIONS.md is not what options.go says: UPDATE=1 go test ./host/internal/config -run TestOptionsPage writes it")
	}
	if err := os.WriteFile("../../OPTIONS.md", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cell is text as a cell of a table takes it.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}

// testFunctions are the names of all tests of the repository.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "grep", "-rhoE", "--include=*_test.go", `^func Test[A-Za-z0-9_]+`, "../..", "../../../cmd").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		found[strings.TrimSpace(strings.TrimPrefix(line, "func "))] = true
	}
	if len(found) < 300 {
		t.Fatalf("found %d tests, want those of the whole tree: %v", len(found), slices.Sorted(maps.Keys(found)))
	}
	return found
}
