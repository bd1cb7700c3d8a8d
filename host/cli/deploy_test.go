package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/template"

	"gopkg.in/yaml.v2"

	"github.com/parley-search/parley/host/internal/setup/config"
)

// deployFile reads a file of examples/deploy.
func deployFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "examples", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDeployConfig loads the packages' configuration as the service does, with
// a master key: a key that no option has would be an error.
func TestDeployConfig(t *testing.T) {
	authority := filepath.Join(t.TempDir(), "nats-ca.crt")
	if err := os.WriteFile(authority, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.toml", "cluster/parley.toml"} {
		text := bytes.ReplaceAll(deployFile(t, name), []byte("/etc/parley/nats-ca.crt"), []byte(authority))
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := config.Load(config.Sources{File: file, Environ: []string{"PARLEY_ENV=production", "PARLEY_MASTER_KEY=0123456789abcdef"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.DBPath != "/var/lib/parley/data" || c.PluginDir != "/usr/lib/parley/plugins" {
			t.Errorf("%s: data in %s and plugins in %s, want them where the package puts them", name, c.DBPath, c.PluginDir)
		}
		if name != "config.toml" && (c.Cluster.CheckSecure() != nil || len(c.Cluster.NATS) != 3 || !c.Cluster.Synced) {
			t.Errorf("%s: %d servers of NATS, synced %v, %v", name, len(c.Cluster.NATS), c.Cluster.Synced, c.Cluster.CheckSecure())
		}
	}
}

// TestDeployVariables wants every variable of ours in the files to be that of an
// option.
func TestDeployVariables(t *testing.T) {
	known := []string{"PARLEY_CONFIG_FILE_PATH"}
	for _, o := range config.AllOptions() {
		known = append(known, o.Env())
		if o.Secret {
			known = append(known, o.EnvFile())
		}
	}
	name := regexp.MustCompile(`\bPARLEY_[A-Z_]+`)
	for _, file := range []string{"Dockerfile", "plugins.Dockerfile", "compose.yaml", "kubernetes.yaml", "helm/values.yaml", "helm/templates/statefulset.yaml", "helm/templates/cluster.yaml", "cluster/compose.yaml", "cluster/kubernetes.yaml"} {
		found := name.FindAllString(string(deployFile(t, file)), -1)
		if len(found) == 0 {
			t.Errorf("%s sets nothing", file)
		}
		for _, v := range found {
			if !slices.Contains(known, v) {
				t.Errorf("%s sets %s, which no option has", file, v)
			}
		}
	}
}

// at follows keys, and numbers of lists, into what a YAML file holds.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[any]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// TestDeployYAML reads the compose file and the manifests, and wants what their
// texts promise to stand where Docker and Kubernetes look for it.
func TestDeployYAML(t *testing.T) {
	kinds := map[string]any{}
	for part := range bytes.SplitSeq(deployFile(t, "kubernetes.yaml"), []byte("\n---\n")) {
		var v any
		if err := yaml.UnmarshalStrict(part, &v); err != nil {
			t.Fatalf("kubernetes.yaml: %v", err)
		}
		kinds[at(v, "kind").(string)] = v
	}
	var compose any
	if err := yaml.UnmarshalStrict(deployFile(t, "compose.yaml"), &compose); err != nil {
		t.Fatalf("compose.yaml: %v", err)
	}
	set := kinds["StatefulSet"]
	pod := at(set, "spec", "template", "spec")
	box := at(pod, "containers", 0)
	service := at(compose, "services", "parley")
	for _, tt := range []struct {
		what      string
		got, want any
	}{
		{"selector of the service", at(kinds["Service"], "spec", "selector", "app.kubernetes.io/name"), at(set, "spec", "template", "metadata", "labels", "app.kubernetes.io/name")},
		{"selector of the set", at(set, "spec", "selector", "matchLabels", "app.kubernetes.io/name"), "parley"},
		{"name of the service", at(set, "spec", "serviceName"), at(kinds["Service"], "metadata", "name")},
		{"replicas", at(set, "spec", "replicas"), 1},
		{"readiness", at(box, "readinessProbe", "httpGet", "path"), "/ready"},
		{"liveness", at(box, "livenessProbe", "httpGet", "path"), "/health"},
		{"start", at(box, "startupProbe", "httpGet", "path"), "/health"},
		{"port", at(box, "ports", 0, "containerPort"), 7700},
		{"variables of services", at(pod, "enableServiceLinks"), false},
		{"user", at(pod, "securityContext", "runAsNonRoot"), true},
		{"system calls", at(pod, "securityContext", "seccompProfile", "type"), "RuntimeDefault"},
		{"root file system", at(box, "securityContext", "readOnlyRootFilesystem"), true},
		{"capabilities", at(box, "securityContext", "capabilities", "drop", 0), "ALL"},
		{"more rights", at(box, "securityContext", "allowPrivilegeEscalation"), false},
		{"master key", at(box, "env", 0, "valueFrom", "secretKeyRef", "key"), "master-key"},
		{"volume", at(box, "volumeMounts", 0, "name"), at(set, "spec", "volumeClaimTemplates", 0, "metadata", "name")},
		{"where it is", at(box, "volumeMounts", 0, "mountPath"), "/var/lib/parley"},
		{"compose: root file system", at(service, "read_only"), true},
		{"compose: capabilities", at(service, "cap_drop", 0), "ALL"},
		{"compose: Dockerfile", at(service, "build", "dockerfile"), "examples/deploy/Dockerfile"},
		{"compose: volume", at(service, "volumes", 0), "data:/var/lib/parley"},
	} {
		if tt.got != tt.want || tt.want == nil {
			t.Errorf("%s = %v, want %v", tt.what, tt.got, tt.want)
		}
	}
}

// manifests returns what a file of Kubernetes holds, by kind and name.
func manifests(t *testing.T, name string) map[string]any {
	t.Helper()
	return split(t, name, deployFile(t, name))
}

// TestDeployCluster wants the files of a cluster to hold together: what nodes are
// told is where the servers are, a pod is like that of a host alone, and no two
// pods of a set are on one machine, or away at once.
func TestDeployCluster(t *testing.T) {
	m := manifests(t, "cluster/kubernetes.yaml")
	alone := manifests(t, "kubernetes.yaml")["StatefulSet parley"]
	env := func(v any, name string) any {
		list, _ := at(v, "env").([]any)
		for _, e := range list {
			if at(e, "name") == name {
				return at(e, "value")
			}
		}
		return nil
	}
	set, nats, create := m["StatefulSet parley"], m["StatefulSet parley-nats"], m["Job parley-cluster-create"]
	box, alike := at(set, "spec", "template", "spec", "containers", 0), at(alone, "spec", "template", "spec", "containers", 0)
	maker := at(create, "spec", "template", "spec", "containers", 0)
	conf, _ := at(m["ConfigMap parley-nats"], "data", "nats.conf").(string)
	type row struct {
		what      string
		got, want any
	}
	rows := []row{
		{"servers that nodes are told", env(box, "PARLEY_CLUSTER_NATS_FILE"), "/etc/parley/secrets/cluster-nats"},
		{"servers of who makes the log", env(maker, "PARLEY_CLUSTER_NATS_FILE"), env(box, "PARLEY_CLUSTER_NATS_FILE")},
		{"master key of who makes the log", env(maker, "PARLEY_MASTER_KEY_FILE"), env(box, "PARLEY_MASTER_KEY_FILE")},
		{"name of the cluster", env(maker, "PARLEY_CLUSTER_NAME"), env(box, "PARLEY_CLUSTER_NAME")},
		{"what is run", fmt.Sprint(at(maker, "args")), "[cluster create]"},
		{"where a node is", env(box, "PARLEY_CLUSTER_ADVERTISE"), fmt.Sprintf("http://$(POD_NAME).%v:7700", at(set, "spec", "serviceName"))},
		{"service of the nodes", at(m["Service parley-nodes"], "spec", "clusterIP"), "None"},
		{"disks of NATS", strings.Contains(conf, "sync_interval: always"), env(box, "PARLEY_CLUSTER_NATS_SYNCED") == "true"},
		{"image", at(box, "image"), at(alike, "image")},
		{"image of who makes the log", at(maker, "image"), at(alike, "image")},
	}
	for _, part := range []string{"startupProbe", "livenessProbe", "readinessProbe", "lifecycle", "securityContext", "ports", "resources"} {
		rows = append(rows, row{part, fmt.Sprint(at(box, part)), fmt.Sprint(at(alike, part))})
	}
	for i := range 2 {
		rows = append(rows, row{"a mount", fmt.Sprint(at(box, "volumeMounts", i)), fmt.Sprint(at(alike, "volumeMounts", i))})
	}
	for _, c := range []any{box, maker} {
		rows = append(rows, row{"authority of NATS", env(c, "PARLEY_CLUSTER_NATS_CA"), "/etc/nats-tls/ca.crt"})
	}
	for i := range 3 {
		rows = append(rows, row{"a route of NATS", strings.Contains(conf, fmt.Sprintf(`"nats://parley-nats-%d.parley-nats:6222"`, i)), true})
	}
	for name, set := range map[string]any{"parley": set, "parley-nats": nats} {
		apart := at(set, "spec", "template", "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0)
		rows = append(rows,
			row{"replicas of " + name, at(set, "spec", "replicas"), 3},
			row{"order of starts of " + name, at(set, "spec", "podManagementPolicy"), "Parallel"}, // two make a quorum, not one
			row{"pods of " + name, at(set, "spec", "template", "metadata", "labels", "app.kubernetes.io/name"), name},
			row{"machines of " + name, at(apart, "topologyKey"), "kubernetes.io/hostname"},
			row{"whom " + name + " avoids", at(apart, "labelSelector", "matchLabels", "app.kubernetes.io/name"), name},
			row{"how many are away of " + name, at(m["PodDisruptionBudget "+name], "spec", "maxUnavailable"), 1},
			row{"whose budget is that of " + name, at(m["PodDisruptionBudget "+name], "spec", "selector", "matchLabels", "app.kubernetes.io/name"), name},
			row{"selector of the service " + name, at(m["Service "+name], "spec", "selector", "app.kubernetes.io/name"), name},
			row{"user of " + name, at(set, "spec", "template", "spec", "securityContext", "runAsNonRoot"), true},
			row{"volume of " + name, at(set, "spec", "volumeClaimTemplates", 0, "metadata", "name"), "data"},
		)
	}
	var compose any
	if err := yaml.UnmarshalStrict(deployFile(t, "cluster/compose.yaml"), &compose); err != nil {
		t.Fatalf("cluster/compose.yaml: %v", err)
	}
	text, _ := at(compose, "configs", "nats", "content").(string)
	for i := range 3 {
		node, server := fmt.Sprintf("parley-%d", i+1), fmt.Sprintf("nats-%d", i+1)
		rows = append(rows,
			row{"compose: where " + node + " is", at(compose, "services", node, "environment", "PARLEY_CLUSTER_ADVERTISE"), "http://" + node + ":7700"},
			row{"compose: servers of " + node, at(compose, "services", node, "environment", "PARLEY_CLUSTER_NATS"), "nats://parley:${NATS_PASSWORD}@nats-1:4222,nats://parley:${NATS_PASSWORD}@nats-2:4222,nats://parley:${NATS_PASSWORD}@nats-3:4222"},
			row{"compose: name of " + server, at(compose, "services", server, "hostname"), server},
			row{"compose: disk of " + server, at(compose, "services", server, "volumes", 0), server + ":/data"},
			row{"compose: route to " + server, strings.Contains(text, "nats://server:${NATS_ROUTE_PASSWORD}@"+server+":6222"), true},
		)
	}
	for _, tt := range rows {
		if tt.got != tt.want || tt.want == nil || tt.want == "<nil>" {
			t.Errorf("%s = %v, want %v", tt.what, tt.got, tt.want)
		}
	}
}

// renderChart renders a template of the Helm chart with values, as the chart's or changed. It
// returns the one thing that the template has; nil: none.
func renderChart(t *testing.T, name string, change func(values map[any]any)) any {
	t.Helper()
	list := renderAll(t, name, true, change)
	if len(list) > 1 {
		t.Fatalf("%s has %d things", name, len(list))
	}
	for _, v := range list {
		return v
	}
	return nil
}

// renderAll is renderChart for a template with several things, by kind and name, at the first
// install or at an upgrade.
func renderAll(t *testing.T, name string, install bool, change func(values map[any]any)) map[string]any {
	t.Helper()
	var values map[any]any
	if err := yaml.UnmarshalStrict(deployFile(t, filepath.Join("helm", "values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	change(values)
	// What the chart uses of Helm's functions.
	functions := template.FuncMap{
		"default": func(other, given any) any {
			if given == "" || given == nil {
				return other
			}
			return given
		},
		"quote":     func(v any) string { return fmt.Sprintf("%q", v) },
		"toJson":    flowYAML,
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
	}
	parsed, err := template.New(name).Funcs(functions).Option("missingkey=error").Parse(string(deployFile(t, filepath.Join("helm", "templates", name))))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, map[string]any{
		"Values": values, "Release": map[string]any{"Name": "parley", "IsInstall": install}, "Chart": map[string]any{"AppVersion": "0.1.0"},
	}); err != nil {
		t.Fatal(err)
	}
	return split(t, name, b.Bytes())
}

// split returns what a text of Kubernetes holds, by kind and name.
func split(t *testing.T, name string, text []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var v any
		if err := yaml.UnmarshalStrict(part, &v); err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, part)
		}
		if v != nil {
			out[fmt.Sprint(at(v, "kind"), " ", at(v, "metadata", "name"))] = v
		}
	}
	return out
}

// TestDeployChartPlugins runs what the chart's init container runs, on the lock that the
// chart gives it.
func TestDeployChartPlugins(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	parley := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitOK {
			t.Fatalf("parley %s: code %d, %s%s", args, code, &out, &errs)
		}
		return out.String()
	}
	team := t.TempDir()
	parley("plugin", "install", "extract", "--plugin-dir", team)
	lock := readFile(t, filepath.Join(team, "plugins.lock"))
	give := func(values map[any]any) { values["plugins"].(map[any]any)["lock"] = lock }
	dir := t.TempDir() // the pod's /plugins
	given, _ := at(renderChart(t, "plugins.yaml", give), "data", "plugins.lock").(string)
	if given != lock {
		t.Fatalf("the config map has\n%s\nwant\n%s", given, lock)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugins.lock"), []byte(given), 0o400); err != nil {
		t.Fatal(err)
	}
	pod := at(renderChart(t, "statefulset.yaml", give), "spec", "template", "spec")
	list, _ := at(pod, "initContainers", 0, "args").([]any)
	var args []string
	for _, arg := range list {
		args = append(args, strings.Replace(fmt.Sprint(arg), "/plugins", dir, 1))
	}
	parley(args...)
	if said := parley("plugin", "verify", "--plugin-dir", dir); strings.Count(said, "ok  ") != 1 {
		t.Errorf("after the init container, verify says\n%s", said)
	}
	env, _ := at(pod, "containers", 0, "env").([]any)
	if !slices.ContainsFunc(env, func(v any) bool { return at(v, "name") == "PARLEY_PLUGIN_DIR" && at(v, "value") == "/plugins" }) {
		t.Errorf("the host does not take its plugins from there: %v", env)
	}
}

// TestDeployPluginsDockerfile builds the Dockerfile of a team's plugins, upon the image of
// a release, by a tool that needs no daemon, and wants the image to have what is pinned.
func TestDeployPluginsDockerfile(t *testing.T) {
	t.Parallel()
	if page := read(t, "host/docs/how-to/team-plugins.md"); !strings.Contains(page, "```dockerfile\n"+string(deployFile(t, "plugins.Dockerfile"))+"```\n") {
		t.Error("the page team-plugins.md shows another Dockerfile")
	}
	skipUnlessLong(t, "builds two images")
	if _, err := exec.LookPath("buildah"); err != nil || os.Getuid() != 0 {
		t.Skip("it needs the Debian package buildah, and root")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plugins := filepath.Join(dir, "plugins")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"plugin", "install", small(t, t.TempDir(), "1.0.0"), "--plugin-dir", plugins}, &out, &errs); code != exitOK {
		t.Fatalf("plugin install: code %d, %s", code, &errs)
	}
	do := func(in, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = in
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, &errs)
		}
		return strings.TrimSpace(string(out))
	}
	buildah := func(args ...string) string {
		t.Helper()
		return do(dir, "buildah", append([]string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}, args...)...)
	}
	do(root(t), "go", "run", "./.ci/image", "--out", filepath.Join(dir, "image"), "--version", "0.0.0", "--plugins", plugins, runtime.GOOS+"/"+runtime.GOARCH+"="+exe)
	buildah("tag", buildah("pull", "--quiet", "oci:image"), "parley") // it wants names without capitals
	buildah("build", "--quiet", "--isolation", "chroot", "--pull-never", "--tag", "team", "--file", filepath.Join(root(t), "examples", "deploy", "plugins.Dockerfile"), ".")
	container := buildah("from", "--pull-never", "team")
	if env := buildah("inspect", "--format", "{{.OCIv1.Config.Env}}", container); !strings.Contains(env, "PARLEY_PLUGIN_DIR=/plugins") {
		t.Errorf("the image has the variables %s", env)
	}
	rootfs := buildah("mount", container)
	defer buildah("umount", container)
	out.Reset()
	if code := run(t.Context(), []string{"plugin", "verify", "--plugin-dir", filepath.Join(rootfs, "plugins")}, &out, &errs); code != exitOK || strings.Count(out.String(), "ok  ") != 1 {
		t.Errorf("plugin verify in the image: code %d\n%s%s", code, &out, &errs)
	}
}

