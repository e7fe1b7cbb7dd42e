"""The owner's files: no link and no name leads out, only plain files with one name are read."""

import os
import threading
from pathlib import Path

import pytest

from short_memory import caps
from short_memory.errors import UnreadableError
from short_memory.store import files
from short_memory.store.files import Files, HardLinkedError, parts, signature

FOOD = "Memory/food.md"
BAD_PATHS = [
    "", "food.md", "/food.md", "/Memory/food.md", "Memory/", "Memory//food.md", "Memory/../food.md", "../food.md", "./food.md",
    "Memory/./food.md", "Memory/food.md/", "Memory/food", "Memory\\food.md", "Memory/.food.md", ".git/food.md", "Memory/food.md\0",
    "Mem\0ory/food.md", "Memory /food.md", "a/b/c/d/e/food.md", "Memory/fооd.md", "Memória/food.md", f"{'a' * 130}/food.md", "~/food.md",
    "C:/food.md", "-x/food.md", "Memory/con.md", "Memory/food.md:x", "%2e%2e/food.md",
]  # fmt: skip


@pytest.fixture
def root(tmp_path):
    return tmp_path / "files"


@pytest.fixture
def store(root):
    return Files(root)


def put(root, raw=b"- a\n", path=FOOD):
    place = root / "anna" / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(raw)
    return place


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_of_another_grammar_is_refused_before_the_disk_is_asked(store, path):
    with pytest.raises(UnreadableError):
        store.read("anna", path)


def test_a_path_is_parted_into_folders_and_file():
    assert parts("Memory/agents/coach/food.md") == (("Memory", "agents", "coach"), "food.md")
    assert parts(f"Memory/channels/{'a' * 64}-{'b' * 64}/x.md")[1] == "x.md"


def test_a_file_is_its_bytes_and_a_missing_one_nothing(store, root):
    assert store.read("anna", FOOD) is None
    put(root, b"\xef\xbb\xbf\xff\r\n")
    assert (store.read("anna", FOOD), store.read("anna", "Memory/none.md")) == (b"\xef\xbb\xbf\xff\r\n", None)


@pytest.mark.parametrize(("size", "refused"), [(caps.READ_BYTES, False), (caps.READ_BYTES + 1, True)])
def test_a_file_larger_than_any_note_is_not_read(store, root, size, refused):
    put(root, b"x" * size)
    if refused:
        with pytest.raises(UnreadableError, match="65537 bytes"):
            store.read("anna", FOOD)
    else:
        assert store.read("anna", FOOD) == b"x" * size


@pytest.mark.case("links-not-followed")
@pytest.mark.parametrize(
    ("plant", "why"),
    [
        (lambda place, other: place.symlink_to(other), "it is a link"),
        (lambda place, _: place.symlink_to("food.md"), "it is a link"),
        (lambda place, other: place.hardlink_to(other), "it has a second name on the disk"),
        (lambda place, _: os.mkfifo(place), "it is not a plain file"),
        (lambda place, _: place.mkdir(), "it is not a plain file"),
        (lambda place, _: os.mknod(place, 0o140600), "it is not a plain file"),
        (lambda place, _: os.mknod(place, 0o20600, os.makedev(1, 5)), "it is not a plain file"),
    ],
    ids=["link", "loop", "hard link", "fifo", "folder", "socket", "device"],
)
def test_what_is_no_plain_file_is_refused_and_says_what_it_is(store, root, tmp_path, plant, why):
    other = tmp_path / "other.md"
    other.write_text("canary")
    put(root).unlink()
    plant(root / "anna" / FOOD, other)
    with pytest.raises(UnreadableError) as refused:
        store.read("anna", FOOD)
    assert refused.value.why == why
    assert isinstance(refused.value, HardLinkedError) is (why == "it has a second name on the disk")


@pytest.mark.parametrize("part", ["anna", "anna/Memory"])
def test_a_link_or_a_file_in_place_of_a_folder_is_refused(store, root, tmp_path, part):
    put(root)
    (root / part).rename(tmp_path / "moved")
    (root / part).symlink_to(tmp_path / "moved")
    for _ in range(2):
        with pytest.raises(UnreadableError):
            store.read("anna", FOOD)
        assert store.names("anna", ("Memory",)) == ([], [])
        (root / part).unlink()
        (root / part).write_text("a file")


