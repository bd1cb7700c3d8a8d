package conformance

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestInputsRequired asks no plugin for what no host asks it: without what its manifest
// requires. What is not required is missing once.
func TestInputsRequired(t *testing.T) {
	needed := map[string]abi.Setting{"baseUrl": {Required: true}, "projectId": {Required: true}, "orgId": {}}
	m := &abi.Manifest{ABI: 2, Settings: needed, Options: map[string]abi.Option{
		"region": {Type: abi.OptionString, Required: true}, "key": {Type: abi.OptionString, Secret: true, Required: true},
		"size": {Type: abi.OptionInteger, Default: abi.RawJSON("7")}, "zone": {Type: abi.OptionString}, "token": {Type: abi.OptionString, Secret: true},
	}}
	all := encodeInputs(m)
	for _, op := range []string{abi.OpModels, abi.OpEmbed} {
		all = append(all, opInputs(m, op)...)
	}
	least := 0
	for _, in := range all {
		var r abi.EncodeRequest
		if err := json.Unmarshal(in.in, &r); err != nil {
			t.Fatal(err)
		}
		if r.Settings.BaseURL == "" || r.Settings.ProjectID == "" || r.Options["region"] == nil || r.Options["key"] == nil || r.Options["size"] == nil {
			t.Errorf("%s: settings %+v and options %s lack what the manifest requires or fills in", in.name, r.Settings, r.Options)
		}
		if r.Settings.OrgID == "" {
			least++
			want := map[string]abi.RawJSON{"region": abi.RawJSON(`"x"`), "key": abi.RawJSON("true"), "size": abi.RawJSON("7")}
			if !reflect.DeepEqual(r.Options, want) {
				t.Errorf("%s: options %s, want %s", in.name, r.Options, want)
			}
		}
	}
	if least != 1 {
		t.Errorf("%d requests lack what is not required, want 1", least)
	}
	var bare abi.EncodeRequest
	if err := json.Unmarshal(mustJSON(leastRequest(&abi.Manifest{ABI: 2})), &bare); err != nil || bare.Settings != (abi.Settings{}) || len(bare.Options) > 0 {
		t.Errorf("of a plugin that requires nothing: %+v, %v", bare, err)
	}
}
