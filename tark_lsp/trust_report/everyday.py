"""Data: sixty everyday commands of developers in ten ecosystems: build, test, lint, format, and git."""

EVERYDAY: dict[str, tuple[str, ...]] = {
    "Python": (
        *("python -m pytest -q", "pytest tests/test_a.py -k name -x", "ruff check .", "ruff format --check ."),
        *("mypy src", "python -m compileall -q src"),
    ),
    "Node": (
        *("npm test", "npm run build", "npx tsc --noEmit", "npx eslint src", "npx prettier --check ."),
        "node --test",
    ),
    "Rust": (
        *("cargo build --offline", "cargo test --offline", "cargo check --offline", "cargo fmt --check"),
        *("cargo clippy --offline -- -D warnings", "cargo run --offline"),
    ),
    "Go": ("go build ./...", "go test ./...", "go vet ./...", "gofmt -l .", "go test -run TestA ./pkg"),
    "Make": ("make", "make test", "make -j4 all", "make lint", "make -C src"),
    "C and C++": (
        *("cmake -S . -B build", "cmake --build build", "ctest --test-dir build", "clang-format --dry-run src/a.c"),
        "gcc -Wall -c src/a.c -o a.o",
    ),
    "Java": ("mvn -q -o test", "mvn -q -o package", "./gradlew test --offline", "javac -d out src/A.java"),
    ".NET": ("dotnet build --no-restore", "dotnet test --no-build", "dotnet format --verify-no-changes"),
    "Ruby": ("bundle exec rspec", "bundle exec rubocop", "ruby -Ilib -Itest test/a_test.rb", "rake test"),
    "PHP": ("vendor/bin/phpunit", "php -l src/a.php", "composer validate", "vendor/bin/phpstan analyse src"),
    "git": (
        *("git status", "git status --short", "git diff", "git diff --stat HEAD", "git log --oneline -10"),
        *("git log -p -1", "git show HEAD", "git diff HEAD -- src", "git branch -vv", "git stash list"),
        *("git blame -L 1,20 README.md", "git rev-parse HEAD"),
    ),
}
COMMANDS = tuple(command for commands in EVERYDAY.values() for command in commands)
