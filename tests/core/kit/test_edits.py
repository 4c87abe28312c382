"""The edit engine: exact, all or nothing, every other byte kept, near misses explained, spans that undo."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pegboard.errors import ToolError
from pegboard.kit.edits import Edit, EditError, Plan, diff_of, plan
from pegboard.kit.hunks import revert
from pegboard.kit.linediff import line_hunks

CASES = Path(__file__).parents[2] / "shared" / "cases" / "edits.jsonl"


def one(data: bytes, old: str, new: str, count: int = 1) -> Plan:
    return plan(data, [Edit(old, new, count)], path="src/users.ts")


def error(data: bytes, old: str, new: str = "something new", count: int = 1) -> str:
    with pytest.raises(ToolError) as caught:
        one(data, old, new, count)
    return str(caught.value)


# --- the shared cases -------------------------------------------------------------------------------------------------

ARGUMENTS = {"oldString": "old", "newString": "new", "replaceAll": "all"}


def generated(gen: dict[str, Any]) -> bytes:
    part = {name: base64.b64decode(gen.get(f"{name}_b64", "")) for name in ("prefix", "repeat", "suffix")}
    return part["prefix"] + part["repeat"] * gen["times"] + part["suffix"]


def content(spec: dict[str, Any]) -> bytes:
    return generated(spec["gen"]) if "gen" in spec else base64.b64decode(spec["b64"])


def edit_of(args: dict[str, Any]) -> Edit:
    return Edit(args["oldString"], args["newString"], 0 if args.get("replaceAll") else 1)


def engine_cases() -> list[Any]:
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    kinds = {"eol", "encoding", "unicode", "match", "literal", "whitespace", "bytes", "size", "multi"}
    chosen = [c for c in cases if c["kind"] in kinds and c["call"]["tool"] in ("edit", "multi_edit")]
    return [pytest.param(case, id=case["id"]) for case in chosen]


@pytest.mark.parametrize("case", engine_cases())
def test_shared_case(case: dict[str, Any]) -> None:
    args = case["call"]["args"]
    path = "w/app/" + args["path"]
    data = next(content(spec) for spec in case["setup"]["files"] if spec["path"] == path)
    edits = [edit_of(item) for item in args["edits"]] if "edits" in args else [edit_of(args)]
    after: bytes | None = None
    message = ""
    try:
        made = plan(data, edits, path=args["path"], numbered="edits" in args)
        after, message = made.after, made.diff().text
        assert revert(made.after, made.spans) == data
    except ToolError as failed:
        message = str(failed)
    outcomes = [case["expect"], *case["expect"].get("accept_also", [])]
    assert any(fits(expect, path, after, message) for expect in outcomes), (after, message)


def fits(expect: dict[str, Any], path: str, after: bytes | None, message: str) -> bool:
    if (expect["outcome"] == "ok") != (after is not None):
        return False
    for fact in expect["must"]:
        if fact.get("file") == path and after != base64.b64decode(fact["b64"]):
            return False
        if fact.get("file_gen") == path and after != generated(fact["gen"]):
            return False
        if "out_has" in fact and fact["out_has"] not in message:
            return False
        if "out_has_any" in fact and not any(word in message for word in fact["out_has_any"]):
            return False
        if len(message) > fact.get("max_output_chars", len(message)):
            return False
    return True


# --- matching ---------------------------------------------------------------------------------------------------------


class TestMatching:
    @pytest.mark.row("S-034", "C-021")
    def test_three_places_are_an_error_that_says_how_many_and_all_three_change_on_request(self) -> None:
        data = b"let id;\nuse(id);\nreturn id;\n"
        text = error(data, "id")
        assert text.startswith(
            "old_string appears 3 times in src/users.ts. Add surrounding context or set replace_all."
        )
        assert "lines 1, 2, 3" in text
        assert one(data, "id", "key", 0).after == b"let key;\nuse(key);\nreturn key;\n"

    @pytest.mark.row("C-021")
    def test_none_and_two_are_errors(self) -> None:
        assert error(b"a\n", "zzz").startswith("old_string not found in src/users.ts. Nothing was changed.")
        assert "appears 2 times" in error(b"x=1\nx=1\n", "x=1")

    @pytest.mark.row("S-033")
    @pytest.mark.parametrize(
        ("data", "old"),
        [
            (b"a\tb\n", "a    b"),
            (b"  x\n", "   x"),
            (b"x \n", "x\n"),
            (b"a\n\nb\n", "a\nb"),
            (b"X\n", "x"),
            (b"a\r\nb\n", "a\nb"),
            ("caf\u00e9\n".encode(), "cafe\u0301"),
            ("\u2018x\u2019\n".encode(), "'x'"),
            ("a\u00a0b\n".encode(), "a b"),
        ],
    )
    def test_what_is_only_alike_does_not_match(self, data: bytes, old: str) -> None:
        assert "not found" in error(data, old)

    def test_overlapping_places_are_not_unique(self) -> None:
        assert "appears 2 times" in error(b"aaa\n", "aa")
        assert "appears 2 times" in error(b"x}}};\n", "}}")
        assert one(b"aaaa\n", "aa", "b", 0).after == b"bb\n"

    def test_count_takes_the_first_ones_and_must_be_met(self) -> None:
        assert one(b"x x x x\n", "x", "y", 2).after == b"y y x x\n"
        assert one(b"x x\n", "x", "y", 2).after == b"y y\n"
        assert "appears 2 times" in error(b"x x\n", "x", "y", 3)
        assert "must be 0" in error(b"x\n", "x", "y", -1)

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [("", "x", "empty"), ("same", "same", "the same"), ("same", "x\0y", "NUL"), ("same", "\ud800", "cannot hold")],
    )
    def test_senseless_edits_are_errors(self, old: str, new: str, says: str) -> None:
        text = error(b"same\n", old, new)
        assert says in text and "Nothing was changed" in text

    def test_letters_that_mean_something_to_patterns_do_not_here(self) -> None:
        assert one(b"a.b axb\n", "a.b", r"\1 $& \g<0> $`").after == rb"\1 $& \g<0> $` axb" + b"\n"


class TestWhatIsKept:
    def test_a_byte_order_mark_is_no_part_of_the_text(self) -> None:
        assert one(b"\xef\xbb\xbfa\n", "a", "b").after == b"\xef\xbb\xbfb\n"
        assert one(b"\xef\xbb\xbfa\n", "a\n", "").after == b"\xef\xbb\xbf"
        assert "not found" in error(b"\xef\xbb\xbfa\n", "\ufeffa")
        assert one(b"x\xef\xbb\xbfa\n", "\ufeff", "-", 0).after == b"x-a\n"

    def test_all_crlf_keeps_crlf_and_lf_stands_for_it(self) -> None:
        assert one(b"a\r\nb\r\n", "a\nb", "1\n2\n3").after == b"1\r\n2\r\n3\r\n"
        assert one(b"a\r\nb\r\n", "a\r\nb", "1\r\n2").after == b"1\r\n2\r\n"
        assert one(b"a\r\nb", "b", "c\n").after == b"a\r\nc\r\n"

    def test_mixed_and_bare_cr_are_taken_as_they_are(self) -> None:
        assert one(b"a\r\nb\nc\n", "b\nc", "B\nC").after == b"a\r\nB\nC\n"
        assert one(b"a\r\nb\n", "a\r\n", "A\r\n").after == b"A\r\nb\n"
        assert one(b"1\r2\rx\n", "2\rx", "3\rx").after == b"1\r3\rx\n"
        assert "line ending" in error(b"a\r\nb\nc\n", "a\nb")

    def test_crlf_sent_for_an_lf_file_stands_for_lf(self) -> None:
        assert one(b"x = 1\ny = 2\n", "x = 1\r\ny = 2", "x = 3\r\ny = 4").after == b"x = 3\ny = 4\n"

    def test_a_file_that_is_not_utf8_keeps_its_bytes_and_is_edited_as_it_is_shown(self) -> None:
        data = b"total += 4;\n/* d\xe9j\xe0 vu */\n"
        assert one(data, "+= 4", "+= 5").after == data.replace(b"4", b"5")
        assert one(data, "d\u00e9j\u00e0", "\u00e9t\u00e9").after == b"total += 4;\n/* \xe9t\xe9 vu */\n"
        assert "cannot hold" in error(data, "vu", "\u20ac")

    @pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
    def test_utf16_is_edited_and_stays_utf16(self, codec: str) -> None:
        mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[codec]
        text = "red \U0001f600\r\nblue\r\n"
        made = one(mark + text.encode(codec), "\U0001f600\nblue", "x\ngreen")
        assert made.after == mark + "red x\r\ngreen\r\n".encode(codec)
        assert revert(made.after, made.spans) == made.before
        assert "+red x" in made.diff().text
        with pytest.raises(EditError, match="UTF-16"):
            one(mark + b"\x00\xd8\x00\xd8a", "a", "b")

    def test_binary_is_refused_by_its_first_8_kib(self) -> None:
        assert "binary" in error(b"a\0b\n", "a")
        assert one(b"a\n" + b"x" * 8192 + b"\0", "a", "b").after.startswith(b"b\n")


class TestSeveralEdits:
    def apply(self, data: bytes, *pairs: tuple[str, str]) -> Plan:
        return plan(data, [Edit(*pair) for pair in pairs], path="a.txt", numbered=True)

    def test_each_works_on_what_the_one_before_made(self) -> None:
        made = self.apply(b"x\n", ("x", "y"), ("y", "z"))
        assert made.after == b"z\n" and revert(made.after, made.spans) == b"x\n"
        assert self.apply(b"a\r\nb\r\n", ("a\nb", "a\nx\nb"), ("x\nb", "y\nb")).after == b"a\r\ny\r\nb\r\n"

    @pytest.mark.parametrize(
        ("pairs", "says"),
        [
            ([("a", "A"), ("nope", "C")], "edit 2: old_string not found in a.txt. No edits were applied."),
            ([("a", "b"), ("b", "z")], "edit 2: old_string appears 2 times in a.txt."),
            ([("a", "A"), ("", "x")], "edit 2: old_string is empty. No edits were applied."),
            ([], "empty"),
            ([("a", "b\nb"), ("b\nb", "a")], "leave a.txt as it is"),
        ],
    )
    def test_one_that_fails_fails_all(self, pairs: list[tuple[str, str]], says: str) -> None:
        with pytest.raises(EditError) as caught:
            self.apply(b"a\nb\n" if len(pairs) != 2 or pairs[0][1] != "b\nb" else b"a\n", *pairs)
        assert says in str(caught.value)


TEXTS = st.text(st.sampled_from("ab\n\r é"), max_size=24)
WORDS = st.text(st.sampled_from("ab\n é"), min_size=1, max_size=3)


class TestProperties:
    @given(TEXTS, WORDS, WORDS)
    @settings(max_examples=300)
    def test_one_edit_is_what_replacing_text_gives(self, text: str, old: str, new: str) -> None:
        assume("\r" not in text and old != new)
        data = text.encode()
        places = sum(text.startswith(old, at) for at in range(len(text)))
        try:
            made = one(data, old, new)
        except EditError:
            assert places != 1
            return
        assert places == 1
        assert made.after.decode() == text.replace(old, new)

    @given(TEXTS, st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
    @settings(max_examples=300)
    @example("ab", [("a", "b"), ("b", "a")])
    def test_spans_undo_any_chain_and_diffs_count_lines(self, text: str, pairs: list[tuple[str, str]]) -> None:
        data = text.encode()
        try:
            made = plan(data, [Edit(old, new, 0) for old, new in pairs], path="f")
        except EditError:
            return
        assert revert(made.after, made.spans) == data
        diff = made.diff()
        assert patched(data, diff.text) == made.after
        assert diff.added - diff.removed == len(lines(made.after)) - len(lines(data))

    @given(TEXTS, TEXTS)
    @settings(max_examples=300)
    def test_the_diff_of_two_contents_turns_one_into_the_other(self, old: str, new: str) -> None:
        assert patched(old.encode(), diff_of(old.encode(), new.encode(), "f").text) == new.encode()

    @given(st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=30), st.data())
    @settings(max_examples=150)
    def test_line_hunks_hold_every_difference_and_whole_lines(self, before: list[str], data: st.DataObject) -> None:
        after = data.draw(st.lists(st.sampled_from(before or ["x\n"]), max_size=30))
        old, new = "".join(before).encode(), "".join(after).encode()
        built, at = b"", 0
        for hunk in line_hunks(old, new):
            built += old[at : hunk.old_start] + new[hunk.new_start : hunk.new_end]
            at = hunk.old_end
        assert built + old[at:] == new


def lines(data: bytes) -> list[bytes]:
    found = [line + b"\n" for line in data.split(b"\n")]
    last = found.pop()[:-1]
    return [*found, last] if last else found


def patched(old: bytes, diff: str) -> bytes:
    """`old` after a unified diff was applied to it, strictly."""
    before, out, at = lines(old), list[bytes](), 0
    rows = diff.split("\n")[:-1]
    number = 0
    while number < len(rows):
        head = rows[number].split()
        start, count = (int(n) for n in head[1][1:].split(","))
        start -= count > 0
        out += before[at:start]
        at, number = start, number + 1
        while number < len(rows) and not rows[number].startswith("@@"):
            mark, line = rows[number][0], rows[number][1:].encode() + b"\n"
            number += 1
            if number < len(rows) and rows[number].startswith("\\"):
                line, number = line[:-1], number + 1
            if mark in " -":
                assert before[at] == line
                at += 1
            if mark in " +":
                out.append(line)
    return b"".join(out + before[at:])


# --- what a person and a model read -----------------------------------------------------------------------------------


class TestNearMisses:
    @pytest.mark.parametrize(
        ("data", "old", "says"),
        [
            (b"all:\n\techo a\n\techo b\n", "    echo b", ["line 3", "white space", r'"\techo b"', '"    echo b"']),
            (b"x\nif (a  ==  b) {\n", "if (a == b) {", ["line 2", "white space"]),
            (b"  Value = 1;\n", "value = 1;", ["line 1", "letter case"]),
            (b"a\nfoo()\r\nbar()\nb\n", "foo()\nbar()", ["lines 2-3", "line ending"]),
            ("say \u201chi\u201d\n".encode(), 'say "hi"', ["line 1", "look alike"]),
            (b"begin\n  fetch(7)\n  store(8)\nend\n", "begin\n  fetch(7)\n  store(80)\nend", ["lines 1-4", "store(8)"]),
            (b"value = 1\n", "value = 2", ["line 1", '"value = 1"']),
            (b"x\ndef calculate_total(items):\n", "def calculate_totals(items):", ["line 2"]),
        ],
    )
    def test_the_nearest_lines_are_shown_with_what_differs(self, data: bytes, old: str, says: list[str]) -> None:
        text = error(data, old)
        for word in says:
            assert word in text

    @pytest.mark.parametrize("old", ["bta", "beta1", "betta", "beat", "neta", "bets", "  BETTA", "be\u0301ta"])
    def test_a_slip_in_the_only_word_still_finds_it(self, old: str) -> None:
        text = error(b"alpha\n" * 5000 + b"  beta\n" + b"gamma\n" * 5000, old)
        assert "line 5001" in text and '"  beta"' in text

    @pytest.mark.parametrize("old", ["x = vlaue + 1", "return vlaue", "the vlaue of the word"])
    def test_a_rare_word_with_a_slip_counts_before_the_common_ones(self, old: str) -> None:
        common = b"return the word of x + 1\n"
        text = error(common * 3000 + old.replace("vlaue", "value").encode() + b"\n" + common * 3000, old)
        assert "line 3001" in text

    def test_nothing_near_is_said_plainly(self) -> None:
        assert "Nothing in the file comes near it" in error(b"alpha\nbeta\n", "completely different words")

    @pytest.mark.timeout(20)
    @pytest.mark.parametrize(
        ("data", "old"),
        [
            (b"a " * 5_000_000, "a " * 1000 + "b"),
            (b"a b\n" * 2_500_000, "a\nb\nc\nd"),
            (b"\n" * 10_000_000, "x\n\n\ny"),
            (b"word " * 2_000_000, "word wort"),
            (b"the quick brown fox\n" * 500_000, "the quick brown fix\njumps"),
            (b"beard bread brand\n" * 600_000, "bexxd"),
            (b"ab" * 5_000_000, "abxb abc bab"),
            (b"word1 word2 word3\n" * 600_000, " ".join(f"wrod{n}" for n in range(200))),
        ],
    )
    def test_the_help_is_bounded_on_large_files(self, data: bytes, old: str) -> None:
        text = error(data, old)
        assert len(text) < 3000


class TestDiffs:
    def test_context_and_numbers(self) -> None:
        data = b"".join(b"%d\n" % n for n in range(1, 21))
        diff = one(data, "10\n", "ten\n10.5\n").diff()
        assert (diff.added, diff.removed) == (2, 1)
        assert diff.text == "@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+ten\n+10.5\n 11\n 12\n 13\n"

    def test_lines_that_did_not_change_are_context(self) -> None:
        diff = one(b"a\nb\nc\nd\n", "a\nb\nc\nd", "a\nB\nc\nd").diff()
        assert (diff.added, diff.removed) == (1, 1)
        assert diff.text == "@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n"

    def test_new_and_deleted_files(self) -> None:
        made = diff_of(None, b"a\nb", "f")
        assert (made.change, made.added, made.text) == (
            "created",
            2,
            "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
        )
        gone = diff_of(b"a\n", None, "f")
        assert (gone.change, gone.removed, gone.text) == ("deleted", 1, "@@ -1,1 +0,0 @@\n-a\n")
        assert "Binary" in diff_of(b"\0", b"\1\0", "f").text

    @pytest.mark.timeout(20)
    def test_one_very_long_line_is_cut_around_the_change(self) -> None:
        data = b"var a='" + b"x" * 3_000_000 + b"';MARK;" + b"y" * 3_000_000 + b"\n"
        diff = one(data, "MARK", "DONE").diff()
        assert len(diff.text) < 2000
        assert "MARK" in diff.text and "DONE" in diff.text and "bytes]" in diff.text

    @pytest.mark.timeout(20)
    @pytest.mark.parametrize(
        ("data", "old", "new", "changed"),
        [
            (b"a\n" * 200_000, "a\n", "b\n", 400_000),
            (b"a,\n" * 40_000, "a", "b", 80_000),
            (b"ab" * 200_000, "a", "c", 2),
            (b"ab" * 40_000, "a", "c", 2),
        ],
    )
    def test_very_many_places_are_fast_and_their_diff_is_bounded(
        self, data: bytes, old: str, new: str, changed: int
    ) -> None:
        made = one(data, old, new, 0)
        diff = made.diff()
        assert made.after == data.replace(old.encode(), new.encode())
        assert revert(made.after, made.spans) == data
        assert len(made.spans) <= 1024
        assert diff.added + diff.removed == changed
        assert len(diff.text) < 20_000
        if changed > 400:
            assert "more changed lines are not shown" in diff.text.splitlines()[-1]

    def test_a_rewritten_file_shows_what_differs_however_long_it_is(self) -> None:
        old = [b"line %d\n" % n for n in range(20_000)]
        new = [*old[:10], b"added\n", *old[10:15_000], b"changed\n", *old[15_001:]]
        diff = diff_of(b"".join(old), b"".join(new), "f")
        assert (diff.added, diff.removed) == (2, 1)

    def test_results_have_a_largest_size(self) -> None:
        with pytest.raises(EditError, match="larger than the limit"):
            plan(b"a" * 1000, [Edit("a", "b" * 10_000_000, 0)], path="f", max_bytes=10_000)
