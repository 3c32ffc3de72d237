/*
 * What runs in the sandbox to make a checkpoint: git's plumbing over a store of its own outside the working directory. It
 * borrows the objects of the repository, but neither its configuration nor its hooks, filters and file system monitor are
 * used, and nothing is written to it. `$1` the working directory, `$2` the name of the store.
 */

export const environment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  LC_ALL: 'C',
}

const begin = `
cd -- "$1" || exit 3
command -v git >/dev/null 2>&1 || exit 4
store="$HOME/.parley/checkpoints/$2"
if [ -d .git ]; then repository=$1/.git
elif [ -f .git ]; then repository=$(git rev-parse --absolute-git-dir) || repository=
else repository=
fi
inside() { GIT_DIR=$store/git GIT_WORK_TREE=$work git "$@"; }
indexed() { (GIT_INDEX_FILE=$1; export GIT_INDEX_FILE; shift; inside "$@"); }
own() { GIT_DIR=$repository git -c core.fsmonitor=false "$@"; }
work=$1
`

export const forgetScript = `rm -rf -- "$HOME/.parley/checkpoints/$2"`

/**
 * Prints two lists with an empty name after each, paths that are not as the store has them and ignored ones, and then for
 * both what `stat` says. `$3` 1: ignored files are looked for, which costs as much again; else the last ones are taken.
 */
export const listScript = `${begin}
thorough=$3
if ! [ -e "$store/made" ]; then
  format=sha1
  if [ -n "$repository" ]; then format=$(own rev-parse --show-object-format) || format=sha1; fi
  rm -rf -- "$store" && mkdir -p -- "$store" && git init -q --bare --template= --object-format="$format" -- "$store/git" || exit 5
  mkdir -p -- "$store/git/info" "$store/git/objects/info"
  printf '* -text -eol -filter -ident -working-tree-encoding\\n' > "$store/git/info/attributes"
  : > "$store/made"
  thorough=1
fi
rm -f -- "$store/git/index.lock"
if [ -n "$repository" ]; then
  objects=$repository/objects
  if [ -f "$repository/commondir" ]; then objects=$(cd -- "$repository" && cd -- "$(cat commondir)" && pwd)/objects; fi
  printf '%s\\n' "$objects" > "$store/git/objects/info/alternates"
  set --
  if [ -f "$repository/info/exclude" ]; then set -- "--exclude-from=$repository/info/exclude"; fi
else
  : > "$store/git/objects/info/alternates"
  set --
fi
: > "$store/ignored"
if [ "$thorough" = 1 ]; then
  : > "$store/small"
  inside ls-files -z -o -i --exclude-standard "$@" --directory > "$store/ignored" &
fi
{ inside diff-files -z --name-only --ignore-submodules=none --no-renames > "$store/changed" || : > "$store/failed"; } &
inside ls-files -z -o --exclude-standard "$@" > "$store/list" || exit 5
wait
if [ -e "$store/failed" ]; then exit 5; fi
if [ -s "$store/changed" ]; then cat -- "$store/changed" >> "$store/list"; fi
if [ -n "$repository" ] && [ -f "$repository/index" ]; then
  if ! cmp -s "$repository/index" "$store/staged"; then
    rm -f -- "$store/staged.tree"
    cp -- "$repository/index" "$store/staged" || exit 5
    indexed "$store/staged" ls-files -z -c -i --exclude-standard "$@" >> "$store/list" 2>/dev/null
  fi
else
  rm -f -- "$store/staged" "$store/staged.tree"
fi
for part in list ignored; do
  if [ -s "$store/$part" ]; then cat -- "$store/$part"; fi
  printf '\\0'
done
for part in list ignored; do
  if [ -s "$store/$part" ]; then xargs -0 stat -c '%s %n' -- < "$store/$part" 2>/dev/null; fi
  printf '\\0'
done`

/** `$3` … : folders that git takes for one thing, because there is a repository in them. One file in the index opens them. */
export const nestedScript = `${begin}
shift 2
for folder; do
  file=$(find "./$folder" -name .git -prune -o -type f -print | head -n 1)
  if [ -n "$file" ]; then inside update-index --add -- "\${file#./}"; fi
done`

/** Takes a list of paths from its input; `$3` its name: `list` what goes into `work`, `small` what goes into `ignored`. */
export const relistScript = 'cat > "$HOME/.parley/checkpoints/$2/$3"'

/**
 * `$3` the checkpoint before or nothing, `$4` the commit where the work began or nothing. Prints the id of the new one; then
 * `names` and `id kind size` of each of its objects or, when the store knows the one before, `whole` and of each that is new the
 * same with its bytes behind it, up to `$5` bytes in all. 6: not all paths could be read.
 */
