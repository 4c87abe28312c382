"""How a command line is read: rule by rule, what passes, what does not, and which part is named."""

from __future__ import annotations

import pytest
from judging import against
from pegboard.config.schema import PermissionSettings
from pegboard.policy.shell import Line, read_line

ALLOWED = ["echo", "true", "printf", "cat", "ls", "git status", "grep", "find", "test", "[", "npm test"]
ASK = PermissionSettings(bash_read_only="ask")


def read(text: str, **settings: object) -> Line:
    return read_line(text, settings=PermissionSettings(bash_read_only="ask", **settings))  # type: ignore[arg-type]


PASS = [
    "ls", "ls;", "ls\n", " ls ; ls ", "ls&&ls", "ls||ls|ls|&ls", "ls &&\n\n ls", "ls |\n# c\ncat", "ls # a; rm `x`",
    "ls \\\n -la",
    "ls \\\n# c", "# c\nls", "echo a#b '#' \\# \"#\"", "echo 'a;b|c&d>e<f(g)h`i`$(j)${k}'", 'echo "a;b|c&d>e<f(g)h!"',
    'echo "\\`x\\` \\$(x) \\" \\\\"', "echo \\; \\| \\& \\> \\( \\` \\$x \\' \\\" \\\\", 'grep "foo$" a$ "$"',
    "echo ''\"\"'a'\"b\"c\\d",
    "echo \"it's\" 'say \"x\"'", "echo {} {a} a{b a}b HEAD@{0} '{a,b}' \"{1..2}\" \\{a,b}", "echo ~ ~/x a~b",
    "echo *.txt ? [a-z]",
    "ls 2>&1", "ls >&2", "ls 1>&2 2>&1", "ls >/dev/null", "ls > /dev/null 2>&1", "ls &>/dev/null", "ls >>/dev/null",
    "ls 2>/dev/null",
    ">/dev/null ls", "cat <a.txt", "cat < ~/a.txt", "cat <<<word", "cat <<<'$x `y`'", "cat <<EOF\nplain $ words\nEOF",
    "cat <<'EOF'\n$(x) `y` ${z}\nEOF", 'cat <<"EOF"\n$(x)\nEOF\nls', "cat <<\\EOF\n$x\nEOF", "cat <<-EOF\n\ta\n\tEOF\nls",
    "cat <<EOF | grep x\na\nEOF", "cat <<EOF\nit's \" fine\nEOF\nls",
    "echo é → '\u00a0'", "echo 'two\nlines'", "[ -f a ] && echo b", "test -f a", "echo -- a=b --c=d",
    "printf '%s\\n' a",
]  # fmt: skip
"""Lines that are lists of listed commands, and nothing more."""


@pytest.mark.parametrize("text", PASS)
def test_a_plain_list_of_listed_commands_passes(text: str) -> None:
    line = read(text)
    assert not against(line, ALLOWED), line


