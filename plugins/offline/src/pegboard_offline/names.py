"""Names that a request may hold, as data: programs, languages, extensions, well-known files and folders."""

from __future__ import annotations

from pegboard_offline.bags import bag

COMMANDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("disk", "space"), "df -h"),
    (("disk", "usage"), "df -h"),
    (("disk", "used"), "df -h"),
    (("version", "python"), "python3 --version"),
    (("version", "node"), "node --version"),
    (("version", "npm"), "npm --version"),
    (("version", "git"), "git --version"),
    (("version", "pip"), "pip --version"),
    (("version", "rust"), "rustc --version"),
    (("version", "docker"), "docker --version"),
    (("memory", "space"), "free -h"),
    (("memory", "usage"), "free -h"),
    (("memory", "used"), "free -h"),
    (("memory", "system"), "free -h"),
    (("cpu", "count"), "nproc"),
    (("process", "running"), "ps aux"),
    (("process", "list"), "ps aux"),
    (("system", "kernel"), "uname -a"),
    (("system", "os"), "uname -a"),
    (("uptime",), "uptime"),
    (("packages", "installed"), "pip list"),
)
"""Questions about the machine: what they must name, and the harmless command that answers. They may say no more than that
and the words of `MACHINE`."""

MACHINE = bag(
    """see list count find installed machine computer system running current search use version python packages disk
    space memory pip node npm git rust docker usage used local left remaining free much full"""
)

PROGRAMS = bag(
    """ansible apt apt-get awk bash black brew bun bundle cargo cat cc chmod clang cmake composer conda cp curl date
    deno df diff docker docker-compose dotnet du echo env eslint flake8 free g++ gcc gem gh git go gradle grep
    gunicorn head helm hostname ip java javac jest jq just kill kubectl ln ls make mkdir mocha mv mvn mypy netstat
    ninja node nox npm npx nproc nvm perl pg_dump php ping pip pip3 pipenv pipx pnpm podman poetry pre-commit
    prettier printf ps psql pwd pyright pytest python python3 rails rake rg rm rsync ruby ruff rustc rustfmt sass
    sed sh sqlite3 ssh sudo swift systemctl tail tar terraform top touch tox tree tsc uname unittest unzip uptime uv
    uvicorn valgrind vite wc webpack wget which whoami xargs yarn zip zsh sleep seq uniq stat tee realpath basename dirname
    mktemp md5sum sha256sum base64 printenv lsof id cmp nohup timeout tr"""
)
"""What may stand first in a command that is not in backticks."""

ENGLISH_PROGRAMS = bag(
    """black cat date diff du echo env find free go head help host just kill ls make more rake ruff sort tail test time
    top touch tree which cut split join watch open yes install sleep id timeout tee stat"""
)
"""Programs whose names are words: without "run" before them they are read as English."""

ALONE = bag("ls pwd whoami pytest uptime nproc uname tox nox mypy")
"""Programs that are a whole request by themselves."""

SUBCOMMANDS = bag(
    """add branch build bump check checkout ci clean clippy clone commit compose config dev diff down exec fetch fmt
    freeze init install lint list log ls lock migrate outdated ps publish pull push restore restart run serve show
    start stash status sync test typecheck uninstall up update upgrade watch"""
)
"""What goes on a command after its program: `npm install` is a command, `python version` is a question."""

INTERPRETERS = {"py": "python3", "sh": "bash", "js": "node", "rb": "ruby", "pl": "perl", "php": "php"}

LANGUAGES: dict[str, str] = {
    "python": "py", "javascript": "js", "typescript": "ts", "markdown": "md", "json": "json", "yaml": "yaml", "yml": "yml",
    "html": "html", "css": "css", "rust": "rs", "golang": "go", "go": "go", "java": "java", "ruby": "rb", "shell": "sh",
    "bash": "sh", "text": "txt", "txt": "txt", "toml": "toml", "csv": "csv", "sql": "sql", "xml": "xml", "php": "php",
    "kotlin": "kt", "swift": "swift", "scala": "scala", "perl": "pl", "lua": "lua", "c": "c", "cpp": "cpp", "c++": "cpp",
    "c#": "cs", "csharp": "cs", "haskell": "hs", "elixir": "ex", "jsx": "jsx", "tsx": "tsx",
    "vue": "vue", "svelte": "svelte",
    "log": "log", "ini": "ini", "cfg": "cfg", "pdf": "pdf", "png": "png", "svg": "svg", "jpg": "jpg", "gif": "gif",
    "notebook": "ipynb", "jupyter": "ipynb", "py": "py", "js": "js", "ts": "ts", "md": "md", "rst": "rst", "proto": "proto",
    "protobuf": "proto", "scss": "scss", "less": "less", "graphql": "graphql", "terraform": "tf", "header": "h", "rs": "rs",
}  # fmt: skip
"""Words before "files" and the extension they mean."""

EXTENSIONS = frozenset(LANGUAGES.values()) | bag(
    """bat c cc cfg class cmake conf cs cxx dart db dockerfile env erl exe fish gradle gz h hh hpp htm ico in j2 jar
    jpeg key less lock m make mdx mjs cjs mk mm mod odt out patch pem plist ps1 pyi pyx r rtf sass service sqlite
    sum tar tex tgz tmp tpl tsv ttf wasm whl xls xlsx doc docx zip zsh yaml properties bak orig diff old info list
    map snap spec template example"""
)
DOMAINS = bag("com org net io dev edu gov co ai app")
PRODUCTS = bag("node.js vue.js next.js three.js d3.js express.js react.js nuxt.js asp.net console.log")

FILE_NAMES: dict[str, str] = {
    "readme": "README.md", "dockerfile": "Dockerfile", "makefile": "Makefile", "license": "LICENSE", "licence": "LICENSE",
    "changelog": "CHANGELOG.md", "gemfile": "Gemfile", "procfile": "Procfile", "vagrantfile": "Vagrantfile",
    "jenkinsfile": "Jenkinsfile", "pipfile": "Pipfile", "rakefile": "Rakefile", "codeowners": "CODEOWNERS",
    "gitignore": ".gitignore", "contributing": "CONTRIBUTING.md", "justfile": "justfile", "brewfile": "Brewfile",
}  # fmt: skip
"""Well-known files that are spoken of without an extension."""

FOLDERS = bag(
    """src lib libs test tests docs doc app apps bin scripts config configs examples assets public static templates
    build dist tools packages plugins migrations components utils helpers core vendor include internal cmd pkg
    server client frontend backend api models views controllers services fixtures benchmarks bench site web logs
    data"""
)
NOT_PATHS = bag(
    """and/or he/she she/he his/her either/or n/a w/o w/ i/o tcp/ip client/server read/write yes/no true/false on/off
    input/output pass/fail 24/7 ci/cd"""
)
