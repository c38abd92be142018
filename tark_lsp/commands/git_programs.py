"""Commands of git that only read. In the sandbox its settings start nothing; outside no git command is allowed unasked.

What shows lines of files can run programs of the repository's settings (`diff.*.textconv`, `diff.external`,
`gpg.program`), so it needs the flags that forbid it.
"""

from tark_lsp.commands.program import Row

CHOICE = (
    "all branches tags remotes no-merges merges first-parent reverse follow graph oneline "
    "date-order topo-order decorate "
    "no-decorate abbrev-commit no-color name-only name-status stat shortstat numstat summary "
    "left-right cherry-pick no-renames "
    "i E F"
)
CHOICE_VALUES = (
    "n:number max-count:number skip:number format:revisions pretty:revisions author:text "
    "committer:text grep:text since:text "
    "until:text after:text before:text date:text decorate?:word color:word abbrev?:number"
)
FIGURES = "stat shortstat numstat name-only name-status summary cached staged no-renames no-color R quiet exit-code"
FIGURES_VALUES = "diff-filter:word stat?:word color:word"
FORBID = "no-ext-diff no-textconv"

GIT: tuple[Row, ...] = (
    Row(
        "git status",
        "s b v short branch long show-stash renames no-renames ignored z",
        "porcelain?:word u?:word untracked-files?:word",
        "path*",
        yes=("git status", "git status -sb", "git status --porcelain=v1 -uno"),
        no=("git status --ahead-behind-x", "git -c core.pager=x status", "git -C x status", "git --exec-path=. status"),
    ),
    Row(
        "git log",
        CHOICE,
        CHOICE_VALUES,
        "path*",
        digits=True,
        yes=("git log --oneline -5", "git log -n 3 --format=%H main..HEAD -- src", "git log --stat HEAD~1"),
        no=(
            *(
                "git log -p",
                "git log --output=x",
                "git log --textconv",
                "git log --ext-diff",
                "git log --show-signature",
            ),
            *("git log --format=%G?", "git log --pretty='%(trailers)'", "git log -L 1,2:a", "git log --onelin"),
        ),
    ),
    Row(
        "git diff",
        f"{FIGURES} {FORBID} p u b w",
        "U:number unified:number " + FIGURES_VALUES,
        "path*",
        needs=FORBID,
        yes=("git diff --no-ext-diff --no-textconv HEAD",),
        no=("git diff", "git diff --no-ext-diff", "git diff --no-ext-diff --no-textconv --output=x"),
    ),
    Row(
        "git diff --stat",
        FIGURES,
        FIGURES_VALUES,
        "path*",
        yes=("git diff --stat HEAD",),
        no=("git diff --stat -p", "git diff --stat --ext-diff"),
    ),
    Row("git diff --shortstat", FIGURES, FIGURES_VALUES, "path*", yes=("git diff --shortstat",)),
    Row("git diff --numstat", FIGURES, FIGURES_VALUES, "path*", yes=("git diff --numstat",)),
    Row(
        "git diff --name-only",
        FIGURES,
        FIGURES_VALUES,
        "path*",
        yes=("git diff --name-only main...HEAD",),
        no=("git diff --name-only -p",),
    ),
    Row("git diff --name-status", FIGURES, FIGURES_VALUES, "path*", yes=("git diff --name-status",)),
    Row(
        "git show",
        f"{CHOICE} {FORBID}",
        CHOICE_VALUES,
        "path*",
        needs=FORBID,
        yes=("git show --no-ext-diff --no-textconv HEAD",),
        no=("git show", "git show HEAD:a"),
    ),
    Row("git show --stat", CHOICE, CHOICE_VALUES, "path*", yes=("git show --stat HEAD",), no=("git show --stat -p",)),
    Row(
        "git branch",
        "a r v all remotes show-current",
        yes=("git branch", "git branch -a -vv", "git branch --show-current"),
        no=("git branch x", "git branch -D x", "git branch --edit-description"),
    ),
    Row("git tag", yes=("git tag",), no=("git tag x",)),
    Row(
        "git tag -l",
        "n",
        "sort:word",
        "text*",
        yes=("git tag -l", "git tag -l 'v*'"),
        no=("git tag -l -d x", "git tag -l -v x"),
    ),
    Row("git remote", "v", yes=("git remote -v",), no=("git remote add a b", "git remote show x")),
    Row(
        "git rev-parse",
        "abbrev-ref short verify show-toplevel git-dir is-inside-work-tree show-prefix q quiet",
        "short?:number",
        "text*",
        yes=("git rev-parse --abbrev-ref HEAD",),
        no=("git rev-parse --parseopt",),
    ),
    Row(
        "git ls-files",
        "c d m o s u z t cached deleted modified others stage exclude-standard full-name",
        "x:text exclude:text",
        "path*",
        yes=("git ls-files -o --exclude-standard",),
        no=("git ls-files --exclude-from=x",),
    ),
    Row(
        "git ls-tree", "r d t l z name-only long full-tree", "", "text path*", yes=("git ls-tree -r --name-only HEAD",)
    ),
    Row(
        "git describe",
        "tags all always long",
        "dirty?:word abbrev:number match:text",
        "text*",
        yes=("git describe --tags --always",),
    ),
    Row("git merge-base", "a all is-ancestor", "", "text text*", yes=("git merge-base main HEAD",)),
    Row(
        "git rev-list",
        "count all no-merges first-parent reverse",
        "n:number max-count:number since:text",
        "path*",
        yes=("git rev-list --count HEAD",),
        no=("git rev-list --use-bitmap-index HEAD",),
    ),
    Row(
        "git shortlog",
        "s n e c",
        "",
        "text text*",
        yes=("git shortlog -sn HEAD",),
        no=("git shortlog", "git shortlog --output=x HEAD"),
    ),
    Row("git stash list", yes=("git stash list",), no=("git stash", "git stash list -p", "git stash pop")),
    Row(
        "git reflog",
        "",
        "n:number",
        yes=("git reflog", "git reflog -n 5"),
        no=("git reflog expire --all", "git reflog delete x"),
    ),
    Row(
        "git cat-file",
        "p t s e",
        "",
        "path",
        yes=("git cat-file -p HEAD:a",),
        no=("git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a"),
    ),
    Row(
        "git grep",
        "n i l L c w E F P v h H I q name-only ignore-case line-number cached untracked",
        "e:text A:number B:number C:number",
        "text path*",
        without_first="e",
        yes=("git grep -n foo -- src",),
        no=("git grep -O x", "git grep --open-files-in-pager=x y", "git grep --textconv x", "git grep -f a"),
    ),
    Row("git check-ignore", "v n q", "", "path path*", yes=("git check-ignore -v a",)),
    Row("git count-objects", "v H", yes=("git count-objects -vH",)),
)
GLOBAL = frozenset({"--no-pager", "--no-optional-locks", "--literal-pathspecs"})
"""Options before git's command that change nothing of what it starts."""
