#!/bin/sh
# Installs Thalweg from the folder of this script, or removes what it has installed.
set -eu

usage() {
    cat <<'TEXT'
usage: install.sh [--prefix DIR] [--uninstall]

Installs Thalweg below DIR, or removes it from there. DIR is the variable PREFIX if it is set, else
~/.local. The copy of this script in DIR/share/thalweg removes the installation that it belongs to.
TEXT
}

fail() {
    echo "install.sh: $*" >&2
    exit "${status:-1}"
}

here=$(cd "$(dirname "$0")" && pwd)
manifest=share/thalweg/manifest
uninstall=false
prefix=${PREFIX:-}
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -ge 2 ] || status=2 fail "--prefix needs a folder"
        prefix=$2
        shift
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) uninstall=true ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) status=2 fail "unknown argument \`$1\`; --help lists the arguments" ;;
    esac
    shift
done
if [ -z "$prefix" ] && [ -f "$here/manifest" ]; then
    prefix=$(cd "$here/../.." && pwd)
fi
if [ -z "$prefix" ]; then
    prefix=${HOME:?install.sh: neither PREFIX nor HOME is set; use --prefix DIR}/.local
fi
case $prefix in
/*) ;;
*) prefix=$PWD/$prefix ;;
esac

# Entries of the manifest by their kind: `f` files, `d` folders that the installation has made.
entries() {
    if [ -f "$prefix/$manifest" ]; then
        sed -n "s/^$1 //p" "$prefix/$manifest"
    fi
}

# Removes the listed files, from standard input. A path that leaves the prefix is none of ours.
remove_files() {
    while IFS= read -r file; do
        case /$file/ in
        //* | */../*) fail "$prefix/$manifest has the path \`$file\`, which is not below $prefix" ;;
        esac
        rm -f -- "$prefix/$file"
    done
}

remove() {
    [ -f "$prefix/$manifest" ] || fail "there is no installation in $prefix: it has no $manifest"
    folders=$(entries d | LC_ALL=C sort -r)
    entries f | remove_files
    rm -f -- "$prefix/$manifest"
    # Folders with files of others stay.
    printf '%s\n' "$folders" | while IFS= read -r folder; do
        case $folder in
        '') ;;
        .) rmdir -- "$prefix" 2>/dev/null || true ;;
        *) rmdir -- "$prefix/$folder" 2>/dev/null || true ;;
        esac
    done
    echo "removed Thalweg from $prefix"
}

# The files of the archive that are installed, relative to the prefix.
files() {
    (cd "$here" && find bin include share -type f | LC_ALL=C sort)
    echo share/thalweg/install.sh
}

# The folders of these files, each after the one that it is in, the prefix first.
folders() {
    echo .
    files | while IFS= read -r file; do
        folder=$(dirname "$file")
        while [ "$folder" != . ]; do
            printf '%s\n' "$folder"
            folder=$(dirname "$folder")
        done
    done | LC_ALL=C sort -u
}

# Another's file is not overwritten, because the removal would delete it.
refuse_other_files() {
    owned=$(entries f)
    files | while IFS= read -r file; do
        if [ -e "$prefix/$file" ] && ! printf '%s\n' "$owned" | grep -Fxq -e "$file"; then
            fail "$prefix/$file exists and is of no earlier installation; remove it, or use" \
                "another --prefix"
        fi
    done
}

# copy FROM FILE: a program that runs keeps its old file.
copy() {
    cp -- "$1" "$prefix/$2.new"
    if [ -x "$1" ]; then chmod 755 "$prefix/$2.new"; else chmod 644 "$prefix/$2.new"; fi
    mv -f -- "$prefix/$2.new" "$prefix/$2"
}

install_all() {
    [ -d "$here/bin" ] || fail "there is no folder bin beside this script"
    version=$("$here/bin/thalweg" --version) ||
        fail "this host cannot run $here/bin/thalweg; it needs Linux on x86-64 with glibc"
    refuse_other_files
    made=$({
        entries d
        folders | while IFS= read -r folder; do
            [ -d "$prefix/$folder" ] || printf '%s\n' "$folder"
        done
    } | LC_ALL=C sort -u)
    before=$(entries f)
    folders | while IFS= read -r folder; do mkdir -p -- "$prefix/$folder"; done
    # The manifest comes first, so that an installation that was broken off can be removed.
    {
        [ -z "$made" ] || printf '%s\n' "$made" | sed 's/^/d /'
        { files; [ -z "$before" ] || printf '%s\n' "$before"; } | LC_ALL=C sort -u | sed 's/^/f /'
    } >"$prefix/$manifest.new"
    mv -f -- "$prefix/$manifest.new" "$prefix/$manifest"
    files | while IFS= read -r file; do
        case $file in
        share/thalweg/install.sh) copy "$here/install.sh" "$file" ;;
        *) copy "$here/$file" "$file" ;;
        esac
    done
    drop_old_files
    echo "installed $version in $prefix; to remove it: $prefix/share/thalweg/install.sh --uninstall"
    case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "$prefix/bin is not in PATH yet" ;;
    esac
}

# Removes files of an earlier version that this one does not have.
drop_old_files() {
    new=$(files)
    entries f | while IFS= read -r file; do
        printf '%s\n' "$new" | grep -Fxq -e "$file" || printf '%s\n' "$file"
    done | remove_files
    {
        entries d | sed 's/^/d /'
        printf '%s\n' "$new" | sed 's/^/f /'
    } >"$prefix/$manifest.new"
    mv -f -- "$prefix/$manifest.new" "$prefix/$manifest"
}

if $uninstall; then remove; else install_all; fi
