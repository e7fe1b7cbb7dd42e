"""What a host reads first: `manifest.yaml`, checked, with what it declares as values.

Strict for authors, who see every problem. Lenient for hosts, which ignore an unknown key with a warning, except under
`capabilities`: an add-on that asks there for what a host does not know is refused whole (contract 1.2, 1.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from short_memory.bundle.digest import capabilities_digest
from short_memory.bundle.places import same_places
from short_memory.bundle.problems import Problem
from short_memory.bundle.schema import FILES, NEWEST, UNKNOWN_KEY, dotted, faults, filled, schema
from short_memory.caps import Cap
from short_memory.scopes import ContextFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from short_memory.bundle.yaml_subset import Document, Place

FIRST_WITH_CONTEXT_FILES = 2


@dataclass(frozen=True, slots=True)
class Page:
    """The page of an add-on, and the places of the host that its links may open."""

    file: str
    opens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Executable:
    """How the program of an add-on is started, and what it may use."""

    protocol: Literal["mcp-stdio"]
    runtime: Literal["python", "binary"]
    entry: str
    requires: str
    platforms: tuple[str, ...]
    start_s: int
    stop_s: int
    memory_mib: int
    network: Literal["none", "outbound"]
    files: Literal["none", "own"]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an add-on says about itself. `capabilities` is what it declared, as it stands in the file.

    `reasons` are the author's words for each context file that has some, by its id.
    """

    api: int
    id: str
    name: str
    version: str
    summary: str
    description: str
    license: str
    publisher: str
    publisher_url: str | None
    links: Mapping[str, str]
    icon: str | None
    keywords: tuple[str, ...]
    stage: Literal["preview", "stable", "deprecated"]
    languages: tuple[str, ...]
    capabilities: Mapping[str, Any]
    capabilities_digest: str
    tools: tuple[str, ...]
    skills: tuple[str, ...]
    context_files: tuple[ContextFile, ...]
    reasons: Mapping[str, str]
    page: Page | None
    executable: Executable


@dataclass(frozen=True, slots=True)
class CheckedManifest:
    """A manifest if it has no problem, and what a reader should know about it."""

    manifest: Manifest | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()


def check_manifest(
    raw: bytes, *, host_api: int | None = None, features: Collection[str] = (), file: str = "manifest.yaml"
) -> CheckedManifest:
    """Check a manifest.

    Args:
        raw: The bytes of the file.
        host_api: The newest add-on API of the host that reads; None checks strictly, for the author.
        features: The features that this host has, by the names that `requires.features` uses.
        file: What problems call the file.

    Returns:
        Problems and warnings in the order of the file. With a problem there is no manifest.

    """
    from short_memory.bundle.yaml_subset import read_yaml  # noqa: PLC0415 - only whoever reads an add-on pays for it

    document = read_yaml(raw, file=file)
    if isinstance(document, Problem):
        return CheckedManifest(None, (document,))
    found = list(_api_problems(document, host_api or NEWEST)) or list(_problems(document, host_api, features))
    unknown = {UNKNOWN_KEY: "MAN-080"} if host_api is not None else {}
    problems = sorted({Problem(file, *each) for each in found if each[1] not in unknown})
    warnings = sorted({Problem(file, line, unknown[code], text) for line, code, text in found if code in unknown})
    manifest = None if problems else _manifest(document.value)
    return CheckedManifest(manifest, tuple(problems), tuple(warnings))


def _api_problems(document: Document, newest: int) -> Iterator[tuple[int, str, str]]:
    """Refuse what is checked against no schema here: another API, or none."""
    api, line = document.value.get("api"), document.line(("api",))
    capabilities = document.value.get("capabilities")
    if type(api) is not int:
        yield line, "MAN-001", "api is not a whole number. Write the add-on API, for example api: 2."
    elif api > newest:
        words = f"This add-on needs add-on API {api}; this host offers {newest}."
        yield line, "API-001", f"{words} Update the host, or install an older version of the add-on."
    elif api < FIRST_WITH_CONTEXT_FILES and isinstance(capabilities, dict) and "contextFiles" in capabilities:
        words = f"capabilities.contextFiles needs add-on API {FIRST_WITH_CONTEXT_FILES}; this manifest says api: {api}."
        yield document.line(("capabilities", "contextFiles")), "API-002", f"{words} Write api: 2."
    elif api not in FILES:
        yield line, "API-003", f"Add-on API {api} has no published schema. Write one of these: {_listed(FILES)}."