export const commitScript = `${begin}
before=$3 base=$4 unread=0
if [ -s "$store/list" ] && ! inside update-index --add --remove -z --stdin < "$store/list" 2>/dev/null; then
  unread=1
  GIT_DIR=$store/git GIT_WORK_TREE=$work xargs -0 -n 1 git update-index --add --remove -- < "$store/list" 2>/dev/null
fi
tree=$(inside write-tree) || exit 5
ignored=
if [ -s "$store/small" ]; then
  rm -f -- "$store/small.index"
  indexed "$store/small.index" update-index --add --remove -z --stdin < "$store/small" 2>/dev/null || unread=1
  ignored=$(indexed "$store/small.index" write-tree) || exit 5
fi
if [ -f "$store/staged" ] && ! [ -f "$store/staged.tree" ]; then
  cp -- "$store/staged" "$store/staged.index"
  indexed "$store/staged.index" write-tree --missing-ok > "$store/staged.tree" 2>/dev/null
fi
if [ -n "$repository" ]; then
  {
    read -r head < "$repository/HEAD"
    printf 'HEAD %s\\n' "$head"
    printf 'base %s\\n' "$base"
    own for-each-ref --format='ref %(objectname) %(refname) %(*objectname)'
    if [ -f "$repository/shallow" ]; then sed 's/^/cut /' "$repository/shallow"; fi
  } > "$store/seen.new"
  if ! cmp -s "$store/seen.new" "$store/seen"; then
    tips=$(own rev-parse -q --verify HEAD; own for-each-ref --format='%(objectname)' refs/heads refs/stash)
    : > "$store/walk"
    if [ -n "$tips" ]; then own rev-list --boundary $tips --not --remotes > "$store/walk" || exit 5; fi
    if [ -n "$base" ] && ! own cat-file -e "$base^{commit}" 2>/dev/null; then base=; fi
    awk -v base="$base" -v tips="$(echo $tips)" '
      FILENAME ~ /walk$/ { if (sub(/^-/, "")) edge[$1] = 1; else fresh[$1] = 1; next }
      !begun {
        begun = 1
        n = split(tips, tip)
        for (i = 1; i <= n; i++) if (!(tip[i] in fresh)) edge[tip[i]] = 1
        if (base != "" && !(base in fresh)) edge[base] = 1
      }
      $1 == "HEAD" { print }
      $1 == "cut" && $2 in fresh { edge[$2] = 1 }
      $1 == "ref" {
        at = NF == 4 ? $4 : $2
        if (at in fresh || at in edge) { print "ref", $2, $3; if (NF == 4) print "tag", $2 }
      }
      END { for (one in edge) print "shallow", one }
    ' "$store/walk" "$store/seen.new" > "$store/refs" || exit 5
    inside hash-object -w -- "$store/refs" > "$store/refs.oid" || exit 5
    mv -- "$store/seen.new" "$store/seen"
  fi
  if ! cmp -s "$repository/config" "$store/config.seen"; then
    cp -- "$repository/config" "$store/config.seen" &&
      inside hash-object -w --no-filters -- "$store/config.seen" > "$store/config.oid" || exit 5
  fi
else
  rm -f -- "$store/seen" "$store/refs.oid" "$store/config.seen" "$store/config.oid"
fi
refs=
if [ -s "$store/refs.oid" ]; then read -r refs < "$store/refs.oid"; fi
root=$({
  printf '040000 tree %s\\twork\\n' "$tree"
  if [ -n "$ignored" ]; then printf '040000 tree %s\\tignored\\n' "$ignored"; fi
  if [ -s "$store/staged.tree" ]; then read -r oid < "$store/staged.tree"; printf '040000 tree %s\\tstaged\\n' "$oid"; fi
  if [ -n "$refs" ]; then printf '100644 blob %s\\trefs\\n' "$refs"; fi
  if [ -s "$store/config.oid" ]; then read -r oid < "$store/config.oid"; printf '100644 blob %s\\tconfig\\n' "$oid"; fi
} | inside mktree) || exit 5
printf '%s\\n' "$root"
if [ "$root" = "$before" ]; then exit 0; fi
last= known=
if [ -s "$store/last" ]; then read -r last known < "$store/last"; fi
if [ "$last" != "$before" ]; then before= known=; fi
printf '%s %s\\n' "$root" "$refs" > "$store/last"
{
  inside rev-list --objects "$root" \${before:+--not "$before"} || echo failed
  if [ -n "$refs" ] && [ "$known" != "$refs" ]; then
    edges=$(sed -n 's/^shallow //p' "$store/refs")
    old=
    if [ -n "$known" ]; then old=$(inside cat-file blob "$known" | sed -n -e 's/^ref \\([^ ]*\\) .*/\\1/p' -e 's/^shallow //p'); fi
    sed -n 's/^tag //p' "$store/refs"
    tips=$(sed -n 's/^ref \\([^ ]*\\) .*/\\1/p' "$store/refs"; own rev-parse -q --verify HEAD)
    if [ -n "$tips" ]; then own rev-list --objects --ignore-missing $tips --not $edges $old || echo failed; fi
    for edge in $edges; do
      printf '%s\\n' "$edge"
      inside rev-list --objects "$edge^{tree}" \${before:+--not "$before"} || echo failed
    done
  fi
} > "$store/new" || exit 5
format='%(objectname) %(objecttype) %(objectsize) %(rest)'
if [ -n "$before" ]; then
  printf 'whole\\n'
  inside cat-file --batch="$format" < "$store/new" | head -c $5
else
  printf 'names\\n'
  inside cat-file --batch-check="$format" < "$store/new" || exit 5
fi
[ "$unread" = 0 ] || exit 6`

/** What `commitScript` would have listed had it listed names. */
export const newScript = `${begin}
inside cat-file --batch-check='%(objectname) %(objecttype) %(objectsize) %(rest)' < "$store/new"`

/** `$3` … : ids. Prints each as `id kind size`, a line end, its bytes, a line end. */
export const objectsScript = `${begin}
shift 2
printf '%s\\n' "$@" | inside cat-file --batch`
