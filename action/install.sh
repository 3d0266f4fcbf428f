#!/usr/bin/env bash
# Installs kcp for the steps that follow: a release, checked against its checksums, or what
# is built from the source of the action.
#
#   KCP_VERSION   v0.3.0, or "source"
#   KCP_SOURCE    the folder with the source
#   KCP_RELEASES  where releases are, unless at GitHub
set -euo pipefail

directory="${RUNNER_TEMP:-/tmp}/kcp/bin"
mkdir -p "$directory"

if [ "$KCP_VERSION" = source ]; then
	(cd "$KCP_SOURCE" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$directory/" ./cmd/...)
else
	case "$(uname -s)" in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) echo "error: there is no archive for $(uname -s) that this script can unpack" >&2 && exit 1 ;;
	esac
	case "$(uname -m)" in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) echo "error: there is no archive for $(uname -m)" >&2 && exit 1 ;;
	esac
	releases="${KCP_RELEASES:-https://github.com/forkless/kcp/releases/download}"
	archive="kcp_${KCP_VERSION#v}_${os}_${arch}.tar.gz"
	work="$(mktemp -d)"
	trap 'rm -rf "$work"' EXIT
	curl --fail --silent --show-error --location --retry 3 -o "$work/$archive" "$releases/$KCP_VERSION/$archive"
	curl --fail --silent --show-error --location --retry 3 -o "$work/checksums.txt" "$releases/$KCP_VERSION/checksums.txt"
	sum="$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")"
	if command -v sha256sum >/dev/null; then have="$(sha256sum "$work/$archive")"; else have="$(shasum -a 256 "$work/$archive")"; fi
	if [ -z "$sum" ] || [ "${have%% *}" != "$sum" ]; then
		echo "error: $archive is not what its release says it is" >&2
		exit 1
	fi
	tar -xzf "$work/$archive" -C "$work"
	mv "$(find "$work" -type f -path '*/bin/kcp' | head -n 1)" "$directory/kcp"
	chmod +x "$directory/kcp"
fi

echo "$directory" >> "$GITHUB_PATH"
"$directory/kcp" version
