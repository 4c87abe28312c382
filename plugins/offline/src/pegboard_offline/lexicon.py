"""The router's English, as data: which words mean which act or topic. No tool and no parameter is named here.

A *concept* is a set of words that a developer uses for one thing. Acts say what is to be done; topics say about what.
`ACTS_OF` ties acts to declarations (effects, touch kinds, formats), which is all the router knows of a tool's nature.
"""

from __future__ import annotations

from functools import cache

from pegboard_offline.bags import bag

STOP = bag(
    """a an the this that these those i me my mine we us our you your he she it its they them their what which who whom
    whose when where why how is are was were be been being am do does did doing done have has had having will would
    shall should can could may might must not no nor and or but so if then else than too very just also only own
    same other another some any all both each every few more most much such of at by for with about against between
    into through during before after above below to from up down in out on off over under again further here there
    as onto within inside upon per via while until because please pls plz kindly thanks thank hey hi ok okay now
    well let lets let's i'd i'm i've i'll it's that's what's who's where's there's don't doesn't didn't isn't aren't
    wasn't can't won't s t d m re ve ll exactly actually really maybe perhaps quickly quick bit little something
    anything everything nothing someone anyone anywhere everywhere somewhere currently right mate want need like
    gonna wanna gotta got get give gimme lemme tell me know wonder help go going make's one ones two three sort kind
    thing things stuff way yet already ever still once far anybody nobody somebody everybody days"""
)
"""Words that carry no choice. Acts among them (`get`, `give`) are read only through `PHRASES`."""

ACTS: dict[str, str] = {
    "see": """show display print view read see look open cat dump inspect peek examine review reveal glance skim peruse
        explain summarize summarise describe content contents guts innards insides body text say says said saying
        written contain contains preview head tail more less type output recite scroll study eyeball""",
    "check": "check verify validate ensure confirm",
    "list": "list ls enumerate browse tree listing dir overview layout structure",
    "find": "find locate hunt spot discover identify whereabouts exist exists",
    "search": """search grep rg ripgrep mention mentions mentioned mentioning occurrence occurrences occur occurs usage
        usages use uses used using reference references referenced referencing caller callers call calls called
        import imports imported define defines defined definition defining declare declared declaration containing
        match matches matching appear appears appearing seek scan comb sift hits invoked instantiated raise raises
        raised""",
    "run": "run runs execute exec launch start fire kick trigger perform",
    "fetch": "fetch download retrieve grab curl wget pull request visit hit ping",
    "make": "create write overwrite make add generate save touch put produce compose jot draft store stick slap chuck stuff",
    "change": """change edit replace swap substitute fix correct update modify alter turn rename convert adjust patch amend
        rewrite bump set tweak""",
    "erase": """delete remove erase wipe rm unlink trash nuke destroy purge discard scrub zap shred kill""",
    "move": "move copy mv cp duplicate relocate transfer backup archive zip unzip compress extract",
    "append": "append",
    "count": "count number total tally wc",
}
"""Acts, and the words for them."""

DEEDS = """commit push merge rebase stash checkout reset revert undo stage cherry-pick publish deploy release
    install uninstall upgrade downgrade stop restart strip shutdown format reformat prettify clean clear tidy sync
    migrate compile empty fill finish resolve solve refactor implement build develop optimize optimise
    improve secure encrypt decrypt send email post buy order book pay"""
"""Acts that change something and are like no other: each is a concept of its own (`do:commit`), for examples to claim.
What is a noun as well ("the last commit") is one only as the first word."""

TOPICS: dict[str, str] = {
    "git": "git repo repository head vcs",
    "state": "status clean dirty uncommitted uncommited unstaged staged untracked modified pending worktree unsaved",
    "diff": "diff different difference differences differ changes changed compare compared comparison delta versus vs edits",
    "history": "log history recent recently latest past timeline previous lately",
    "commit": "commit commits committed committing revision revisions changeset changesets sha hash tag tags releases",
    "branch": "branch branches",
    "blame": "blame annotate annotated author authored wrote",
    "test": "test tests testing tested pytest unittest suite suites spec specs passing pass passes jest tox",
    "lint": "lint linter linters linting flake8 ruff eslint pylint lints",
    "format": "formatter formatting formatted prettier black tidy indent indentation",
    "web": "web internet online google duckduckgo website site webpage",
    "oldest": "oldest initial earliest",
    "disk": "disk disks storage drive",
    "space": "space room free full",
    "memory": "memory ram",
    "version": "version versions",
    "size": "size big large bigger larger biggest largest heavy huge",
    "time": "time clock date today",
    "cpu": "cpu cpus core cores processor processors",
    "process": "process processes",
    "system": "os kernel system operating uptime machine computer hostname username",
    "packages": "package packages dependency dependencies module modules",
}

SWEEPING = bag(
    """everything all else rest others other anything whatever stuff them they those these same entire whole more too
    again things any each every both some few several many"""
)
"""Words that reach beyond what is named. No change is made on them."""