// TestDeployChart renders the Helm chart's set as it is by default, and wants the
// pod of kubernetes.yaml: what is right in one of them is right in both.
func TestDeployChart(t *testing.T) {
	var chart any
	if err := yaml.UnmarshalStrict(deployFile(t, filepath.Join("helm", "Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	got := renderChart(t, "statefulset.yaml", func(map[any]any) {})
	if none := renderChart(t, "plugins.yaml", func(map[any]any) {}); none != nil {
		t.Errorf("without a lock the chart has a config map: %v", none)
	}
	var want any
	for part := range bytes.SplitSeq(deployFile(t, "kubernetes.yaml"), []byte("\n---\n")) {
		var v any
		if err := yaml.UnmarshalStrict(part, &v); err != nil {
			t.Fatal(err)
		}
		if at(v, "kind") == "StatefulSet" {
			want = v
		}
	}
	for _, path := range [][]any{{"spec", "template", "spec"}, {"spec", "volumeClaimTemplates"}, {"spec", "replicas"}} {
		if g, w := at(got, path...), at(want, path...); !reflect.DeepEqual(g, w) || w == nil {
			t.Errorf("%v of the chart is\n%v\nthat of kubernetes.yaml\n%v", path, g, w)
		}
	}
}

// TestDeployChartCluster renders the chart with a cluster, and wants what cluster/kubernetes.yaml
// has, each thing with the release's label beside it; without one, nothing of that.
func TestDeployChartCluster(t *testing.T) {
	t.Parallel()
	enable := func(values map[any]any) {
		values["cluster"].(map[any]any)["enabled"] = true
	}
	got := map[string]any{}
	for _, name := range []string{"statefulset.yaml", "service.yaml", "cluster.yaml", "nats.yaml"} {
		maps.Copy(got, renderAll(t, name, true, enable))
	}
	want := manifests(t, "cluster/kubernetes.yaml")
	if g, w := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(g, w) {
		t.Fatalf("the chart has %q, cluster/kubernetes.yaml %q", g, w)
	}
	for name := range want {
		if labels, _ := at(got[name], "metadata", "labels").(map[any]any); labels["app.kubernetes.io/instance"] != "parley" {
			t.Errorf("%s has the labels %v, want the release's", name, labels)
		}
		dropInstance(got[name])
		if !reflect.DeepEqual(got[name], want[name]) {
			t.Errorf("%s of the chart is\n%v\nthat of cluster/kubernetes.yaml\n%v", name, flowYAML(got[name]), flowYAML(want[name]))
		}
	}
	if again := renderAll(t, "cluster.yaml", false, enable); len(again) != 2 || again["Job parley-cluster-create"] != nil {
		t.Errorf("an upgrade of the chart has %q: the log is made by the first install alone", slices.Sorted(maps.Keys(again)))
	}
	if other := renderAll(t, "nats.yaml", true, func(values map[any]any) {
		enable(values)
		values["cluster"].(map[any]any)["nats"].(map[any]any)["enabled"] = false
	}); len(other) != 0 {
		t.Errorf("over servers of NATS that are there, the chart has %q", slices.Sorted(maps.Keys(other)))
	}
	for _, name := range []string{"cluster.yaml", "nats.yaml"} {
		if alone := renderAll(t, name, true, func(map[any]any) {}); len(alone) != 0 {
			t.Errorf("without a cluster, %s has %q", name, slices.Sorted(maps.Keys(alone)))
		}
	}
}

// dropInstance removes the label of the release wherever it is in v, and selectors that have
// nothing else.
func dropInstance(v any) {
	switch v := v.(type) {
	case map[any]any:
		delete(v, "app.kubernetes.io/instance")
		for k, e := range v {
			dropInstance(e)
			if m, ok := e.(map[any]any); ok && len(m) == 0 && k == "matchLabels" {
				delete(v, k)
			}
		}
	case []any:
		for _, e := range v {
			dropInstance(e)
		}
	}
}

// flowYAML writes v on one line, which JSON would be as well.
func flowYAML(v any) string {
	switch v := v.(type) {
	case map[any]any:
		var parts []string
		for k, e := range v {
			parts = append(parts, fmt.Sprintf("%v: %s", k, flowYAML(e)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		return fmt.Sprint(v)
	}
}

// TestDeployUnit: the shipped unit waits for the disk of the data, and comes back however the
// host ended, also by a signal that systemd takes for a wish.
func TestDeployUnit(t *testing.T) {
	unit := string(deployFile(t, "parley.service"))
	for _, line := range []string{"RequiresMountsFor=/var/lib/parley", "Restart=always"} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the unit has no line %s:\n%s", line, unit)
		}
	}
}

// TestDeployTools has those tools look at the files that this machine has; .ci/run
// installs what it can.
func TestDeployTools(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root(t), "examples", "deploy")
	scripts, err := filepath.Glob(filepath.Join(root(t), ".ci", "*"))
	if err != nil {
		t.Fatal(err)
	}
	scripts = slices.DeleteFunc(scripts, func(name string) bool { // a folder, or what .ci/install wrote
		info, err := os.Stat(name)
		return err != nil || info.IsDir() || info.Mode()&0o100 == 0
	})
	for _, tt := range []struct {
		tool string
		args []string
		// but is a complaint about the machine, not the file.
		but string
	}{
		{"hadolint", []string{"Dockerfile"}, ""},
		{"check-jsonschema", []string{"--builtin-schema", "vendor.compose-spec", "compose.yaml"}, ""},
		{"check-jsonschema", []string{"--builtin-schema", "vendor.compose-spec", "cluster/compose.yaml"}, ""},
		{"kubernetes-validate", []string{"--strict", "kubernetes.yaml"}, ""},
		{"kubernetes-validate", []string{"--strict", "cluster/kubernetes.yaml"}, ""},
		{"systemd-analyze", []string{"verify", "./parley.service"}, "Command /usr/bin/parley is not executable"},
		{"systemd-analyze", []string{"verify", "./cluster/nats.service"}, "Command /usr/bin/nats-server is not executable"},
		{"shellcheck", append([]string{"debian/build", "debian/postinst", "debian/prerm", "debian/postrm", "debian/try"}, scripts...), ""},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			path, err := exec.LookPath(tt.tool)
			if err != nil {
				t.Skipf("%s is not installed; .ci/run installs it", tt.tool)
			}
			cmd := exec.CommandContext(t.Context(), path, tt.args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if tt.but != "" {
				err = nil // it complains of other files of the machine, too
				for line := range strings.Lines(string(out)) {
					if strings.Contains(line, filepath.Base(tt.args[1])) && !strings.Contains(line, tt.but) {
						err = errors.New(strings.TrimSpace(line))
					}
				}
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", tt.tool, err, out)
			}
		})
	}
}
