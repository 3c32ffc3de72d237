#!/bin/bash
# Builds a Kubernetes for tests out of Debian 12's own source package, into "$1/bin": nothing here asks any other registry.
# As root; about 5 minutes on two cores. What is there is not built again.
set -euo pipefail
place=$(realpath -m "$1")
export DEBIAN_FRONTEND=noninteractive PATH=/usr/bin:/usr/sbin:/bin:/sbin
quiet=(-qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600)
update() { # the lists have a lock that nobody can wait for
  for _ in $(seq 60); do apt-get "${quiet[@]}" update && return; sleep 5; done
  return 1
}
install() { apt-get "${quiet[@]}" install -y --no-install-recommends "$@" >/dev/null; }

packages=(etcd-server containerd runc containernetworking-plugins iproute2)
dpkg -s "${packages[@]}" >/dev/null 2>&1 || { update && install "${packages[@]}"; }

programs=(kube-apiserver kube-controller-manager kube-scheduler kubelet)
missing=0
for program in "${programs[@]}"; do [ -x "$place/bin/$program" ] || missing=1; done
[ $missing = 1 ] || exit 0

mkdir -p "$place/bin"
if ! grep -rqs '^Types:.*deb-src\|^deb-src' /etc/apt/sources.list /etc/apt/sources.list.d; then
  cat >/etc/apt/sources.list.d/parley-kubernetes-source.sources <<SOURCES
Types: deb-src
URIs: $(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/debian.sources)
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
fi
update
install golang-go dpkg-dev golang-github-modern-go-reflect2-dev

work=$(mktemp -d "$place/build-XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
apt-get "${quiet[@]}" source --download-only kubernetes
source="$work/go/src/k8s.io/kubernetes"
mkdir -p "$(dirname "$source")"
dpkg-source -x --no-check kubernetes_*.dsc "$source" >/dev/null
# The reflect2 that comes with the source walks maps in a way newer Go forbids: the first custom resource would end the server.
rm -rf "$source/vendor/github.com/modern-go/reflect2"
cp -rL /usr/share/gocode/src/github.com/modern-go/reflect2 "$source/vendor/github.com/modern-go/"
rm -f "$source/vendor/github.com/modern-go/reflect2/"*_test.go

export GOPATH="$work/go" GO111MODULE=off CGO_ENABLED=0 GOFLAGS= GOCACHE="$place/gocache"
cd "$source"
# The schemas of all types are generated: the package leaves them out.
go build -o "$work/openapi-gen" k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
marked() { grep -rl --include='*.go' '+k8s:openapi-gen=' "$@"; }
folders=$({ marked pkg cmd plugin
  (cd staging/src && marked k8s.io | grep -vE 'sample-apiserver|code-generator|sample-controller|apiextensions-apiserver/(examples|test)' | sed 's#^#vendor/#'); } |
  grep -v '/testdata/\|/test/' | xargs -n1 dirname | sort -u | sed 's#^#k8s.io/kubernetes/#' | paste -sd,)
"$work/openapi-gen" -i "$folders" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
  -h hack/boilerplate/boilerplate.generatego.txt -r "$work/violations.txt" --output-base "$GOPATH/src"

version=k8s.io/kubernetes/vendor/k8s.io/component-base/version
flags="-s -w -X $version.gitVersion=v1.20.2 -X $version.gitMajor=1 -X $version.gitMinor=20"
for program in "${programs[@]}"; do
  [ -x "$place/bin/$program" ] && continue
  go build -trimpath -ldflags "$flags" -o "$work/$program" "k8s.io/kubernetes/cmd/$program"
  mv "$work/$program" "$place/bin/$program"
done
rm -rf "$place/gocache"
