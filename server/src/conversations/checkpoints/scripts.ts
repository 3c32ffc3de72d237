/*
 * What runs in the sandbox to make a checkpoint: git's plumbing over a store of its own outside the working directory. It
 * borrows the objects of the repository, but neither its configuration nor its hooks, filters and file system monitor are
 * used, and nothing is written to it. `$1` the working directory, `$2` the name of the store. A process costs about as much
 * as what git does in it, so there are few, and what does not need one another goes on at the same time.
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
export GIT_DIR="$store/git" GIT_WORK_TREE="$1"
own() { GIT_DIR=$repository git -c core.fsmonitor=false "$@"; }
fail() { wait; exit 5; }
`

export const forgetScript = `rm -rf -- "$HOME/.parley/checkpoints/$2"`

/**
 * Finds paths that are not as the store has them (`list`) and ignored ones (`ignored`). `thorough` 1: ignored files are looked
 * for, which costs as much again; else the last ones are taken. Half of the work of git is beside the other half.
 */
const look = `
if ! [ -e "$store/made" ]; then
  format=sha1
  if [ -n "$repository" ]; then format=$(own rev-parse --show-object-format) || format=sha1; fi
  rm -rf -- "$store" && mkdir -p -- "$store" || exit 5
  (unset GIT_DIR GIT_WORK_TREE; git init -q --bare --template= --object-format="$format" -- "$store/git") || exit 5
  mkdir -p -- "$store/git/info" "$store/git/objects/info"
  printf '* -text -eol -filter -ident -working-tree-encoding\\n' > "$store/git/info/attributes"
  : > "$store/made"
  thorough=1
fi
if [ -e "$store/git/index.lock" ]; then rm -f -- "$store/git/index.lock"; fi
objects=
set --
if [ -n "$repository" ]; then
  objects=$repository/objects
  if [ -f "$repository/commondir" ]; then objects=$(cd -- "$repository" && cd -- "$(cat commondir)" && pwd)/objects; fi
  if [ -f "$repository/info/exclude" ]; then set -- "--exclude-from=$repository/info/exclude"; fi
fi
printf '%s\\n' "$objects" > "$store/git/objects/info/alternates"
: > "$store/ignored"
searched=
if [ "$thorough" = 1 ]; then
  : > "$store/small"
  git ls-files -z -o -i --exclude-standard "$@" --directory > "$store/ignored" &
  searched=$!
fi
git diff-files -z --name-only --ignore-submodules=none --no-renames > "$store/list" &
changed=$!
git ls-files -z -o --exclude-standard "$@" > "$store/others" &
others=$!
restaged=
if [ -n "$repository" ] && [ -f "$repository/index" ]; then
  cmp -s "$repository/index" "$store/staged" || restaged=1
elif [ -e "$store/staged" ]; then
  rm -f -- "$store/staged" "$store/staged.tree"
fi
wait "$others" || fail
wait "$changed" || fail
if [ -n "$searched" ]; then wait "$searched"; fi
if [ -s "$store/others" ]; then cat -- "$store/others" >> "$store/list"; fi
if [ -n "$restaged" ]; then
  rm -f -- "$store/staged.tree"
  cp -- "$repository/index" "$store/staged" || exit 5
  GIT_INDEX_FILE="$store/staged" git ls-files -z -c -i --exclude-standard "$@" >> "$store/list" 2>/dev/null
fi
`

/** Two lists with an empty name after each, and then for both what \`stat\` says. */
const show = `
for part in list ignored; do
  if [ -s "$store/$part" ]; then cat -- "$store/$part"; fi
  printf '\\0'
done
for part in list ignored; do
  if [ -s "$store/$part" ]; then xargs -0 stat -c '%s %n' -- < "$store/$part" 2>/dev/null; fi
  printf '\\0'
done
`

/** Whether nobody has to choose: no ignored file, no folder, and few bytes, none of them of a file over the limit. */
const simple = `
simple() {
  if [ -s "$store/ignored" ]; then return 1; fi
  if ! [ -s "$store/list" ]; then return 0; fi
  total=0
  for one in $(xargs -0 stat -c '%s:%f' -- < "$store/list" 2>/dev/null); do
    size=\${one%:*}
    total=$((total + size))
    case $one in *:4???) return 1 ;; esac
    if [ "$size" -gt "$mostFile" ] || [ "$total" -gt "$atOnce" ]; then return 1; fi
  done
}
`

