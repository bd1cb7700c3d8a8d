# Recipes for work on Parley. `just` comes from the npm package rust-just.

export CGO_ENABLED := env("CGO_ENABLED", "0")

# list the recipes
default:
    @just --list

# build the binary with all plugins in it
build:
    go generate ./cmd/parley
    go build -trimpath -o parley ./cmd/parley

# build every shipped plugin into plugins/dist
plugins:
    for dir in plugins/*/*/; do go run ./cmd/parley plugin build "$dir" --out plugins/dist || exit 1; done

# an answer from sample documents, with no key and no model
run *ARGS:
    go run ./cmd/quickstart {{ ARGS }}

# all tests, and what was skipped
test *ARGS="./...":
    go run gotest.tools/gotestsum@v1.13.0 --format pkgname -- {{ ARGS }}

# the tests of concurrent code under the race detector
race:
    CGO_ENABLED=1 go test -race -short ./abi/... ./sdk/... ./host/...

# the long fault tests: what providers and clients do wrong, ROUNDS times each, at random places
weather ROUNDS="100":
    WEATHER={{ ROUNDS }} go test ./host/e2e ./host/cli -run Weather -count=1 -v -timeout 60m

# every fuzz target for a while
fuzz TIME="30s":
    .ci/fuzz {{ TIME }}

# the benchmarks of the hot paths, in benchstat form: `just bench 10 > new.txt`
bench COUNT="1" ONLY=".":
    go test -run '^$' -bench '{{ ONLY }}' -benchmem -count={{ COUNT }} ./abi/... ./sdk/... ./host/...

# vet, staticcheck, formatting
lint:
    go vet ./...
    go tool staticcheck ./...
    @test -z "$(go tool gofumpt -l .)" || { echo "gofumpt would change:"; go tool gofumpt -l .; exit 1; }

# format all Go files
format:
    go tool gofumpt -w .

# the real clients against a running host; needs npm
clients:
    .ci/install
    go test ./host/cli -run TestClients -count=1 -v

# a release of the commit at hand in dist: programs, Debian packages, plugins, bills of materials, checksums
release *ARGS:
    .ci/release {{ ARGS }}

# whatever guards main
ci:
    .ci/run
