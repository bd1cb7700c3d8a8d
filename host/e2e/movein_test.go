package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// What a dump of Meilisearch holds, written after its form V6.
const (
	moveMaster  = "a master key of both sides"
	moveKeyUID  = "6f1b2c8e-3c7a-4a52-9a3e-0d1f2b3c4d5e"
	moveHookUID = "0b5a1d1e-7c2f-4f6b-8b7e-1a2b3c4d5e6f"
	moveKey     = `{"description":"for the shop","name":"shop","uid":"` + moveKeyUID + `","actions":["search","documents.add","dynamicSearchRules.get"],"indexes":["films*"],"expires_at":null,"created_at":"2025-01-02T03:04:05.678Z","updated_at":"2025-01-02T03:04:05.678Z"}`
	moveSetting = `{"displayedAttributes":["*"],"searchableAttributes":["title","plot"],"filterableAttributes":["year",{"attributePatterns":["genre"],"features":{"facetSearch":true,"filter":{"equality":true,"comparison":false}}}],` +
		`"sortableAttributes":["year"],"rankingRules":["words","typo","proximity","attribute","sort","exactness"],"stopWords":["the"],"nonSeparatorTokens":[],"separatorTokens":[],"dictionary":[],"synonyms":{"ocean":["sea"]},` +
		`"distinctAttribute":null,"proximityPrecision":"byWord","typoTolerance":{"enabled":true,"minWordSizeForTypos":{"oneTypo":5,"twoTypos":9},"disableOnWords":[],"disableOnAttributes":[],"disableOnNumbers":false},` +
		`"faceting":{"maxValuesPerFacet":100,"sortFacetValuesBy":{"*":"alpha"}},"pagination":{"maxTotalHits":1000},` +
		`"embedders":{"own":{"source":"userProvided","dimensions":2},"ai":{"source":"openAi","model":"text-embedding-3-small","apiKey":"sk-of-openai-0123456789","dimensions":2,"documentTemplate":"{{doc.title}}"},"hug":{"source":"huggingFace","model":"BAAI/bge-base-en-v1.5"}},` +
		`"searchCutoffMs":null,"localizedAttributes":null,"facetSearch":true,"prefixSearch":"indexingTime","chat":{"description":"films","documentTemplate":null,"documentTemplateMaxBytes":400,"searchParameters":{}},"foreignKeys":[{"fieldName":"x"}]}`
)

// moveDocuments are lines as a dump has them, of three documents; the vectors of
// embedders stand in them. The last but one has an id that is none.
const moveDocuments = `{"id":1,"title":"The Sea","year":1990,"genre":"drama","_vectors":{"own":{"embeddings":[[1.0,0.0]],"regenerate":false},"ai":{"embeddings":[[1.0,0.0]],"regenerate":true}}}
{"id":2,"title":"War","year":2001,"genre":"war","_vectors":{"own":{"embeddings":[[0.0,1.0]],"regenerate":false},"ai":{"embeddings":[[0.0,1.0]],"regenerate":true}}}
{"id":"a b","title":"Nothing"}
{"id":3,"title":"Land","year":2010,"genre":"drama","_vectors":{"own":{"embeddings":[[0.6,0.8]],"regenerate":false},"ai":{"embeddings":[[0.6,0.8]],"regenerate":true}}}
`