STOP = [
    # R0: not understood
    ("", "R0", ""), (" \n\t", "R0", " \n\t"), ("# c", "R0", "# c"), ("ls 'a", "R0", "'a"), ('ls "a', "R0", '"a'),
    ("ls \\", "R0", "\\"),
    ("ls &&", "R0", ""), ("; ls", "R0", ";"), ("ls ;; ls", "R0", ";;"), ("ls |", "R0", ""), ("ls | | ls", "R0", "|"),
    ("&& ls", "R0", "&&"),
    ("ls\n; ls", "R0", ";"), ("ls >", "R0", ">"), ("ls > ; ls", "R0", "> "), ("ls >\n", "R0", ">"),
    ("ls &\\\n& ls", "R0", "&\\\n&"),
    ("cat <<EOF\nx", "R0", "<<EOF"), ("cat <<EOF", "R0", "<<EOF"), ("cat <<EOF\nx\n EOF", "R0", "<<EOF"),
    ("cat <<$x\n$x", "R0", "<<$x"),
    ("cat <<EOF\na\\\nEOF\nEOF", "R0", "<<EOF"), ("cat <<''\n\nls", "R0", "<<''"),
    ("cat <<-EOF\n  EOF\n", "R0", "<<-EOF"),
    ("cat <<'E F'\nE F", "R0", "<<'E F'"), ("echo 2\\\n>/dev/null", "R0", "2\\\n>"), ("ls >#x", "R0", ">"),
    # R4: what expands
    ("echo $(x)", "R4", "$(x)"), ("echo `x`", "R4", "`x`"), ('echo "a`x`b"', "R4", "`x`"), ('echo "$(x)"', "R4", "$(x)"),
    ("echo $x", "R4", "$x"), ("echo a$xy-b", "R4", "$xy"), ('echo "$x"', "R4", "$x"),
    ("echo ${x:-y}", "R4", "${x:-y}"), ("echo $1", "R4", "$1"),
    ("echo $?", "R4", "$?"), ("echo $@", "R4", "$@"), ("echo $$", "R4", "$$"), ("echo $!", "R4", "$!"),
    ("echo $-", "R4", "$-"),
    ("echo $((1+1))", "R4", "$((1+1))"), ("echo $[1+1]", "R4", "$[1+1]"), ("echo $'a'", "R4", "$'a'"),
    ('echo $"a"', "R4", '$"a"'),
    ("cat <(x)", "R4", "<(x)"), ("echo >(x)", "R4", ">(x)"), ("cat <<EOF\n$x\nEOF", "R4", "$x"),
    ("cat <<EOF\na $(x)\nEOF", "R4", "$(x)"),
    ("cat <<EOF\n`x`\nEOF", "R4", "`x`"), ("cat <<EOF\n\\\\$x\nEOF", "R4", "$x"),
    ("cat <<EOF\n'$x'\nEOF", "R4", "$x"), ("cat <<<$x", "R4", "$x"),
    ("cat <<<\"$(x)\"", "R4", "$(x)"), ("cat <<-EOF\n\t$x\n\tEOF", "R4", "$x"), ("echo $é", "R4", "$é"),
    ('echo "\\\\$x"', "R4", "$x"),
    ("echo \\\\$x", "R4", "$x"), ("cat < $x", "R5", "< $x"), ("cat <<A <<'B'\n$x\nA\n$y\nB", "R4", "$x"),
    # R5: where it goes
    ("echo a >f", "R5", ">f"), ("echo a >>f", "R5", ">>f"), ("echo a >|f", "R5", ">|f"), ("echo a &>f", "R5", "&>f"),
    ("echo a &>>f", "R5", "&>>f"),
    ("echo a 2>f", "R5", "2>f"), ("echo a >&f", "R5", ">&f"), ("echo a <>f", "R5", "<>f"),
    ("echo a {fd}>/dev/null", "R5", "{fd}>/dev/null"),
    (">f", "R5", ">f"), ("echo a>f", "R5", ">f"), ("echo a >/dev/null/../f", "R5", ">/dev/null/../f"),
    ("echo a > '/dev/null '", "R5", "> '/dev/null '"),
    ("cat </dev/tcp/h/80", "R5", "</dev/tcp/h/80"), ("cat <'/dev/udp/h/80'", "R5", "<'/dev/udp/h/80'"),
    ("echo a >/dev/tcp/h/80", "R5", ">/dev/tcp/h/80"),
    ("echo a >&/dev/tcp/h/80", "R5", ">&/dev/tcp/h/80"), ("cat <&x", "R5", "<&x"), ("echo a 2>&1-", "R5", "2>&1-"),
    ("cat <*", "R5", "<*"),
    ("echo a 2>&/dev/null", "R5", "2>&/dev/null"), ("echo a >/dev/nul?", "R5", ">/dev/nul?"),
    ("echo a >/dev/stderr", "R5", ">/dev/stderr"),
    ("ls >/dev/null >f", "R5", ">f"), ("cat <<'EOF' >f\nx\nEOF", "R5", ">f"), ("echo a > >(x)", "R5", "> >(x)"),
    ("echo a >\\\nf", "R5", ">\\\nf"),
    # R6: more than a list
    ("ls &", "R6", "&"), ("ls & ls", "R6", "&"), ("ls&ls", "R6", "&"), ("(ls)", "R6", "(ls)"),
    ("{ ls; }", "R6", "{ ls; }"), ("! ls", "R6", "! ls"),
    ("if ls; then ls; fi", "R6", "if ls; then ls; fi"), ("for x in a; do ls; done", "R6", "for x in a; do ls; done"),
    ("while ls; do ls; done", "R6", "while ls; do ls; done"), ("until ls; do ls; done", "R6", "until ls; do ls; done"),
    ("case a in a) ls;; esac", "R6", "case a in a) ls;; esac"), ("f() { ls; }", "R6", "f() { ls; }"),
    ("function f { ls; }", "R6", "function f { ls; }"),
    ("[[ -f a ]]", "R6", "[[ -f a ]]"), ("((1))", "R6", "((1))"), ("coproc ls", "R6", "coproc"),
    ("echo {a,b}", "R6", "{a,b}"),
    ("echo a{1..3}", "R6", "a{1..3}"), ("echo {a,'b'}", "R6", "{a,'b'}"), ("echo x{,y}z", "R6", "x{,y}z"),
    ("ls; }", "R6", "}"),
    ("echo {a,b\\}}", "R6", "{a,b\\}}"), ("select x in a; do ls; done", "R6", "select x in a; do ls; done"),
    # R12: characters
    ("ls\0", "R12", "\0"), ("echo '\0'", "R12", "\0"), ("ls\r", "R12", "\r"), ("ls\u00a0-la", "R12", "\u00a0"),
    ("ls \u200b", "R12", "\u200b"),
    ("ls # \x1b[2K", "R12", "\x1b"), ("ls \\\r", "R12", "\\\r"), ("ls a\u202eb", "R12", "\u202e"),
    ("ls \ufe0f", "R12", "\ufe0f"),
    ("ls \ud800", "R12", "\ud800"), ("cat <<EOF\na\r\nEOF", "R12", "\r"), ("ls\u3000a", "R12", "\u3000"),
    ("ls \u3164", "R12", "\u3164"), ("ls\x0ba", "R12", "\x0b"),
]  # fmt: skip
"""Lines that do not pass: by which rule, and the part that is named."""