POINTING = bag("this that it one")
"""Words that, at the end of an order, stand for something that was not named."""

PARTS = bag(
    """line lines word words comment comments function functions method methods class classes variable variables string
    strings section paragraph sentence header docstring docstrings statement statements import imports part half row
    rows column columns character characters letter letters block blocks bug bugs key keys value values field fields
    entry entries"""
)
"""Parts of a file. Who names one does not mean the file; only a tool whose examples speak of it is meant."""

NEUTRAL = PARTS | bag(
    """file files folder folders directory directories subfolder path paths project codebase code source sources
    workspace tree green red failing failed lying around log-file logs logfile work works working happened happen
    unit left remaining line lines word words name names named called title string strings symbol function functions
    method methods class classes variable variables constant identifier script scripts document documents page pages
    place places spot example current whole entire complete full raw exact exactly existing new blank empty typo
    typos spelling mistake misspelling misspelled error extension extensions pattern regex expression literal phrase
    term terms keyword token comment comments root cwd top-level command cmd shell terminal program url link address
    endpoint response reply result results answer details detail info information ending ends end ended starting
    starts start started begins beginning first last next local stored located live lives living sits found made
    good fine nice python value values item items occurrence instance instances time times sec second seconds
    minute moment section sentence paragraph bunch couple available existing kind together combined
    alongside types type quick quickly fast asap immediately straight away
    simply body header instead note notes actual following given particular specific certain"""
)
"""Words that neither choose nor count as unknown."""

PHRASES: tuple[tuple[str, str], ...] = (
    (r"(?:have|has|had)(?:n't| not) (?:\w+ ){0,2}(?:committed|commited|saved)", "state"),
    (r"which files (?:did|have|had) (?:i|we) (?:changed?|modif\w+|touch(?:ed)?|edit(?:ed)?)", "state"),
    (
        r"(?:uncommitted|uncommited|unstaged|staged|pending|unsaved|modified|untracked|local) "
        r"(?:changes|files|edits|work|stuff|modifications)",
        "state",
    ),
    (r"(?:very )?first commit", "oldest commit"),
    (
        r"(?:which|what) (?:files?|modules?|scripts?|places?|code)(?: that| all)? "
        r"(?:contain|mention|use|import|reference|have|call|include|define)s?",
        "search",
    ),
    (r"new file|new (?=\w+ file)", "make"),
    (
        r"(?:anything|something|stuff|what|much|forget|forgotten|forgot|left)(?: left)? to (?:be )?commit(?:ted)?",
        "state",
    ),
    (
        r"(?:do|does) (?:we|i|it|this (?:repo|project)|the (?:repo|project)) have(?: any)?|have (?:we|i) got(?: any)?",
        "find",
    ),
    (r"^\W*(?:the )?lines?(?= +(?:\S+ )?(?:of|in|from)\b)|what(?:'s| is) (?:on|at|in)(?= lines? )", "see"),
    (r"(?<!what )(?:does|do|did)(?= ).{0,80}? (?:contain|mention|include|use|have)", "search"),
    (r"round(?:ing)? up|fish(?:ing)? out", "find"),
    (r"look(?:ing|s)? for|keep an eye out for|hunt(?:ing)? (?:down|for)|turn up", "search"),
    (
        r"(?:look|peek|dig|glance)(?:ing)? (?:at|in|into|inside|through|over)|have a (?:look|peek)|take a (?:look|peek)",
        "see",
    ),
    (r"bring up|pull up|go (?:over|through)|walk me through|spit out|give me|gimme|hand me|lemme see|get me", "see"),
    (r"poke around|rummage (?:around|in|through)|nose around|look around", "list"),
    (
        r"what(?:'s| is)? (?:going on|happening|hiding|lurking|stored|kept|written|sits?|lives?|lurks?|hides?)"
        r"(?: inside| in| within)?",
        "see",
    ),
    (r"(?:sniff|root|dig|ferret|weed|seek|figure|work)(?:ing)? (?:out|up)|dredge up|scare up|got any", "find"),
    (r"at the (?:very )?(?:end|bottom|top|start|beginning) of", "append make"),
    (r"what(?:'s| is| are| all is|'re)?(?: there)?(?: sitting| lying| living)?(?: inside| in| within)", "see"),
    (
        r"(?:what|which)(?: are the| are all the| kind of| sort of)? "
        r"(?:files|folders|directories|scripts|modules|documents)",
        "list",
    ),
    (
        r"(?:the )?(?:first|last|top|next|beginning|start|rest|middle)(?: few| couple of| part| half)?(?: +lines?)? of",
        "see",
    ),
    (r"any(?=(?: \S+| +) (?:left|in|inside|within|under|below|beneath|anywhere|there|around|files|somewhere))", "find"),
    (r"(?:what|which)(?= {2,14}(?:files|scripts|modules|sources|documents|notebooks)\b)", "list"),
    (r"clean(?:ing)? up|tidy(?:ing)? up|clear(?:ing)? (?:out|up)", "do:clean"),
    (r"get rid of|take out|throw (?:away|out)|blow away", "erase"),
    (r"how many|number of", "count"),
    (
        r"track(?:ing)? down|point me (?:to|at)|where(?:'s| is| are| do| does| did)?|is there|are there|any sign of",
        "find",
    ),
    (r"who (?:calls|uses|imports|invokes|references|touches)|what (?:calls|uses|imports|invokes|references)", "search"),
    (
        r"(?:files?|places?|lines?|everything|anything|code) (?:that |which )?"
        r"(?:contain|mention|use|import|reference)s?(?:ing)?",
        "search",
    ),
    (r"kick off|fire up|spin up|set off|fire off", "run"),
    (r"working (?:tree|copy|directory|dir)", "state git"),
    (
        r"(?:what|what has|what's|what have i|which files|anything|has anything|have i|did i|did anything|what all)"
        r"(?: has| have| got| been| was| were)* (?:changed|modified|touched)",
        "state",
    ),
    (r"did (?:i|we) change|(?:i|we)(?:'ve| have)? changed|have (?:i|we) changed", "diff"),
    (
        r"(?:last|latest|recent|previous|past|newest)(?: \d+| few| couple of| two| three| five| ten)? commits?",
        "history commit",
    ),
    (r"commit (?:history|log|messages?)|when was", "history commit"),
    (r"(?:my|our|local|latest|recent|pending) edits|differences? between", "diff"),
    (r"not(?: yet)? committed|yet to be committed|still to commit", "state"),
    (r"(?:switch|swap)(?:ing)? out", "change"),
    (r"who (?:last )?(?:wrote|changed|edited|touched)|last touched", "blame"),
    (r"search the (?:web|internet|net)|look up|on the (?:web|net)", "web search"),
    (r"add(?:ed|ing)? (?=.{1,200} to (?:the (?:end|bottom) of )?\S)|tack on", "append make"),
    (r"^\W*(?:all|every)(?: of)?(?: the| our| my)?(?= )", "find"),
    (r"get(?= {9,})", "fetch"),
    (r"(?:what|how) (?:does|do|did)", "see"),
)
"""Expressions of several words, tried on lower-case text before single words are."""

