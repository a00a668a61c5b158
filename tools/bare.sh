#!/usr/bin/env bash
# tools/bare.sh [OPTIONS] COMMAND…: runs a command where nothing is installed: in a new Debian root that has make,
# git, ca-certificates and what these need, in a clean export of HEAD, with an empty environment.
#
#   --suite NAME       the release of Debian, such as trixie; else that of this machine
#   --install NAMES    packages that an administrator has installed before, separated by spaces
#   --user             run as an ordinary user, else as root; there is one in any case, whose name is user
#   --share FOLDER     a folder of this machine that is /share in there, to bring files in and out
#   --possible         run nothing, only see whether a root can be made here: exit code 1 and one line if not
#
# Package sources and settings for downloads are those of apt on this machine; pip's settings and the variables of
# proxies are those of the caller. The root lies in memory and is mounted in a namespace of its own, which ends with
# this script, however it ends: no mount and no process is left. Downloads are kept in ~/.cache/fathometer/bare: apt and
# pip check them before they use them. What pip has compiled is not kept. Needs root rights, and debootstrap, which is
# installed if it is missing.
set -euo pipefail
self=$(realpath "$0") from=$PWD
cd "$(dirname "$self")/.."

say() { echo "bare.sh: $*" >&2; }

# Tries a download three times.
thrice() {
    local pause
    for pause in 5 20 ""; do
        "$@" && return
        [ -z "$pause" ] || { say "failed, tried again in $pause s: $1" && sleep "$pause"; }
    done
    return 1
}

codename() { (. /etc/os-release && echo "${VERSION_CODENAME:-}"); }

# Debian's package sources that apt on this machine uses, as lines of sources.list for the release $1. Sources of others
# are left out.
sources() {
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
        awk -v own="$(codename)" -v suite="$1" '$1 == "Debian" && ($3 == own || index($3, own "-") == 1) {
            if (suite != "sid" || $3 == own) print "deb " $2 " " suite substr($3, length(own) + 1) " " $4 }'
}

install_debootstrap() {
    apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 install \
        --no-install-recommends debootstrap
} >/dev/null 2>&1

# Checks what is needed here, and installs debootstrap; one line and exit code 1 where something is missing.
prepare() {
    cannot() { say "no bare root can be made here: $*" && exit 1; }
    [ "$(id -u)" = 0 ] || cannot "it needs root rights"
    unshare --mount --pid --fork true 2>/dev/null || cannot "this system allows no namespaces"
    command -v apt-get >/dev/null || cannot "it needs apt, whose sources it takes"
    [ -n "$(sources "$(codename)")" ] || thrice apt-get -qq update >/dev/null || true
    [ -n "$(sources "$(codename)")" ] || cannot "apt has no source of Debian's packages"
    command -v debootstrap >/dev/null || thrice install_debootstrap || true
    command -v debootstrap >/dev/null || cannot "it needs debootstrap, and apt-get cannot install it"
    awk '/^MemAvailable/ && $2 < 6 * 2^20 { exit 1 }' /proc/meminfo || cannot "it needs 6 GiB of free memory"
}

