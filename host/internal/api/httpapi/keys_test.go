package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	const uid = "6062abda-a5aa-4414-ac91-ecd7944c0f8d"
	made := r.do("POST", "/keys", `{"uid":"`+uid+`","name":"n","description":"d","actions":["search","documents.*"],"indexes":["m*"],"expiresAt":"2099-01-31"}`)
	var k struct {
		Name, Description, Key, UID     *string
		Actions, Indexes                []string
		ExpiresAt, CreatedAt, UpdatedAt *string
	}
	if err := json.Unmarshal([]byte(made.body), &k); err != nil || made.status != 201 {
		t.Fatalf("POST /keys = %d %s", made.status, made.body)
	}
	if *k.UID != uid || len(*k.Key) != 64 || *k.ExpiresAt != "2099-01-31T00:00:00Z" || k.CreatedAt == nil || k.UpdatedAt == nil {
		t.Errorf("POST /keys = %s, want a whole key", made.body)
	}
	post := func(name, body, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/keys", body: body, status: 400, code: code, contains: contains}
	}
	patch := func(field, code string) scenario {
		return scenario{name: "patch " + field, method: "PATCH", path: "/keys/" + uid, body: `{"` + field + `":"x"}`, status: 400, code: code, contains: []string{"`" + field + "`", "name"}}
	}
	r.play(t, []scenario{
		{name: "by uid", method: "GET", path: "/keys/" + uid, status: 200, contains: []string{*k.Key}},
		{name: "by key", method: "GET", path: "/keys/" + *k.Key, status: 200, contains: []string{uid, `"actions":["search","documents.*"],"indexes":["m*"]`}},
		{name: "absent", method: "GET", path: "/keys/nope", status: 404, code: "api_key_not_found", contains: []string{"GET /keys"}, excludes: []string{"nope"}},
		{name: "list", method: "GET", path: "/keys?limit=100", status: 200, contains: []string{uid, "Default Chat API Key", "Default Search API Key", "Default Admin API Key", "Default Read-Only Admin API Key", `"total":5`}},
		{name: "page", method: "GET", path: "/keys?offset=5&limit=2", status: 200, contains: []string{`{"results":[],"offset":5,"limit":2,"total":5}`}},
		{name: "bad offset", method: "GET", path: "/keys?offset=x", status: 400, code: "invalid_api_key_offset"},
		{name: "bad limit", method: "GET", path: "/keys?limit=-1", status: 400, code: "invalid_api_key_limit"},
		{name: "exists", method: "POST", path: "/keys", body: `{"uid":"` + uid + `","actions":[],"indexes":[],"expiresAt":null}`, status: 409, code: "api_key_already_exists"},

		post("no actions", `{"indexes":["*"],"expiresAt":null}`, "missing_api_key_actions", "`actions` is missing"),
		post("no indexes", `{"actions":["*"],"expiresAt":null}`, "missing_api_key_indexes", "`indexes` is missing"),
		post("no expiresAt", `{"actions":["*"],"indexes":["*"]}`, "missing_api_key_expires_at", "`expiresAt` is missing"),
		post("null actions", `{"actions":null,"indexes":["*"],"expiresAt":null}`, "invalid_api_key_actions"),
		post("null indexes", `{"actions":["*"],"indexes":null,"expiresAt":null}`, "invalid_api_key_indexes"),
		post("actions no array", `{"actions":"*","indexes":["*"],"expiresAt":null}`, "invalid_api_key_actions", "`actions` must be an array"),
		post("action no string", `{"actions":[1],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_actions", "`actions[0]` must be a string"),
		post("unknown action", `{"actions":["serch"],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_actions", "did you mean `search`?"),
		post("bad index", `{"actions":["*"],"indexes":["a b"],"expiresAt":null}`, "invalid_api_key_indexes", "`indexes[0]`"),
		post("global action", `{"actions":["keys.get"],"indexes":["a"],"expiresAt":null}`, "index_scoped_api_key_with_global_action", "`keys.get`"),
		post("past", `{"actions":["*"],"indexes":["*"],"expiresAt":"2020-01-01"}`, "invalid_api_key_expires_at", "past"),
		post("not a time", `{"actions":["*"],"indexes":["*"],"expiresAt":7}`, "invalid_api_key_expires_at", "`expiresAt` must be a string"),
		post("bad name", `{"name":1,"actions":["*"],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_name"),
		post("bad description", `{"description":[],"actions":["*"],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_description"),
		post("bad uid", `{"uid":"x","actions":["*"],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_uid", "UUID"),
		post("empty uid", `{"uid":"","actions":["*"],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_uid"),
		post("unknown field", `{"action":["*"]}`, "bad_request", "`action`: did you mean `actions`?"),
		post("field twice", `{"actions":["search"],"actions":["*"],"indexes":["*"],"expiresAt":null}`, "invalid_api_key_actions", "comes twice"),

		patch("actions", "immutable_api_key_actions"),
		patch("indexes", "immutable_api_key_indexes"),
		patch("expiresAt", "immutable_api_key_expires_at"),
		patch("createdAt", "immutable_api_key_created_at"),
		patch("updatedAt", "immutable_api_key_updated_at"),
		patch("key", "immutable_api_key_key"),
		patch("uid", "immutable_api_key_uid"),
		{name: "patch wrong type", method: "PATCH", path: "/keys/" + uid, body: `{"name":1}`, status: 400, code: "invalid_api_key_name"},
		{name: "patch unknown", method: "PATCH", path: "/keys/" + uid, body: `{"nam":"x"}`, status: 400, code: "bad_request", contains: []string{"did you mean `name`?"}},
		{name: "patch absent", method: "PATCH", path: "/keys/nope", body: `{}`, status: 404, code: "api_key_not_found"},
		{name: "patch", method: "PATCH", path: "/keys/" + *k.Key, body: `{"name":null,"description":"e"}`, status: 200, contains: []string{`"name":null,"description":"e"`}},
		{name: "delete", method: "DELETE", path: "/keys/" + *k.Key, status: 204},
		{name: "delete absent", method: "DELETE", path: "/keys/" + uid, status: 404, code: "api_key_not_found"},
		{name: "deleted", method: "GET", path: "/chats", header: []string{"Authorization", "Bearer " + *k.Key}, status: 403, code: "invalid_api_key"},
	})
}

// TestHostileKeyReader: to read the keys is not to have them. Only who may make
// such keys is shown what they are.
func TestHostileKeyReader(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	var list struct {
		Results []struct {
			Name, UID string
			Key       *string
		}
	}
	check(t, json.Unmarshal([]byte(r.do("GET", "/keys?limit=100", "").body), &list))
	values := map[string]string{}
	for _, k := range list.Results {
		if k.Key == nil || len(*k.Key) != 64 {
			t.Fatalf("the master key is shown %s without its value", k.Name)
		}
		values[k.Name] = *k.Key
	}
	for _, b := range []string{`{"actions":["keys.get","keys.update"],"indexes":["*"],"expiresAt":null}`, `{"actions":["keys.create","keys.get"],"indexes":["*"],"expiresAt":null}`} {
		made := struct{ Key string }{}
		check(t, json.Unmarshal([]byte(r.do("POST", "/keys", b).body), &made))
		values[strings.Split(b, `"`)[3]] = made.Key
	}
	for reader, value := range values {
		as := []string{"Authorization", "Bearer " + value}
		admin := reader == "Default Admin API Key"
		for _, k := range list.Results {
			for what, a := range map[string]answer{
				"list":  r.do("GET", "/keys?limit=100", "", as...),
				"get":   r.do("GET", "/keys/"+k.UID, "", as...),
				"patch": r.do("PATCH", "/keys/"+k.UID, "{}", as...),
			} {
				if shown := strings.Contains(a.body, values[k.Name]); shown != (admin && a.status == 200) {
					t.Errorf("%s to %s = %d: %s is shown: %v", what, reader, a.status, k.Name, shown)
				}
			}
		}
	}
	reader := []string{"Authorization", "Bearer " + values["Default Read-Only Admin API Key"]}
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/keys", header: reader, status: 200, contains: []string{`"key":null`, `"total":6`}},
		{name: "no index", method: "POST", path: "/keys", body: `{"actions":["*"],"indexes":[],"expiresAt":null}`, status: 400, code: "invalid_api_key_indexes", contains: []string{`write [\"*\"] for all indexes`}},
	})
}

// TestCurrentKey asks with keys of each kind what they may do.
func TestCurrentKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	later := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Second)
	k, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{
		Name: new("front end"), Actions: []string{"search", "documents.*", "chatCompletions"}, Indexes: []string{"movies", "a*"}, Workspaces: []string{"demo"},
		ExpiresAt: new(later.Format(time.RFC3339)),
	})
	check(t, err)
	value := r.keys.Value(&k)
	soon := later.Add(-time.Hour)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"apiKeyUid": k.UID, "searchRules": map[string]any{"movies": map[string]string{"filter": "year > 1"}, "b": nil}, "exp": soon.Unix(),
	}).SignedString([]byte(value))
	check(t, err)
	all := `"actions":["search","documents.add",`
	r.play(t, []scenario{
		{name: "master key", method: "GET", path: "/keys/current", status: 200, contains: []string{`{"name":null,"uid":null,` + all, `"keys.create"`, `"indexes":["*"],"workspaces":["*"],"expiresAt":null,"open":false,"network":false,"master":true,"tenant":false,"feedback":false}`}},
		{
			name: "key", method: "GET", path: "/keys/current", header: []string{"Authorization", "Bearer " + value}, status: 200, excludes: []string{value},
			contains: []string{`{"name":"front end","uid":"` + k.UID + `","actions":["search","documents.add","documents.get","documents.delete","chatCompletions"],"indexes":["movies","a*"],"workspaces":["demo"],"expiresAt":"` +
				later.Format(time.RFC3339) + `","open":false,"network":false,"master":false,"tenant":false,"feedback":false}`},
		},
		{
			name: "tenant token", method: "GET", path: "/keys/current", header: []string{"Authorization", "Bearer " + token}, status: 200, excludes: []string{value, "front end", "year"},
			contains: []string{`{"name":null,"uid":"` + k.UID + `","actions":["search","chatCompletions"],"indexes":["b","movies"],"workspaces":["demo"],"expiresAt":"` + soon.Format(time.RFC3339) + `","open":false,"network":false,"master":false,"tenant":true,"feedback":false}`},
		},
		{name: "a key that may do nothing", method: "GET", path: "/keys/current", header: []string{"Authorization", "Bearer " + r.key(nil, nil)}, status: 200, contains: []string{`"actions":[],"indexes":[],`}},
		{name: "no key", method: "GET", path: "/keys/current", header: []string{"Authorization", ""}, status: 401, code: "missing_authorization_header"},
		{name: "wrong key", method: "GET", path: "/keys/current", header: []string{"Authorization", "Bearer nope"}, status: 403, code: "invalid_api_key"},
	})
	open := newRig(t, wish{open: true})
	open.play(t, []scenario{{name: "a host without a master key", method: "GET", path: "/keys/current", status: 200, contains: []string{`{"name":null,"uid":null,` + all, `"open":true,"network":false,"master":false,"tenant":false,"feedback":false}`}}})
	reached := newRig(t, wish{open: true, wide: true})
	reached.play(t, []scenario{{name: "one that other machines reach", method: "GET", path: "/keys/current", status: 200, contains: []string{`"open":true,"network":true,`}}})
}