/** `$3` … : folders that git takes for one thing, because there is a repository in them. One file in the index opens them. */
export const nestedScript = `${begin}
shift 2
: > "$store/work.tree"
for folder; do
  file=$(find "./$folder" -name .git -prune -o -type f -print | head -n 1)
  if [ -n "$file" ]; then git update-index --add -- "\${file#./}"; fi
done`

/** Takes a list of paths from its input; `$3` its name: `list` what goes into `work`, `small` what goes into `ignored`. */
export const relistScript = `
store="$HOME/.parley/checkpoints/$2"
rm -f -- "$store/$3.index"
cat > "$store/$3"`

/**
 * What stands beside the files, while these go on: `refs.oid`, `config.oid`, `staged.tree`, `small.tree`. Ends with 6 when not
 * all could be read.
 */
const beside = `
taking='--add --remove --replace -z --stdin'
beside() {
  missed=0
  if [ -s "$store/small" ]; then
    small || { rm -f -- "$store/small.index"; small || missed=6; }
    GIT_INDEX_FILE="$store/small.index" git write-tree > "$store/small.tree" || return 5
  fi
  if [ -f "$store/staged" ] && ! [ -f "$store/staged.tree" ]; then
    cp -- "$store/staged" "$store/staged.index"
    GIT_INDEX_FILE="$store/staged.index" git write-tree --missing-ok > "$store/staged.tree" 2>/dev/null
  fi
  if [ -n "$repository" ]; then
    refs && config || return 5
  elif [ -e "$store/seen" ]; then
    rm -f -- "$store/seen" "$store/refs.oid" "$store/config.seen" "$store/config.oid"
  fi
  return "$missed"
}
small() { GIT_INDEX_FILE="$store/small.index" git update-index $taking < "$store/small" 2>/dev/null; }
config() {
  if ! cmp -s "$repository/config" "$store/config.seen"; then
    cp -- "$repository/config" "$store/config.seen" &&
      git hash-object -w --no-filters -- "$store/config.seen" > "$store/config.oid"
  fi
}
refs() {
  {
    read -r head < "$repository/HEAD"
    printf 'HEAD %s\\n' "$head"
    printf 'base %s\\n' "$base"
    own for-each-ref --format='ref %(objectname) %(refname) %(*objectname)'
    if [ -f "$repository/shallow" ]; then sed 's/^/cut /' "$repository/shallow"; fi
  } > "$store/seen.new"
  if cmp -s "$store/seen.new" "$store/seen"; then return 0; fi
  tips=$(own rev-parse -q --verify HEAD; own for-each-ref --format='%(objectname)' refs/heads refs/stash)
  : > "$store/walk"
  if [ -n "$tips" ]; then own rev-list --boundary $tips --not --remotes > "$store/walk" || return 1; fi
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
  ' "$store/walk" "$store/seen.new" > "$store/refs" || return 1
  git hash-object -w -- "$store/refs" > "$store/refs.oid" && mv -- "$store/seen.new" "$store/seen"
}
beside > /dev/null &
beside=$!
`

/**
 * Makes the checkpoint and prints its id; then `names` and `id kind size` of each of its objects or, when the store knows the
 * one before, `whole` and of each that is new the same with its bytes behind it, up to `atOnce` bytes in all.
 */
