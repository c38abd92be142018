"""What names the thing that a command does: its program, or also the words after it (`npm run test`, `git log`)."""

import re

COUNTED: dict[int, frozenset[str]] = {
    2: frozenset(
        """git cargo go npm pnpm yarn bun deno pip pip3 uv poetry pipenv pdm hatch rye conda make gmake just task rake
        gradle gradlew mvn mvnw sbt dotnet rustup swift zig mix rebar3 stack cabal composer artisan rails bundle gem
        flutter dart terraform helm gh glab nx turbo lerna vite ng expo meson bazel buck2 pants
        dune opam lein nimble shards pre-commit alembic tsc-watch""".split()  # noqa: SIM905  # a list reads best as words
    ),
    3: frozenset(
        (
            *("npm run", "npm run-script", "pnpm run", "yarn run", "yarn workspace", "bun run", "deno task", "nx run"),
            *("git stash", "git remote", "git submodule", "git worktree", "git bisect", "go tool", "go mod", "go work"),
            *("uv pip", "uv tool", "uv python", "dotnet tool", "composer run-script", "composer run", "poetry env"),
            *("hatch env", "rustup toolchain", "swift package", "gh pr", "gh issue", "deno run", "go run", "zig run"),
        )
    ),
}
"""How many words name what is done: by the program, or by the program and its first word. Every other program is named
by one word."""

DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
"""The first operand of `timeout`."""

RUNNERS: tuple[tuple[str, ...], ...] = (
    *(("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("rye", "run")),
    *(("bundle", "exec"), ("npm", "exec"), ("pnpm", "exec"), ("yarn", "exec"), ("dotnet", "exec"), ("mix", "do")),
    *(("npx",), ("bunx",), ("pnpx",), ("uvx",), ("nice",), ("nohup",), ("xvfb-run",), ("catchsegv",)),
    *(("timeout", "DURATION"), ("python", "-m")),
)
"""What these words start follows them, and is named by its own words: `uv run python -m pytest`. In `python` stands
any version of it."""

INTERPRETERS = frozenset(
    """python node nodejs deno bun ruby perl php lua luajit tclsh Rscript R julia elixir erl escript guile racket swipl
    groovy scala kotlin java sh bash zsh dash ksh fish csh tcsh ash rbash pwsh powershell ts-node tsx osascript
    qjs""".casefold().split()
)
"""They run any text. So their script is one of the words that name what is done; without one, only the exact command is
offered."""

ANYTHING = frozenset(
    """env xargs parallel find fd eval exec command builtin source . trap alias export unset set sudo sudoedit doas su
    pkexec run0 runas chroot nsenter setpriv unshare bwrap ssh scp rsync sftp script expect unbuffer watch entr strace
    ltrace gdb lldb stdbuf setsid flock chrt taskset ionice systemd-run busybox toybox awk gawk mawk nawk sed ed ex vi
    vim nvim emacs less more man dd tee cd pushd popd time coproc code pdb timeit trace cprofile profile runpy ipython
    jupyter bpython ptpython asyncio idlelib irb iex ghci jshell repl tmux screen at batch crontab docker podman
    kubectl""".casefold().split()
) | {
    *(
        "deno eval",
        "deno repl",
        "git bisect",
        "git config",
        "git filter-branch",
        "git submodule foreach",
        "npm explore",
    ),
    *("npm config", "rails runner", "rails console", "mix run", "gh api", "gh alias", "cargo script", "go generate"),
}
"""What runs, or overwrites, whatever its arguments name: programs, with the first words after them, modules of Python
and words of the shell."""

CHANGED_BY: dict[str, tuple[str, ...]] = {
    "git": (
        *("--output", "--ext-diff", "--textconv", "--exec", "--upload-pack", "--receive-pack", "--show-signature"),
        *("--open-files-in-pager", "--paginate", "--config", "--template", "--separate-git-dir"),
    )
}
"""Flags with which a program does something else than its name says. They are covered only if they are named."""