# The first process of the namespaces: makes the root and runs the command.
# Arguments: the folder of the root, the archive of HEAD, the command. Variables: suite, install, user, share.
inside() {
    local root=$1 head=$2 cache=${XDG_CACHE_HOME:-$HOME/.cache}/fathometer/bare/$suite path uri python one proxies=()
    shift 2
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    mount -t tmpfs -o "size=90%,mode=755" bare "$root"
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock --nonblock 9 || { cache=$root.cache && mkdir "$cache" && mount -t tmpfs bare "$cache"; } # it is in use
    mkdir -p "$cache/debs" "$cache/pip-root" "$cache/pip-user"
    find "$cache" -type f -mtime +60 -delete
    rm -rf "$cache"/pip-*/wheels # they were compiled on another system

    say "making a root of $suite"
    uri=$(sources "$suite" | awk '{ print $2; exit }')
    bootstrap() {
        find "$root" -xdev -mindepth 1 -delete
        debootstrap --variant=minbase --include=make,git,ca-certificates --cache-dir="$cache/debs" \
            "$suite" "$root" "$uri" >"$head.log" 2>&1
    }
    thrice bootstrap || { tail -n 20 "$head.log" >&2 && say "debootstrap failed" && exit 1; }

    # apt and pip need them for downloads; they may hold passwords, so they are written into no file.
    for one in http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY; do
        [ -z "${!one:-}" ] || proxies+=("$one=${!one}")
    done
    in_root() {
        chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            DEBIAN_FRONTEND=noninteractive "${proxies[@]}" "$@"
    }
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
    ln -sf pts/ptmx "$root/dev/ptmx"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    cp -L /etc/hosts /etc/resolv.conf "$root/etc/"
    hostname >"$root/etc/hostname"
    sources "$suite" >"$root/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(https?|Check-)' >"$root/etc/apt/apt.conf.d/90settings" || true
    cp -r /etc/apt/auth.conf.d "$root/etc/apt/" 2>/dev/null || true
    if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
        cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
        in_root update-ca-certificates >"$head.log" 2>&1 || { tail -n 20 "$head.log" >&2 && exit 1; }
    fi
    python=$(tools/python.sh)
    "$python" tools/pip_settings.py "$root/etc/pip.conf" >"$head.paths"
    while read -r path; do
        [ ! -e "$root$path" ] || continue
        mkdir -p "$(dirname "$root$path")"
        if [ -d "$path" ]; then
            mkdir "$root$path" && mount --bind -o ro "$path" "$root$path"
        else
            cp "$path" "$root$path"
        fi
    done <"$head.paths"
    mount --bind "$cache/debs" "$root/var/cache/apt/archives"
    if [ -n "$share" ]; then
        mkdir "$root/share" && mount --bind "$share" "$root/share"
    fi
    thrice in_root apt-get -qq -o APT::Update::Error-Mode=any update
    # shellcheck disable=SC2086
    [ -z "$install" ] || thrice in_root apt-get -qq -y install \
        --no-install-recommends $install >"$head.log" 2>&1 || { tail -n 20 "$head.log" >&2 && exit 1; }

    in_root useradd --create-home --shell /bin/bash user
    for path in root home/user; do
        mkdir -p "$root/$path/.cache/pip" "$root/$path/fathometer"
        mount --bind "$cache/pip-${path##*/}" "$root/$path/.cache/pip"
        tar -x -C "$root/$path/fathometer" -f "$head"
    done
    in_root chown -R user:user /home/user
    rm "$head" "$head.log" "$head.paths"

    local name=root home=/root search=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    if [ -n "$user" ]; then
        name=user home=/home/user search=/usr/local/bin:/usr/bin:/bin
    fi
    # Not by chroot alone: within one no namespaces can be made, and nsenter would leave it.
    mkdir "$root/before"
    cd "$root"
    pivot_root . before
    cd /
    umount -l /before
    rmdir /before
    say "running in it: $*"
    chroot --userspec="$name:$name" / /usr/bin/env -i "PATH=$search" "HOME=$home" "USER=$name" "LOGNAME=$name" \
        SHELL=/bin/bash "TERM=${TERM:-dumb}" "${proxies[@]}" /bin/sh -c 'cd ~/fathometer && exec "$@"' sh "$@" 9>&-
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi
export suite install="" user="" share=""
suite=$(codename)
while [ $# -gt 0 ]; do
    case $1 in
        --suite) suite=$2 && shift 2 ;;
        --install) install=$2 && shift 2 ;;
        --user) user=yes && shift ;;
        --share) share=$(cd "$from" && realpath "$2") && shift 2 ;;
        --possible) prepare && exit ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$self" && exit ;;
        -*) say "found $1; allowed: --suite, --install, --user, --share, --possible, --help" && exit 2 ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || { say "a command is missing; see tools/bare.sh --help" && exit 2; }
prepare

# The kernel kills this process when the script ends. It runs in the background, so that the script can react to
# signals, but with the terminal as its input, and without ignoring the signals that a background process does.
work=$(mktemp -d)
mkdir "$work/root"
trap 'rm -rf --one-file-system "$work"' EXIT
git archive --output="$work/head" HEAD
env --default-signal=INT,QUIT setpriv --pdeathsig KILL \
    unshare --mount --pid --fork --kill-child=KILL bash "$self" --inside "$work/root" "$work/head" "$@" <&0 &
child=$! status=1
trap ':' INT # the command gets it too, and ends
trap 'kill -KILL "$child" && exit 143' TERM HUP
while kill -0 "$child" 2>/dev/null; do
    wait "$child" && status=0 || status=$?
done
exit "$status"