const commit = `
read_into() { # a variable, a file that may be absent
  eval "$1="
  if [ -s "$2" ]; then read -r "$1" < "$2"; fi
}
unread=0
read_into tree "$store/work.tree"
if [ -s "$store/list" ] || [ -z "$tree" ]; then
  : > "$store/work.tree"
  if [ -s "$store/list" ] && ! git -c core.splitIndex=true update-index $taking < "$store/list" 2>/dev/null; then
    if [ "$again" = 0 ]; then
      git diff-files -z --name-only --diff-filter=D | git update-index --force-remove -z --stdin
      wait
      exit 7
    fi
    unread=6
    xargs -0 -n 1 git update-index --add --remove --replace -- < "$store/list" 2>/dev/null
  fi
  tree=$(git write-tree) || fail
fi
wait "$beside"
case $? in
  0) ;;
  6) unread=6 ;;
  *) exit 5 ;;
esac
printf '%s\\n' "$tree" > "$store/work.tree"
ignored=
if [ -s "$store/small" ]; then read_into ignored "$store/small.tree"; fi
read_into staged "$store/staged.tree"
read_into refs "$store/refs.oid"
read_into config "$store/config.oid"
parts=$tree,$ignored,$staged,$refs,$config
last= lastly= known=
if [ -s "$store/last" ]; then read -r last lastly known < "$store/last"; fi
if [ "$parts" = "$lastly" ]; then root=$last
else
  root=$({
    printf '040000 tree %s\\twork\\n' "$tree"
    if [ -n "$ignored" ]; then printf '040000 tree %s\\tignored\\n' "$ignored"; fi
    if [ -n "$staged" ]; then printf '040000 tree %s\\tstaged\\n' "$staged"; fi
    if [ -n "$refs" ]; then printf '100644 blob %s\\trefs\\n' "$refs"; fi
    if [ -n "$config" ]; then printf '100644 blob %s\\tconfig\\n' "$config"; fi
  } | git mktree) || exit 5
fi
printf '%s\\n' "$root"
if [ "$root" = "$before" ]; then exit "$unread"; fi
if [ "$last" != "$before" ]; then before= known=; fi
printf '%s %s %s\\n' "$root" "$parts" "$refs" > "$store/last"
{
  if [ -n "$before" ]; then
    printf '%s\\n' "$root"
    { git diff-tree -r -t --no-abbrev "$before" "$root" || echo failed; } |
      sed -n -e '/^:[0-7]* 160000 /d' -e 's/^:[0-7]* [0-7]* [0-9a-f]* \\([0-9a-f]*\\) [AMT].*/\\1/p' -e '/^failed$/p'
  else git rev-list --objects "$root" || echo failed
  fi
  if [ -n "$refs" ] && [ "$known" != "$refs" ]; then
    edges=$(sed -n 's/^shallow //p' "$store/refs")
    old=
    if [ -n "$known" ]; then old=$(git cat-file blob "$known" | sed -n -e 's/^ref \\([^ ]*\\) .*/\\1/p' -e 's/^shallow //p'); fi
    sed -n 's/^tag //p' "$store/refs"
    tips=$(sed -n 's/^ref \\([^ ]*\\) .*/\\1/p' "$store/refs"; own rev-parse -q --verify HEAD)
    if [ -n "$tips" ]; then own rev-list --objects --ignore-missing $tips --not $edges $old || echo failed; fi
    for edge in $edges; do
      printf '%s\\n' "$edge"
      git rev-list --objects "$edge^{tree}" \${before:+--not "$before"} || echo failed
    done
  fi
} > "$store/new" || exit 5
format='%(objectname) %(objecttype) %(objectsize) %(rest)'
if [ -n "$before" ]; then
  printf 'whole\\n'
  git cat-file --batch="$format" < "$store/new" | head -c "$atOnce"
else
  printf 'names\\n'
  git cat-file --batch-check="$format" < "$store/new" || exit 5
fi
exit "$unread"
`

/**
 * `$3` the checkpoint before or nothing, `$4` the commit where the work began or nothing, `$5` how many bytes may be read or
 * told at once, `$6` how many a file may have, `$7` whether to be thorough, `$8` 1 the second time. Prints `made` and the
 * checkpoint, or `found` and what there is to choose from. 6: not all paths could be read. 7: git did not take them, perhaps
 * because a link is now where the folder of some was; these are forgotten, and the second time may go well.
 */
export const saveScript = `${begin}
before=$3 base=$4 atOnce=$5 mostFile=$6 thorough=$7 again=$8
${look}${simple}${beside}
if ! simple; then
  printf 'found\\n'
  ${show}
  wait
  exit 0
fi
printf 'made\\n'
${commit}`

/** The checkpoint of what was chosen; the same arguments. */
export const commitScript = `${begin}
before=$3 base=$4 atOnce=$5 again=$8
${beside}${commit}`

/** What would have been listed had names been listed. */
export const newScript = `${begin}
git cat-file --batch-check='%(objectname) %(objecttype) %(objectsize) %(rest)' < "$store/new"`

/** `$3` … : ids. Prints each as `id kind size`, a line end, its bytes, a line end. */
export const objectsScript = `${begin}
shift 2
printf '%s\\n' "$@" | git cat-file --batch`
