def test_x(cli):
    cli.script({"text":"let me see","calls":[["peek",{"path":"a.py","limit":3}],["plainly",{"text":"x"}],["draw",{"where":"there","what":"a cat"}],["seek",{"pattern":"zz"}],["stumble",{}],["nope",{}],["poke",{"path":"a","text":"b"}]]},{"text":"all \x1b[31mdone\x1b[0m"})
    d=cli("run","go")
    print(d.code); print(d.out); print(d.err)
    d=cli("run","go", "--json","--yes")
    print(d.code); print(d.out); print(d.err)
    for a in (["tool","say","text=hi"],["tool","peek","path=a","--json"],["tool","execute","command=echo hi; ls", "--yes"],["tool","dawdle"],["tool","gated","text=a"],["tool","zork"],["tools","--cost"],["tools","--json"],["hello","you"],["--help"],["sessions","list"]):
        d=cli(*a); print(a,d.code); print(d.out); print('ERR', d.err)
    assert 0