ACTS_OF: dict[str, dict[str, float]] = {
    "read": {"check": 0.8, "see": 1.0, "fetch": 0.6, "list": 0.2, "find": 0.2},
    "list": {"check": 0.5, "list": 1.0, "see": 0.9, "find": 0.6, "count": 0.3},
    "find": {"find": 1.0, "list": 0.9, "see": 0.7, "search": 0.7, "count": 0.7, "fetch": 0.4},
    "search": {"check": 0.6, "search": 1.0, "find": 0.9, "see": 0.3, "list": 0.5, "count": 0.6},
    "run": {"run": 1.0},
    "fetch": {"check": 0.8, "fetch": 1.0, "see": 0.9, "list": 0.2, "find": 0.2},
    "write": {"make": 1.0, "append": 0.9},
    "replace": {"change": 1.0, "erase": 0.8, "do:strip": 0.8, "make": 0.1},
}
"""How well an act fits a tool whose declarations make it of this nature (`profile.nature`)."""

COMMON = frozenset({"see", "list", "find", "run"})
"""Acts of many tools: an example that has them is not about them."""

WORLD_ACTS = frozenset({"run", "make", "change", "erase", "move", "append"})
"""Acts that change something (deeds do too): no read-only tool may answer them."""


def is_act(concept: str) -> bool:
    """Whether a concept says what to do."""
    return concept in ACTS or concept.startswith("do:")


def is_world_act(concept: str) -> bool:
    """Whether a concept says to change something."""
    return concept in WORLD_ACTS or concept.startswith("do:")


def _words() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for table in (ACTS, TOPICS):
        for concept, words in table.items():
            for word in words.split():
                found.setdefault(word, []).append(concept)
    for word in DEEDS.split():
        found.setdefault(word, []).append(f"do:{word}")
    return {word: tuple(concepts) for word, concepts in found.items()}


@cache
def vocabulary() -> dict[str, tuple[str, ...]]:
    """Each word with the concepts it stands for."""
    return _words()


def known(word: str) -> bool:
    """Whether a lower-case word carries no meaning beyond this page."""
    return word in STOP or word in NEUTRAL or word in vocabulary()


def forms(word: str) -> list[str]:
    """A lower-case word and what it may be an inflection of, likeliest first."""
    found = [word]
    for suffix, put in (
        ("ies", "y"),
        ("es", ""),
        ("s", ""),
        ("ing", ""),
        ("ing", "e"),
        ("ed", ""),
        ("ed", "e"),
        ("'s", ""),
    ):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word.removesuffix(suffix) + put
            found.append(base)
            if len(base) > 3 and base[-1] == base[-2] and put == "":
                found.append(base[:-1])
    return found


def lemma(word: str) -> str:
    """The known form of a lower-case word, or its shortest form."""
    options = forms(word)
    for option in options:
        if known(option):
            return option
    return min(options, key=len)