func moveFiles() map[string]string {
	return map[string]string{
		"metadata.json":                       `{"dumpVersion":"V6","dbVersion":"1.50.0","dumpDate":"2026-07-23T12:00:00.123456Z"}`,
		"instance_uid.uuid":                   "9e15e977-f2ae-4761-943f-1eaf75fd736d",
		"indexes/films/metadata.json":         `{"uid":"films","primaryKey":"id","createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-02T00:00:00Z"}`,
		"indexes/films/settings.json":         moveSetting,
		"indexes/films/documents.jsonl":       moveDocuments,
		"indexes/none/metadata.json":          `{"uid":"none","primaryKey":null,"createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-02T00:00:00Z"}`,
		"indexes/none/settings.json":          `{"foreignKeys":[]}`,
		"indexes/none/documents.jsonl":        "",
		"keys.jsonl":                          moveKey + "\n",
		"tasks/queue.jsonl":                   `{"uid":0,"status":"succeeded","type":"documentAdditionOrUpdate"}` + "\n" + `{"uid":1,"status":"enqueued","type":"documentAdditionOrUpdate"}` + "\n",
		"tasks/update_files/1.jsonl":          `{"id":9}` + "\n",
		"batches/queue.jsonl":                 `{"uid":0}` + "\n",
		"experimental-features.json":          `{"metrics":true,"logsRoute":false,"chatCompletions":true,"editDocumentsByFunction":true,"legacySearch":null,"network":true}`,
		"chat-completions-settings/shop.json": `{"source":"vLlm","orgId":null,"projectId":null,"apiVersion":null,"deploymentId":null,"baseUrl":"http://llm.example/v1","apiKey":"sk-of-the-llm-0123456789","prompts":{"system":"Be brief.","searchDescription":"","searchQParam":"","searchFilterParam":"Filter!","searchIndexUidParam":""}}`,
		"network.json":                        `{"self":"a","remotes":{"a":{"url":"http://a.example","searchApiKey":"key-of-a-0123456789","writeApiKey":null}},"shards":{},"leader":null,"version":"00000000-0000-0000-0000-000000000000"}`,
		"webhooks.json":                       `{"webhooks":{"` + moveHookUID + `":{"url":"https://hooks.example/x","headers":{"Authorization":"Bearer of the webhook"}}}}`,
		"dynamic-search-rules/one.json":       `{}`,
	}
}

// writeMove packs files as Meilisearch does and returns the path.
func writeMove(t *testing.T, files map[string]string, more ...*tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	write := func(h *tar.Header, body string) {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	write(&tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, "")
	for name, body := range files { // in any order, as a folder is read
		write(&tar.Header{Name: "./" + name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(body))}, body)
	}
	for _, h := range more {
		write(h, "")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "20260723-120000123.dump")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestMoveIn restores a dump of Meilisearch, and asks for what was in it.
func TestMoveIn(t *testing.T) {
	t.Parallel()
	file := writeMove(t, moveFiles())
	flags := map[string]string{"db-path": t.TempDir(), "master-key": moveMaster}
	c, _, err := config.Load(config.Sources{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	report, err := backup.Restore(t.Context(), c, "dump", file)
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	report.Write(&told)
	for _, want := range []string{
		"taken from a dump of Meilisearch 1.50.0:\n  index films: 3 documents\n  index none: 0 documents\n  1 API keys, 1 workspaces, 1 webhooks, 1 remotes\nnot taken:\n",
		"The feature editDocumentsByFunction: ",
		"The action \"dynamicSearchRules.get\" of the API key " + moveKeyUID,
		"The prompt searchFilterParam of the workspace shop",
		"Setting embedders of index films: `embedders.hug`: the source \"huggingFace\" is not offered",
		"Setting foreignKeys of index films: ",
		"A document of index films, \"{\\\"id\\\":\\\"a b\\\"",
		"1 tasks that were not applied yet",
		"The list of 1 finished tasks and 1 batches",
		"The uid of the instance",
		"The file dynamic-search-rules/one.json: ",
	} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, told.String())
		}
	}
	if n := len(report.Left); n != 10 {
		t.Errorf("%d things were left, want 10:\n%s", n, told.String())
	}

	h := house.Open(t, flags)
	h.Key = moveMaster
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/indexes", "", `"total":2`},
		{"GET", "/indexes/films", "", `"primaryKey":"id"`},
		{"GET", "/indexes/films/settings", "", `"stopWords":["the"]`},
		{"GET", "/indexes/films/settings", "", `"synonyms":{"ocean":["sea"]}`},
		{"GET", "/indexes/films/settings", "", `"apiKey":"sk-XXXXX..."`},
		{"GET", "/indexes/films/settings", "", `"description":"films"`},
		{"GET", "/indexes/films/documents?limit=10", "", `"total":3`},
		{"POST", "/indexes/films/search", `{"q":"ocean"}`, `"id":1`},
		{"POST", "/indexes/films/search", `{"filter":"genre = drama","sort":["year:desc"],"facets":["genre"]}`, `"facetDistribution":{"genre":{"drama":2}}`},
		{"POST", "/indexes/films/search", `{"vector":[0,1],"hybrid":{"embedder":"ai","semanticRatio":1},"limit":1}`, `"id":2`},
		{"POST", "/indexes/films/search", `{"vector":[1,0],"hybrid":{"embedder":"own","semanticRatio":1},"limit":1}`, `"id":1`},
		{"GET", "/keys/" + moveKeyUID, "", `"actions":["search","documents.add"],"indexes":["films*"]`},
		{"GET", "/keys", "", `"total":1`},
		{"GET", "/experimental-features", "", `"metrics":true,"logsRoute":false`},
		{"GET", "/chats/shop/settings", "", `"source":"vLlm"`},
		{"GET", "/chats/shop/settings", "", `"system":"Be brief."`},
		{"GET", "/network", "", `"a":{"url":"http://a.example","searchApiKey":"keXXXX..."}`},
		{"GET", "/webhooks", "", `"uuid":"` + moveHookUID + `","isEditable":true,"url":"https://hooks.example/x","headers":{"Authorization":"BeaXXXXX..."}`},
	} {
		if got := h.Must(tt.method, tt.path, tt.body).Body; !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s\nwant in it %s", tt.method, tt.path, got, tt.want)
		}
	}
	// The value of a key follows from the master key, as it does there.
	sum := hmac.New(sha256.New, []byte(moveMaster))
	sum.Write([]byte(moveKeyUID))
	h.Key = hex.EncodeToString(sum.Sum(nil))
	if got := h.Must("POST", "/indexes/films/search", `{"q":"war"}`).Body; !strings.Contains(got, `"id":2`) {
		t.Errorf("with the key of before: %s", got)
	}
	if r := h.Call("GET", "/keys", ""); r.Status != 403 {
		t.Errorf("the key may see keys: %d", r.Status)
	}
	h.Key = moveMaster
	h.CheckSecret("sk-of-the-llm-0123456789", "The Sea")
	h.Values(func(key, value []byte) {
		for _, secret := range []string{"sk-of-openai", "key-of-a-", "of the webhook", "hooks.example"} {
			if bytes.Contains(value, []byte(secret)) {
				t.Errorf("%q lies in the clear under %q", secret, key)
			}
		}
	})
}

