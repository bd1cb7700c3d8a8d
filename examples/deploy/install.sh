#!/bin/sh
# Installs parley VERSION for this user: fetches the archive of this system from the release, makes sure that it has
# the hash that is written here, and puts the program into ~/.local/bin. Where minisign is installed, the signature
# of the release is checked as well.
#   PARLEY_BIN=DIR                  where the program goes
#   PARLEY_FROM=URL                 where the files of the release are
#   PARLEY_REQUIRE_SIGNATURE=1      fail where the signature cannot be checked
set -eu
from=${PARLEY_FROM:-https://github.com/parley-search/parley/releases/download/vVERSION}
bin=${PARLEY_BIN:-$HOME/.local/bin}
public_key='PUBLIC_KEY'

fail() { printf 'parley is not installed: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" > /dev/null; }
fetch() { # URL FILE
  if has curl; then curl -fsSL --proto '=https,http' -o "$2" "$1"; else wget -qO "$2" "$1"; fi || fail "cannot fetch $1"
}
sum() { if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

main() {
has curl || has wget || fail 'it needs curl or wget'
has sha256sum || has shasum || fail 'it needs sha256sum or shasum, to check what it fetched'
case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "there is no archive for $(uname -s): see $from" ;; esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) fail "there is no archive for $(uname -m): see $from" ;; esac
case $os-$arch in
SUMS
*) fail "this release has no archive for $os-$arch: see $from" ;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
name=parley-VERSION-$os-$arch
fetch "$from/$name.tar.gz" "$dir/$name.tar.gz"
got=$(sum "$dir/$name.tar.gz")
[ "$got" = "$want" ] || fail "$from/$name.tar.gz has the sha256 $got, and the release has $want: do not use it"

if [ -z "$public_key" ]; then
  signature='the release is not signed'
elif ! has minisign; then
  signature='minisign is not installed, so that the signature was not checked'
else
  signature=
  fetch "$from/SHA256SUMS" "$dir/SHA256SUMS"
  fetch "$from/SHA256SUMS.minisig" "$dir/SHA256SUMS.minisig"
  minisign -Vqm "$dir/SHA256SUMS" -P "$public_key" || fail "the signature of $from/SHA256SUMS is wrong: do not use it"
  grep -q "^$want  $name.tar.gz\$" "$dir/SHA256SUMS" || fail "the signed SHA256SUMS has another hash of $name.tar.gz: do not use it"
fi
if [ -n "$signature" ] && [ "${PARLEY_REQUIRE_SIGNATURE:-}" = 1 ]; then fail "$signature"; fi

tar -xzf "$dir/$name.tar.gz" -C "$dir"
mkdir -p "$bin"
mv -f "$dir/$name/parley" "$bin/.parley.new" && mv -f "$bin/.parley.new" "$bin/parley" # one that runs goes on
printf 'parley VERSION is in %s; its sha256 was checked%s\n' "$bin" "${signature:+; $signature}"
case ":$PATH:" in *":$bin:"*) ;; *) echo "It is not on your PATH yet: export PATH=\"\$PATH:$bin\"" ;; esac
printf 'Try it: parley quickstart\n'
}

main # at the end: a script that was cut off on the way does nothing
