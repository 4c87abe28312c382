"""Names that hold secrets, and those that no tool writes: the guard of protected paths and the tables of commands read both.

A name counts at any depth, as a file or as a folder with all that is in it. Names stand here in lower case, because letter
case makes no difference.
"""

from __future__ import annotations

SECRET_SUFFIXES = frozenset({"pem", "key", "p8", "p12", "pfx", "ppk", "jks", "keystore", "kdbx"})

SHARED = ("example", "sample", "template", "tpl", "dist")
"""`.env.example` and the like are made to be shared."""

SECRET_FOLDERS = (".ssh", ".gnupg", ".password-store", ".azure", ".config/gcloud", ".aws/sso", ".aws/cli")

SECRET_FILES = (
    *(".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".boto", ".s3cfg", ".vault-token"),
    *(".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", "application_default_credentials.json"),
    *(".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml"),
    *(".aws/credentials", ".aws/config", ".kube/config", ".docker/config.json", ".dockercfg"),
    ".terraform.d/credentials.tfrc.json",
)

VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl")
"""Folders with hooks and settings that name programs. `.git` may also be a file that points to the folder."""

CI_FOLDERS = (".github", ".ci", ".gitlab", ".gitea", ".forgejo", ".circleci", ".buildkite", ".woodpecker", ".teamcity")

CI_FILES = (
    *(".gitlab-ci.yml", ".travis.yml", ".drone.yml", ".cirrus.yml", ".woodpecker.yml", ".appveyor.yml", "appveyor.yml"),
    *("azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile"),
)

OWN_FOLDERS = (
    ".pegboard",
    *(f"{place}/pegboard" for place in (".config", ".local/share", ".local/state", ".cache")),
    *(f"library/{place}/pegboard" for place in ("application support", "caches")),
    *(f"appdata/{place}/pegboard" for place in ("local", "roaming")),
)
"""A project's configuration; a person's own, and Pegboard's state, where the workspace is their home folder."""

UNWRITTEN = (*VERSION_CONTROL, *CI_FOLDERS, *CI_FILES, *OWN_FOLDERS)
"""What may be read, and is not written."""
