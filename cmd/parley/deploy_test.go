package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v2"

	"github.com/parley-search/parley/host"
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
	c, _, err := host.LoadConfig(host.Sources{
		File:    filepath.Join(root(t), "examples", "deploy", "config.toml"),
		Environ: []string{"PARLEY_ENV=production", "PARLEY_MASTER_KEY=0123456789abcdef"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.DBPath != "/var/lib/parley/data" || c.PluginDir != "/usr/lib/parley/plugins" {
		t.Errorf("data in %s and plugins in %s, want them where the package puts them", c.DBPath, c.PluginDir)
	}
}

// TestDeployVariables wants every variable of ours in the files to be that of an
// option.
func TestDeployVariables(t *testing.T) {
	known := []string{"PARLEY_CONFIG_FILE_PATH"}
	for _, o := range host.AllOptions() {
		known = append(known, o.Env())
	}
	name := regexp.MustCompile(`\bPARLEY_[A-Z_]+`)
	for _, file := range []string{"Dockerfile", "compose.yaml", "kubernetes.yaml"} {
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

// TestDeployTools has those tools look at the files that this machine has; .ci/run
// installs what it can.
func TestDeployTools(t *testing.T) {
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
		{"kubernetes-validate", []string{"--strict", "kubernetes.yaml"}, ""},
		{"systemd-analyze", []string{"verify", "./parley.service"}, "Command /usr/bin/parley is not executable"},
		{"shellcheck", append([]string{"debian/build", "debian/postinst", "debian/prerm", "debian/postrm", "debian/try"}, scripts...), ""},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			path, err := exec.LookPath(tt.tool)
			if err != nil {
				t.Skipf("%s is not installed", tt.tool)
			}
			cmd := exec.CommandContext(t.Context(), path, tt.args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if tt.but != "" {
				err = nil // it complains of other files of the machine, too
				for line := range strings.Lines(string(out)) {
					if strings.Contains(line, "parley.service") && !strings.Contains(line, tt.but) {
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