def test_a_note_in_a_folder_that_may_not_be_opened_is_refused(root, monkeypatch):
    put(root)
    root.chmod(0o755)
    (root / "anna").chmod(0o711)
    (root / "anna" / "Memory").chmod(0)
    monkeypatch.chdir(root)
    here, user = Files(Path()), os.geteuid()
    if user == 0:
        os.seteuid(65534)  # nobody closes a folder to root
    try:
        with pytest.raises(UnreadableError, match="may not open its folder"):
            here.read("anna", FOOD)
        assert here.names("anna", ("Memory",)) == ([], [])
    finally:
        os.seteuid(user)
        (root / "anna" / "Memory").chmod(0o700)


def test_a_folder_that_changes_places_with_a_link_never_leads_out(store, root, tmp_path):
    put(root)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "food.md").write_bytes(b"canary")
    folder, away = root / "anna" / "Memory", root / "anna" / "Away"
    stop, seen = threading.Event(), set()

    def swap():
        while not stop.is_set():
            folder.rename(away)
            folder.symlink_to(outside)
            folder.unlink()
            away.rename(folder)

    thread = threading.Thread(target=swap)
    thread.start()
    for _ in range(3000):
        try:
            seen.add(store.read("anna", FOOD))
        except UnreadableError:
            seen.add("refused")
    stop.set()
    thread.join()
    assert b"canary" not in seen
    assert seen <= {b"- a\n", None, "refused"}


def test_an_unexpected_refusal_of_the_disk_is_no_missing_file(store, root):
    put(root).unlink()
    place = root / "anna" / FOOD
    place.parent.rmdir()
    (root / "anna").chmod(0o700)
    with pytest.raises(OSError, match="too long"), store.folder("anna", ()) as folder:
        files.read_at(folder, "x" * 300, FOOD)
    with pytest.raises(OSError, match="Bad file"):
        files._enter(-1, "Memory", make=False)


@pytest.mark.case("notes-private-modes")
def test_folders_that_are_made_are_private_and_others_are_left_alone(store, root):
    with store.folder("anna", ("Memory", "agents"), make=True):
        assert [
            (root / part).stat().st_mode & 0o777 for part in ("anna", "anna/Memory", "anna/Memory/agents", ".staging")
        ] == [0o700] * 4
    with pytest.raises(FileNotFoundError), store.folder("anna", ("Other",)):
        raise AssertionError
    with pytest.raises(UnreadableError), store.folder("..", ()):
        raise AssertionError


def test_names_are_sorted_bounded_and_only_those_of_notes(store, root):
    for name in ("b.md", "a.md", "Upper.md", "note.txt", ".hidden.md"):
        put(root, path=f"Memory/{name}")
    put(root, path="Memory/z/x.md")
    put(root, path="Memory/.z/x.md")
    (root / "anna/Memory/link").symlink_to("z")
    (root / "anna/Memory/link.md").symlink_to("a.md")
    assert store.names("anna", ("Memory",)) == (["a.md", "b.md", "link.md"], ["z"])
    assert store.names("anna", ("None",)) == ([], [])
    for n in range(caps.FILES_A_FOLDER + 5):
        put(root, path=f"Many/n{n}.md")
    assert len(store.names("anna", ("Many",))[0]) == caps.FILES_A_FOLDER


def test_a_state_of_a_file_differs_from_that_of_the_next(store, root):
    place = put(root)
    first = signature(store.place("anna", FOOD))
    assert (signature(str(place)), signature(str(root / "none"))) == (first, None)
    place.unlink()
    put(root)
    assert signature(str(place)) != first


def test_a_new_file_is_private_and_never_replaces_one(store, root):
    with store.folder("anna", ("Memory",), make=True) as folder:
        for durable in (True, False):
            files.write_new(folder, f"d{durable}.md".lower(), b"x" * 100000, durable=durable)
        with pytest.raises(FileExistsError):
            files.write_new(folder, "dtrue.md", b"y", durable=True)
    place = root / "anna/Memory/dtrue.md"
    assert (place.stat().st_mode & 0o777, place.stat().st_size) == (0o600, 100000)