// TestMoveInHostile wants files that are no sound dump refused, and nothing left
// behind.
func TestMoveInHostile(t *testing.T) {
	t.Parallel()
	sound, err := os.ReadFile(writeMove(t, moveFiles()))
	if err != nil {
		t.Fatal(err)
	}
	with := func(name, body string) map[string]string {
		files := moveFiles()
		files[name] = body
		return files
	}
	meta := func(version string) map[string]string {
		return with("metadata.json", fmt.Sprintf(`{"dumpVersion":%q,"dbVersion":"0.30.0","dumpDate":"2026-07-23T12:00:00Z"}`, version))
	}
	bomb := strings.Repeat("\n", 128<<20)
	type hostile struct{ name, file, says string }
	var all []hostile
	for _, left := range []int{len(sound) / 4, len(sound) / 2, len(sound) - 200, len(sound) - 150, len(sound) - 100, len(sound) - 50, len(sound) - 1} {
		cut := filepath.Join(t.TempDir(), "cut.dump")
		if err := os.WriteFile(cut, sound[:left], 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, hostile{fmt.Sprintf("cut after %d of %d bytes", left, len(sound)), cut, "it is not whole"})
	}
	for _, tt := range append(all, []hostile{
		{"an older form", writeMove(t, meta("V5")), "it is of the form \"V5\", and V6 is read"},
		{"no dump", writeMove(t, map[string]string{"readme": "x"}), "no dump of Meilisearch"},
		{"a snapshot", writeMove(t, map[string]string{"indexes/1/data.mdb": "x"}), "it is a snapshot"},
		{"outside", writeMove(t, with("../../etc/passwd", "x")), "lies outside of it"},
		{"a link", writeMove(t, moveFiles(), &tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "neither a file nor a folder"},
		{"a bomb", writeMove(t, with("indexes/films/documents.jsonl", bomb)), "times its own size"},
		{"not JSON", writeMove(t, with("indexes/films/settings.json", "{")), "indexes/films/settings.json: it is not JSON"},
		{"keys that cannot be read", writeMove(t, with("keys.jsonl", strings.Repeat("1\n", 1001))), "1000 things in it cannot be taken, the last one: An API key: it cannot be read."},
	}...) {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c, _, err := config.Load(config.Sources{Flags: map[string]string{"db-path": dir}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = backup.Restore(t.Context(), c, "dump", tt.file)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that says %s", err, tt.says)
			}
			if _, err := os.Stat(filepath.Join(dir, "badger")); !os.IsNotExist(err) {
				t.Errorf("a database: %v, want none", err)
			}
		})
	}
}
