"""What a note may contain: a table of strings, each refused with its rule, accepted, or accepted with a badge."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.errors import BadTextError
from short_memory.text_safety import Badge, Finding, check, encoded, find, mixed_script_words

REFUSED = [
    # Control characters.
    ("control-character", "a\x00b"),
    ("control-character", "a\x07b"),
    ("control-character", "a\x08b"),
    ("control-character", "one\x0btwo"),
    ("control-character", "one\x0ctwo"),
    ("control-character", "one\r\ntwo"),
    ("control-character", "one\rtwo"),
    ("control-character", "\x1b[31mred"),
    ("control-character", "a\x7f"),
    ("control-character", "one\x85two"),
    ("control-character", "a\x9bb"),
    # Line and paragraph separators.
    ("line-separator", "one\u2028two"),
    ("line-separator", "one\u2029two"),
    # Bidirectional controls.
    ("bidirectional-control", "a\u061cb"),
    ("bidirectional-control", "a\u200eb"),
    ("bidirectional-control", "שלום\u200f"),
    ("bidirectional-control", "a\u202ab"),
    ("bidirectional-control", "a\u202bb"),
    ("bidirectional-control", "a\u202cb"),
    ("bidirectional-control", "a\u202db"),
    ("bidirectional-control", "pay \u202e001"),
    ("bidirectional-control", "a\u2066b"),
    ("bidirectional-control", "a\u2067b"),
    ("bidirectional-control", "a\u2068b"),
    ("bidirectional-control", "a\u2069b"),
    # Zero-width and invisible characters.
    ("invisible-character", "nu\u200bts"),
    ("invisible-character", "nu\u200cts"),
    ("invisible-character", "nu\u200dts"),
    ("invisible-character", "\u200dnuts"),
    ("invisible-character", "nuts\u200c"),
    ("invisible-character", "nu\u2060ts"),
    ("invisible-character", "f\u2061x"),
    ("invisible-character", "f\u2062x"),
    ("invisible-character", "f\u2063x"),
    ("invisible-character", "f\u2064x"),
    ("invisible-character", "\ufeffnuts"),
    ("invisible-character", "nu\u00adts"),
    ("invisible-character", "nu\u034fts"),
    ("invisible-character", "nu\u180ets"),
    ("invisible-character", "nu\u206ats"),
    ("invisible-character", "nu\ufff9ts"),
    ("invisible-character", "ក\u17b4"),
    ("invisible-character", "\U0001d173"),
    ("invisible-character", "\U0001bca0"),
    # Joiners where nothing joins.
    ("invisible-character", "می\u200c رود"),
    ("invisible-character", "می\u200c"),
    ("invisible-character", "می\u200c\u200cرود"),
    ("invisible-character", "क\u200ca"),
    ("invisible-character", "क्\u200d\u200dष"),
    ("invisible-character", "क\u200cগ"),
    ("invisible-character", "\u200cनमस्ते"),
    ("invisible-character", "न\u200d"),
    ("invisible-character", "日\u200d本"),
    ("invisible-character", "👨\u200da"),
    ("invisible-character", "a\u200d👩"),
    ("invisible-character", "👨\u200d\u200d👩"),
    # Variation selectors without the base that takes them.
    ("invisible-character", "a\ufe0f"),
    ("invisible-character", "\ufe0f"),
    ("invisible-character", "1\ufe0f"),
    ("invisible-character", "1\ufe0e\u20e3"),
    ("invisible-character", "❤\ufe0f\ufe0f"),
    ("invisible-character", "a\U000e0100"),
    ("invisible-character", "日\U000e0100\U000e0101"),
    ("invisible-character", "😀\U000e0121"),
    ("invisible-character", "日\ufe0f"),
    ("invisible-character", "a\u180b"),
    # Tag characters outside the three flags.
    ("invisible-character", "\U000e0001\U000e0065"),
    ("invisible-character", "hi\U000e0068\U000e0069"),
    ("invisible-character", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067"),
    ("invisible-character", "🏴\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065\U000e007f"),
    ("invisible-character", "😀\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
    # Letters that draw nothing.
    ("blank-letter", "a\u115fb"),
    ("blank-letter", "a\u1160b"),
    ("blank-letter", "a\u2800b"),
    ("blank-letter", "a\u3164b"),
    ("blank-letter", "a\uffa0b"),
    ("blank-letter", "a\ufffcb"),
    ("blank-letter", "a\U0001d159b"),
    # Private use, unassigned, half of a pair.
    ("private-use", "a\ue000"),
    ("private-use", "a\U000f0000"),
    ("private-use", "a\U00100000"),
    ("unassigned", "a\u0378"),
    ("unassigned", "a\ufdd0"),
    ("unassigned", "a\uffff"),
    ("unassigned", "\U0001f6d9\ufe0f"),
    ("unassigned", "a\U0010ffff"),
    ("unpaired-surrogate", "a\ud83d"),
    ("unpaired-surrogate", "\ude00a"),
    # Floods of marks.
    ("combining-marks", "e\u0301\u0301\u0301\u0301\u0301"),
    ("combining-marks", "Z\u0351\u036b\u0343\u036a\u0302\u036b"),
    ("combining-marks", "को" + "\u0951" * 5),
    ("combining-marks", "a" + "\u20dd" * 5),
    # Comments.
    ("html-comment", "nuts <!-- and obey -->"),
    ("html-comment", "<!--"),
    ("html-comment", "perché <!---->"),
]

ACCEPTED = [
    "",
    "- 2026-09-30: allergic to nuts\n\t- and to figs\n",
    "a < b, x <- y, <!DOCTYPE html>, -->, < !--",
    # Italian, French, German, Spanish, Portuguese, Polish, Turkish.
    "Perché no? È già lì, così com’è: «città», più caffè.",
    "L’été, cœur, naïf\u202f!\xa0Ça va\u202f?",
    "Straße, Größe, Übermaß, „Anführung“, ẞ",
    "¿Qué tal, señor? ¡Mañana!",
    "São Paulo, pão, coração",
    "Zażółć gęślą jaźń",
    "İstanbul’da çağrı, ığdır",
    "Llanfair\u2010pwll \u2014 \u2026 • “q”",
    # Vietnamese in both forms, and other marks.
    unicodedata.normalize("NFC", "Tiếng Việt: phở bò, nước mắm, Nguyễn"),
    unicodedata.normalize("NFD", "Tiếng Việt: phở bò, nước mắm, Nguyễn"),
    unicodedata.normalize("NFD", "Perché, Straße, ñandú"),
    "a\u0301\u0302\u0303\u0304b",
    # Right-to-left scripts.
    "أحمد يحب القهوة العربية، ٣ أكواب",
    "بِسْمِ ٱللَّٰهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ",
    "\u0600\u0661 \u06dd\u0661",
    "שָׁלוֹם עֲלֵיכֶם",
    "אני גר בתל אביב (קומה 3)",
    "ܫܠܡܐ",
    # Persian with joiners.
    "می\u200cخواهم",
    "کتاب\u200cها و خانه\u200cای",
    "کار\u200cهای خوب",
    "۱۲\u200cساله",
    "PDF\u200cها",
    "سال ۱۳۵۷ ه\u200d.ش.",
    # Indic and south-east Asian scripts.
    "नमस्ते, मैं हिन्दी बोलता हूँ",
    "क्\u200dष और क्\u200cष",
    "दाल\u200cभात",
    "বাংলা র\u200d্যাব",
    "ശ്രീ ന്\u200d അവന്\u200d",
    "ශ්\u200dරී ලංකා",
    "தமிழ் மொழி",
    "ਪੰਜਾਬੀ, ગુજરાતી, ଓଡ଼ିଆ, తెలుగు, ಕನ್ನಡ",
    "ภาษาไทย น้ำ ผู้ใหญ่ ที่นี่",
    "ភាសាខ្មែរ ស្ត្រី ប៊\u200cី",
    "မြန်မာဘာသာ မြွှော်း",
    "བོད་ཡིག རྒྱལ ཧཱུྃ",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠣᠯ\u180bᠠ",
    # East Asian scripts.
    "日本語、ひらがな\u3000カタカナ ﾊﾟ",
    "葛\U000e0100城市 and 神\ufe00",
    "中文，简体字；繁體字。",
    "한국어 " + unicodedata.normalize("NFD", "한국어"),
    "鿿 \U00031350 \U0002ebf0",
    # Other alphabets.
    "Привет, Москва! Ёлка, й " + unicodedata.normalize("NFD", "йод"),
    "Καλημέρα, Ελλάδα ΐ",
    "Հայաստան, საქართველო, አማርኛ, ᏣᎳᎩ",
    # Emoji.
    "👍 👍🏽 🎉 😀 ☕ ❤ ❤️ ☎︎",
    "👨‍👩‍👧‍👦 👩🏽‍💻 🧑🏻‍🤝‍🧑🏿 👁️‍🗨️ ❤️‍🔥",
    "🏳️‍🌈 🏴‍☠️ 👩‍⚕️ 🧑‍🚀 🐦‍⬛ 🚶‍➡️",
    "🇮🇹 🇺🇳",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "1️⃣ #️⃣ *️⃣ 9⃣",
    "\U0001fae8 \U0001fae9 \U0001f6dc \U0001facd",
    # Symbols.
    "x² ≥ ½ · 3 × 10⁶ €, ∩\ufe00, ☑ ✓ → ★ ♪ \ufffd",
    "⠃⠗⠇",
]

BADGES = [
    ("pаypal", ("U+0430 CYRILLIC SMALL LETTER A",)),
    ("gооgle", ("U+043E CYRILLIC SMALL LETTER O",)),
    ("аррle", ("U+006C LATIN SMALL LETTER L", "U+0065 LATIN SMALL LETTER E")),
    ("Mοdena", ("U+03BF GREEK SMALL LETTER OMICRON",)),
    ("Ρaris", ("U+03A1 GREEK CAPITAL LETTER RHO",)),
    ("Мoscow", ("U+041C CYRILLIC CAPITAL LETTER EM",)),
    ("Москвa", ("U+0061 LATIN SMALL LETTER A",)),
    ("p4ypаl2", ("U+0430 CYRILLIC SMALL LETTER A",)),
    ("cafе\u0301", ("U+0435 CYRILLIC SMALL LETTER IE",)),
    ("Αθήнα", ("U+043D CYRILLIC SMALL LETTER EN",)),
]

NO_BADGE = [
    "plain words",
    "Perché, naïf, Straße",
    "Москва, Ελλάδα and Rome",
    "IT-специалист, x-лучи, 3D-принтер",
    "10 kΩ, 5 μm, Δt, λx, 2πr",
    "日本語 и e\u0301",
]


@pytest.mark.case("bad-text-refused")
@pytest.mark.parametrize(("rule", "text"), REFUSED, ids=[f"{n}-{row[0]}" for n, row in enumerate(REFUSED)])
def test_what_nobody_can_see_is_refused_with_its_rule(rule, text):
    finding = find(f"fine\n{text}")
    assert (finding.rule, finding.line) == (rule, 2)


@pytest.mark.parametrize("text", ACCEPTED, ids=range(len(ACCEPTED)))
def test_what_people_write_is_accepted(text):
    assert find(text) is None


@pytest.mark.parametrize(("word", "characters"), BADGES, ids=range(len(BADGES)))
def test_a_word_of_two_scripts_is_accepted_and_shown_with_its_code_points(word, characters):
    text = f"one\ntwo {word}, three"
    assert (find(text), mixed_script_words(text)) == (None, [Badge(word, 2, characters)])


@pytest.mark.parametrize("text", NO_BADGE, ids=range(len(NO_BADGE)))
def test_words_of_one_script_have_no_badge(text):
    assert mixed_script_words(text) == []


@pytest.mark.case("bad-text-refused")
def test_the_refusal_names_file_line_rule_and_character_and_nothing_else_of_the_text():
    with pytest.raises(BadTextError) as caught:
        check("- home: Rome\n- private \u202e words\n", "index.md")
    assert (caught.value.rule, caught.value.line) == ("bidirectional-control", 2)
    assert caught.value.text == (
        "index.md, line 2: U+202E RIGHT-TO-LEFT OVERRIDE is not allowed in notes (bidirectional-control). "
        "Leave it out and try again."
    )


def test_a_fine_text_passes_the_check():
    assert check("- home: Rome\n- città: perché\n", "index.md") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\r", "U+000D CARRIAGE RETURN"),
        ("\x01", "U+0001 CONTROL CHARACTER"),
        ("\ue000", "U+E000 PRIVATE USE CHARACTER"),
        ("\u0378", "U+0378 UNASSIGNED CHARACTER"),
        ("\ud800", "U+D800 UNPAIRED SURROGATE"),
        ("<!--", "an HTML comment"),
        ("e" + "\u0301" * 5, "U+0301 COMBINING ACUTE ACCENT, one of more than 4 marks on one letter,"),
    ],
)
def test_what_was_found_is_described_by_code_point_and_name(text, found):
    assert find(text).found == found


def test_the_first_finding_in_the_order_of_the_text_counts():
    assert find("è\n<!-- \u200b") == Finding("html-comment", 2, "an HTML comment")
    assert find("è\u200b\n<!--") == Finding("invisible-character", 1, "U+200B ZERO WIDTH SPACE")


def test_marks_that_take_room_of_their_own_neither_count_nor_end_the_base():
    assert find("a\u0301\u0302\u0903\u0303\u0304") is None
    assert find("a\u0301\u0302\u0903\u0303\u0304\u0305").rule == "combining-marks"


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("\n\t")))
def test_printable_ascii_is_refused_exactly_when_it_holds_a_comment(text):
    assert (find(text) is not None) == ("<!--" in text)


@given(
    st.text(st.characters(categories=["L", "Nd", "Pd", "Sc"], max_codepoint=0x10FF, exclude_characters="\u115f\u1160"))
)
def test_letters_digits_and_dashes_of_the_first_blocks_are_never_refused(text):
    assert find(text) is None


def test_the_largest_text_that_is_read_is_checked_in_a_moment():
    started = time.process_time()
    assert find("нота 👨‍👩‍👧 " * 6000) is None
    assert time.process_time() - started < 1


def test_a_text_without_bytes_is_refused_as_what_it_is():
    assert encoded("età\n", "a.md") == b"et\xc3\xa0\n"
    with pytest.raises(BadTextError) as refused:
        encoded("- fine\n- half \ud83d\n", "a.md")
    assert (refused.value.rule, refused.value.line) == ("unpaired-surrogate", 2)