@pytest.mark.parametrize(("text", "rule", "part"), STOP)
def test_what_may_not_pass_is_named_with_its_rule(text: str, rule: str, part: str) -> None:
    line = read(text)

    named = [trouble for trouble in (line.error, *line.troubles) if trouble is not None]

    assert (rule, part) in [(trouble.rule, trouble.text) for trouble in named], line
    assert all(text[trouble.start : trouble.end] == trouble.text and trouble.why for trouble in named)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("X=1", "R7"), ("X=1 ls", "R7"), ("X+=1 ls", "R7"), ("ls; X=1 ls", "R7"), ("X=1 Y=2 ls", "R7"),
        ("X='a b' ls", "R7"), ("X= ls", "R7"),
        (">/dev/null X=1 ls", "R7"), ("ls | X=1 cat", "R7"),
        ("l\\s", "R14"), ("'ls'", "R14"), ('"ls"', "R14"), ("l''s", "R14"), ("git 'status'", "R1"),
        ("git st\\atus", "R1"),         ("test -v 'a[$(x)]'", "R8"), ("[ -v 'a[$(x)]' ]", "R8"),
        ("printf -v 'a[$(x)]' b", "R8"), ("[ -R a ]", "R8"), ("printf -? 'a[$(x)]' b", "R9"),
        ("test ?? a", "R9"), ("rm x", "R1"), ("LS", "R1"), ("/bin/ls", "R1"), ("git", "R1"), ("git -p status", "R1"),
        ("ls\\;", "R1"),
    ],
)  # fmt: skip
def test_a_command_that_may_not_pass_says_by_which_rule(text: str, rule: str) -> None:
    line = read(text)
    assert line.error is None
    assert against(line, ALLOWED)[-1:] == [rule] or rule in against(line, ALLOWED), line


@pytest.mark.parametrize(
    "text",
    [
        "a[1]=2 ls",
        "a[$(x)]=2 ls",
        "ls; a[1]",
        "a[ ls ]=2",
        "X\\\n=1 ls",
        "l\\\ns",
        "l[s]",
        ">/dev/null a[1]=2 ls",
        "time A=1 ls",
        "time ! ls",
    ],
)
def test_what_bash_reads_before_the_command_does_not_pass(text: str) -> None:
    line = read(text)
    assert line.error or line.troubles


def test_a_variable_that_is_named_may_be_set() -> None:
    assert not against(read("CI=true npm test", bash_allow_env=["CI"]), ALLOWED)
    assert not against(read("CI=true; npm test", bash_allow_env=["CI"]), ALLOWED)
    assert against(read("CI=true X=1 npm test", bash_allow_env=["CI"]), ALLOWED) == ["R7"]
    assert against(read("CIX=true npm test", bash_allow_env=["CI"]), ALLOWED) == ["R7"]
    assert against(read("CI=$(x) npm test", bash_allow_env=["CI"]), ALLOWED) == ["R4"]
    assert against(read("CI[0]=true npm test", bash_allow_env=["CI"]), ALLOWED)[0] == "R7"


@pytest.mark.row("R-048")
def test_lines_may_be_kept_to_one() -> None:
    heredoc, two, one = "cat <<'EOF'\nx\nEOF", "ls\nls", "ls\n"

    assert not against(read(heredoc), ALLOWED) and not against(read(two), ALLOWED)
    assert against(read(heredoc, bash_multiline="reject"), ALLOWED) == ["R48"]
    assert against(read(two, bash_multiline="reject"), ALLOWED) == ["R48"]
    assert not against(read(one, bash_multiline="reject"), ALLOWED)


