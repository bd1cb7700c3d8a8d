#!/usr/bin/env bash
# The first ten minutes with a plugin of one's own, in a folder that is thrown away: write it, change a line, build it, put it into a running
# host, see it answer; change it again, see the host take the new version up, and go back. Needs Go and curl, and parley on the path.
set -euo pipefail
dir=$(mktemp -d)
cd "$dir"
host=
trap '[ -z "$host" ] || { kill "$host" && wait "$host" || true; }; rm -rf "$dir" || true' EXIT

say() { printf '\n# %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say "A plugin, from nothing"
run parley plugin new provider hello
say "One line of it, changed"
sed -i.bak 's/^const greeting = .*/const greeting = "Good day, "/' hello/provider.go && rm hello/provider.go.bak
grep '^const greeting' hello/provider.go
run go -C hello test .
run parley plugin build hello --out dist

say "A host that runs what is pinned, and has nothing pinned yet"
printf '$ parley serve &\n'
parley serve --db-path data --plugin-dir plugins --http-addr 127.0.0.1:0 --experimental-logs-mode json 2> log &
host=$!
url=
for _ in $(seq 600); do
  url=$(sed -n 's/.*"addr":"\([^"]*\)".*"message":"serving".*/\1/p; s/.*"message":"serving".*"addr":"\([^"]*\)".*/\1/p' log | head -n 1)
  [ -z "$url" ] || break
  kill -0 "$host" || { cat log; exit 1; }
  sleep 0.2
done

ask() {
  curl -sN "$url/chats/demo/chat/completions" -H 'content-type: application/json' \
    -d '{"model": "any", "stream": true, "messages": [{"role": "user", "content": "Ada"}]}' |
    sed -n 's/^data: .*"content":"\([^"]*\)".*/\1/p' | tr -d '\n'
}
# await waits for an answer: a running host notices a change by itself, within a second or so.
await() {
  local want=$1 got=
  for _ in $(seq 300); do
    got=$(ask || true)
    [ "$got" != "$want" ] || { printf 'it answers: %s\n' "$got"; return; }
    # The source is not known before the plugin is.
    curl -s -o workspace -X PATCH "$url/chats/demo/settings" -H 'content-type: application/json' -d '{"source": "hello"}'
    sleep 0.2
  done
  echo "it answers \"$got\", and not \"$want\""
  cat workspace log
  exit 1
}

say "Into the running host"
run parley plugin install dist/hello-0.1.0.wasm --plugin-dir plugins
await "Good day, Ada"

say "Another version"
sed -i.bak 's/^const greeting = .*/const greeting = "Welcome, "/' hello/provider.go
sed -i.bak 's/"version": "0.1.0"/"version": "0.2.0"/' hello/manifest.json
rm hello/*.bak
run parley plugin build hello --out dist
run parley plugin install dist/hello-0.2.0.wasm --plugin-dir plugins
await "Welcome, Ada"

say "And back"
run parley plugin rollback hello --plugin-dir plugins
await "Good day, Ada"
