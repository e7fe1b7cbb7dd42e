"""Cards: what is read back from the page is what will be written."""

from dataclasses import replace
from datetime import date, timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.caps import Cap
from short_memory.changes import ChangeSet, FileChange
from short_memory.proposals import Edit, Proposal
from short_memory.scopes import OWNER, Conversation, Scope
from short_memory_host.web import cards, templates
from tests.clock import NOON

SCOPE = Scope("memory", "user", "Your notes", "Memory/index.md", Cap(40, 2048), Cap(64, 4096), may_propose=True)
FOOD = "Memory/food.md"

# What a note may hold, and what is markup or a line end somewhere; a carriage return has a test of its own.
TEXT = st.text(
    st.one_of(
        st.sampled_from("\n\n\n- <>&\"'\t`#ab\x0c\x85\u2028é\U0001f600\u200d"),
        st.characters(exclude_categories=["Cs", "Cc"]),
    ),
    max_size=60,
)
SIDE = st.one_of(st.none(), TEXT.map(str.encode))


class Reader(HTMLParser):
    """Reads a card as a browser does: for each file its lines with their kind, and the words outside of files."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.files, self.outside, self.reason, self.open = {}, [], [], []
        self.lines, self.row, self.in_code = None, None, False
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.open.append(tag)
        if tag == "section":
            self.lines = self.files.setdefault(found["data-path"], [])
        if "data-kind" in found:
            self.row = [found["data-kind"], "", found["data-ended"] == "true"]
            self.lines.append(self.row)
        self.in_code = found.get("class") == "diff-text"

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass
        self.in_code = False
        if tag == "section":
            self.lines = None

    def handle_data(self, data):
        if self.in_code:
            self.row[1] += data
        elif "blockquote" in self.open:
            self.reason.append(data)
        elif self.lines is None:
            self.outside.append(data)

    def side(self, path, kind):
        lines = [row for row in self.files[path] if row[0] in ("context", kind)]
        return "".join(text + ("\n" if ended else "") for _, text, ended in lines)


def proposal(*files, why="You said so.", state="open", **more):
    edits = (Edit("food.md", text="- x\n"),)
    made = Proposal(
        id="p1",
        conversation=Conversation("c_1", "p_1"),
        scope=SCOPE,
        edits=edits,
        why=why,
        made=NOON,
        end=NOON + timedelta(hours=24),
        day=date(2026, 11, 30),
        files=files,
        state=state,
    )
    return replace(made, **more)


def drawn(one, *, later=timedelta(0), **more):
    return cards.card(one, now=NOON + later, time_zone="Europe/Rome", **more)


def text(raw):
    return "" if raw is None else raw.decode()


@pytest.mark.case("card-round-trip")
@pytest.mark.case("card-every-byte")
@given(before=SIDE, after=SIDE)
def test_reading_the_card_back_gives_the_bytes_before_and_after(before, after):
    read = Reader(drawn(proposal(FileChange(FOOD, before, after))))
    assert (read.side(FOOD, "removed"), read.side(FOOD, "added")) == (text(before), text(after))


@given(before=SIDE, after=TEXT, at=st.integers(0, 60), other=st.characters(exclude_categories=["Cs", "Cc"]))
def test_another_code_point_in_the_text_makes_another_card(before, after, at, other):
    at = min(at, len(after))
    changed = after[:at] + other + after[at + 1 :]
    one, two = (drawn(proposal(FileChange(FOOD, before, each.encode()))) for each in (after, changed))
    assert (Reader(one).files == Reader(two).files) == (after == changed)


def test_every_file_of_a_proposal_is_on_the_card_with_what_happens_to_it():
    files = (
        FileChange("Memory/new.md", None, b"- x\n"),
        FileChange("Memory/old.md", b"- x\n", None),
        FileChange("Memory/index.md", b"- a: x -> a.md\n", b"- b: x -> b.md\n"),
    )
    markup = drawn(proposal(*files))
    names = [(view.path, view.what) for view in cards.file_views(files)]
    assert (list(Reader(markup).files), names) == (
        ["Memory/new.md", "Memory/old.md", "Memory/index.md"],
        [("Memory/new.md", "new"), ("Memory/old.md", "deleted"), ("Memory/index.md", "changed")],
    )


def test_a_word_of_look_alike_letters_is_named_with_their_code_points():
    markup = drawn(proposal(FileChange(FOOD, None, "- pays with p\u0430ypal\n".encode())))
    plain = drawn(proposal(FileChange(FOOD, None, b"- pays with paypal\n")))
    assert ("U+0430 CYRILLIC SMALL LETTER A" in markup, "U+0430" in plain) == (True, False)


def test_a_text_of_many_lines_is_shown_whole():
    new = "".join(f"- fact {number}\n" for number in range(64))
    assert Reader(drawn(proposal(FileChange(FOOD, None, new.encode())))).side(FOOD, "added") == new


@pytest.mark.case("card-host-words")
def test_thousands_of_equal_lines_are_shown_whole_without_being_compared():
    old, new = "\n" * 5000, "a\n" + "\n" * 5000
    shown = list(cards.lines(old, new))
    assert [sum(line.kind == kind for line in shown) for kind in ("removed", "added", "context")] == [5000, 5001, 0]


def test_the_reason_is_the_only_text_of_the_model_outside_of_the_files():
    mark = "ZEBRA <b>&amp;</b>"
    one = proposal(FileChange(FOOD, b"", f"- {mark}\n".encode()), why=mark)
    other = replace(one, why="else")
    read, against = Reader(drawn(one)), Reader(drawn(other))
    host_words = [word if word != one.digest[:8] else other.digest[:8] for word in read.outside]
    assert ("".join(read.reason), "ZEBRA" in "".join(host_words), host_words) == (mark, False, against.outside)


def test_a_card_without_a_reason_has_no_box_for_one():
    assert "blockquote" not in drawn(proposal(FileChange(FOOD, None, b"- x\n"), why=""))


def test_a_carriage_return_is_shown_as_a_mark_and_keeps_its_line_one():
    (view,) = cards.file_views([FileChange(FOOD, b"- a\r\n", b"- a\rb\n")])
    assert [(line.kind, line.text) for line in view.lines] == [("removed", "- a\u240d"), ("added", "- a\u240db")]


@pytest.mark.parametrize(("after", "notes"), [(b"- a\n", 0), (b"- a", 1), (b"", 0)])
def test_a_missing_line_end_is_said_in_words(after, notes):
    markup = drawn(proposal(FileChange(FOOD, None, after)))
    assert markup.count(templates.t("card.no_line_end")) == notes


def test_only_the_line_end_being_different_shows_as_a_change():
    (view,) = cards.file_views([FileChange(FOOD, b"- a", b"- a\n")])
    assert [(line.kind, line.ended) for line in view.lines] == [("removed", False), ("added", True)]


@pytest.mark.parametrize(
    ("files", "title"),
    [
        ([FileChange(FOOD, None, b"x"), FileChange("Memory/index.md", b"a", b"b")], "card.title.new"),
        ([FileChange(FOOD, b"x", None), FileChange("Memory/index.md", b"a", b"b")], "card.title.deleted"),
        ([FileChange(FOOD, b"x", b"y")], "card.title.changed"),
        ([FileChange(FOOD, None, b"x"), FileChange("Memory/home.md", b"x", None)], "card.title.changed"),
        ([FileChange("Memory/index.md", None, b"x")], "card.title.new"),
    ],
)
def test_the_title_says_what_happens_to_the_topics(files, title):
    assert cards.view(proposal(*files), now=NOON).title == templates.t(title)


@pytest.mark.parametrize(
    ("later", "left"),
    [
        (timedelta(0), "open for 24 h 0 min"),
        (timedelta(hours=22, minutes=59), "open for 1 h 1 min"),
        (timedelta(hours=23, seconds=1), "open for 59 min"),
        (timedelta(hours=25), "open for 0 min"),
    ],
)
def test_an_open_card_says_how_long_it_is_open(later, left):
    assert left in drawn(proposal(FileChange(FOOD, None, b"x")), later=later)


@pytest.mark.parametrize("state", ["confirmed", "declined", "expired", "stale"])
def test_a_card_in_a_final_state_has_no_confirm_and_says_its_state(state):
    markup = drawn(proposal(FileChange(FOOD, None, b"x"), state=state, change="1"))
    assert ('data-decide="confirm"' in markup, templates.t(f"card.state.{state}") in markup) == (False, True)


@pytest.mark.parametrize(("undone", "buttons"), [(False, 1), (True, 0)])
def test_a_receipt_has_undo_until_its_change_was_taken_back(undone, buttons):
    change = ChangeSet("1", "p_1", NOON, OWNER, "edit", (FileChange(FOOD, None, b"x"),))
    card = drawn(proposal(FileChange(FOOD, None, b"x"), state="confirmed", change="1"), undone=undone)
    receipt = cards.receipt(change, undone=undone)
    assert [found.count('data-undo="1"') for found in (card, receipt)] == [buttons, buttons]


@pytest.mark.case("receipt-by-host")
def test_a_receipt_names_the_files_that_were_written():
    files = (FileChange(FOOD, None, b"x"), FileChange("Memory/index.md", None, b"y"))
    markup = cards.receipt(ChangeSet("1", "p_1", NOON, OWNER, "proposal", files))
    assert "Written: Memory/food.md, Memory/index.md" in markup