def test_what_is_too_long_does_not_pass_and_is_read_for_rules_that_deny() -> None:
    long = read("echo " + "a" * 50 + "; rm x", bash_max_chars=40)
    many = read("ls; " * 4 + "rm x", bash_max_commands=4)

    assert long.error is not None and long.error.rule == "R13"
    assert many.error is not None and many.error.rule == "R13"
    assert [line.commands[-1].words[0].text for line in (long, many)] == ["rm", "rm"]
    assert read("ls; ls; ls; ls", bash_max_commands=4).error is None
    assert read("ls", bash_max_chars=0).error is not None
    deep = read("echo " + "$(" * 400 + ")" * 400)
    assert deep.error is not None and deep.error.rule == "R13"


def test_words_are_what_the_program_gets() -> None:
    (command,) = read("""git log --format='%h | %s' "a b"c d\\ e *.py ~/x 'q'* """).commands

    texts = ["git", "log", "--format=%h | %s", "a bc", "d e", "*.py", "~/x", "q*"]
    assert [word.text for word in command.words] == texts
    assert [word.plain for word in command.words] == [True, True, False, False, False, False, False, False]
    assert [word.inert for word in command.words] == [True, True, True, True, True, False, False, False]
    assert [word.glob for word in command.words] == [False, False, False, False, False, True, False, True]


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("time ls", "ls"), ("time -p ls", "ls"), ("nice ls", "ls"), ("nice -n 5 ls", "ls"), ("nice -n5 ls", "ls"),
        ("nohup ls", "ls"), ("command ls", "ls"),
        ("timeout 5 ls", "ls"), ("timeout -k 1s -s KILL 2.5m ls", "ls"), ("timeout --signal=TERM 5 ls", "ls"),
        ("time nice nohup timeout 5 command ls", "ls"),
        ("nice -n 5", "nice"), ("timeout 5", "timeout"), ("timeout x ls", "timeout"), ("timeout -x 5 ls", "timeout"),
        ("nice -n x ls", "nice"),
        ("'time' ls", "time"), ("nice '-n' 5 ls", "nice"), ("command -v ls", "command"), ("command -p ls", "command"),
        ("time sudo ls", "sudo"),
        ("sudo ls", "sudo"), ("env ls", "env"), ("xargs ls", "xargs"), ("exec ls", "exec"), ("doas ls", "doas"),
        ("eval ls", "eval"), ("time -f x ls", "time"),
        ("nice 'ls'", "nice"), ("/usr/bin/time ls", "/usr/bin/time"), ("builtin echo", "builtin"),
        ("setsid ls", "setsid"), ("nohup -- ls", "nohup"),
    ],
)  # fmt: skip
def test_only_plain_wrappers_are_looked_through(text: str, judged: str) -> None:
    command = read_line(text, settings=PermissionSettings()).commands[0]
    assert command.judged[0].text == judged
    asking = read(text).commands[0]
    assert asking.judged == asking.words, "only with bash_read_only = allow"


@pytest.mark.parametrize("text",
["sudo x", "doas x", "env x", "xargs x", "exec x", "eval x", "source x", ". x", "builtin x", "trap x EXIT",
"sh -c x",
                                  "bash -lc x", "watch x", "setsid x", "hash -p ./p ls", "alias ls=x",
                                  "shopt -s extglob", "enable -f x y", "set -k", "export A=b",
                                  "read x", "let x=1", "unset x", "declare x=1"])  # fmt: skip
def test_what_runs_what_it_is_given_passes_by_no_pattern(text: str) -> None:
    line = read(text)
    assert line.commands[0].risk is not None
    assert against(line, [text.split()[0]]) == ["R8"]


@pytest.mark.parametrize(
    "text",
    [
        "cat <<A <<B\n1\nA\n2\nB",
        "cat <<EOF\nEOF x\n EOF\nEOF",
        "cat 0<&3",
        "echo == x",
        "ls a\\\nb",
        "echo $ x",
    ],
)
def test_a_line_that_two_readers_read_differently_does_not_pass(text: str) -> None:
    """All of these are harmless, and our own reading of them is bash's; it is not enough."""
    error = read(text).error
    assert error is not None and error.rule == "R0" and "more than one way" in error.why


@pytest.mark.parametrize(
    "text", ["if ls; then ls", "(ls", "{ ls;", "for x in a; do ls", "case a in a) ls", "f() {", "ls )"]
)
def test_a_grammar_that_breaks_off_is_an_error_beside_the_trouble(text: str) -> None:
    error = read(text).error
    assert error is not None and error.rule == "R0"