def _problems(document: Document, host_api: int | None, features: Collection[str]) -> Iterator[tuple[int, str, str]]:
    value = document.value
    found = faults(value, value["api"])
    for fault in found:
        yield document.line(fault.place), fault.code, fault.text
    if any(fault.code != UNKNOWN_KEY for fault in found):
        return
    yield from _double_context_files(document)
    for index, feature in enumerate(value.get("requires", {}).get("features", [])):
        if host_api is not None and feature not in features:
            words = f"This add-on needs the feature {feature}, which this host does not have."
            line = document.line(("requires", "features", index))
            yield line, "API-004", f"{words} Update the host, or install an older version of the add-on."


def _double_context_files(document: Document) -> Iterator[tuple[int, str, str]]:
    place: Place = ("capabilities", "contextFiles")
    ids = [each["id"] for each in document.value["capabilities"].get("contextFiles", [])]
    for index, id_ in enumerate(ids):
        if id_ in ids[:index]:
            where = (*place, index, "id")
            yield document.line(where), "CTX-120", f"{dotted(where)} is {id_}, used above already. Give each its own."
    for first, second in same_places(_context_files(document.value)):
        where = (*place, ids.index(second.id), "index")
        words = f"{second.index} could be the same file as {first.index}. Give each a folder of its own."
        yield document.line(where), "CTX-121", f"{dotted(where)}: {words}"


def _manifest(value: dict[str, Any]) -> Manifest:
    capabilities, publisher = value["capabilities"], value["publisher"]
    page = capabilities.get("page")
    return Manifest(
        api=value["api"],
        id=value["id"],
        name=value["name"],
        version=value["version"],
        summary=value["summary"],
        description=value.get("description", ""),
        license=value["license"],
        publisher=publisher["name"],
        publisher_url=publisher.get("url"),
        links=value.get("links", {}),
        icon=value.get("icon"),
        keywords=tuple(value.get("keywords", ())),
        stage=value.get("stage", schema(value["api"])["properties"]["stage"]["default"]),
        languages=tuple(value.get("languages", ())),
        capabilities=capabilities,
        capabilities_digest=capabilities_digest(capabilities),
        tools=tuple(tool["name"] for tool in capabilities.get("tools", ())),
        skills=tuple(capabilities.get("skills", ())),
        context_files=tuple(_context_files(value)),
        reasons={each["id"]: each["reason"] for each in capabilities.get("contextFiles", ()) if "reason" in each},
        page=Page(page["file"], tuple(page.get("opens", ()))) if page else None,
        executable=_executable(value),
    )


def _context_files(value: dict[str, Any]) -> Iterator[ContextFile]:
    node = schema(value["api"])["$defs"]["contextFile"]
    for declared in value["capabilities"].get("contextFiles", ()):
        each = filled(declared, node)
        yield ContextFile(
            addon=value["id"],
            id=each["id"],
            scope=each["scope"],
            title=each["title"],
            index=each["index"],
            cap=Cap(each["maxLines"], each["maxBytes"]),
            topic_bytes=each["topicMaxBytes"],
            propose=each["propose"],
        )


def _executable(value: dict[str, Any]) -> Executable:
    each = filled(value["executable"], schema(value["api"])["properties"]["executable"])
    return Executable(
        protocol=each["protocol"],
        runtime=each["runtime"],
        entry=each["entry"],
        requires=each.get("requires", ""),
        platforms=tuple(each.get("platforms", ("any",))),
        start_s=each["startSeconds"],
        stop_s=each["stopSeconds"],
        memory_mib=each["memoryMiB"],
        network=each["network"],
        files=each["files"],
    )


def _listed(names: Collection[int]) -> str:
    return ", ".join(f"api: {name}" for name in sorted(names))
