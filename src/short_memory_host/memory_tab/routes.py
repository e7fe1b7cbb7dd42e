"""The Memory tab: a person's shelves, and every change set with who, when, what and Undo.

An exact taking back is done at once. One that merges later work is shown first, and its Confirm names the digest of
what was shown; one that does not merge shows both texts and writes nothing.
"""

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from short_memory.changes import ChangeSet, RevertPlan
from short_memory.errors import ChangedError, NoChangeError, ShortMemoryError, StaleError
from short_memory.notebook import Shelf
from short_memory_host import logs
from short_memory_host.memory_tab import addon_routes, note_routes, service, views
from short_memory_host.web import cards, errors, templates
from short_memory_host.web.held import Held, held
from short_memory_host.web.people import Person, SignedIn

router = APIRouter()
router.include_router(note_routes.router)
router.include_router(addon_routes.router)

CHANGES_A_PAGE = 20


class Seen(BaseModel):
    """The digest of the taking back that the person saw, if it was shown."""

    digest: str | None = None


@router.get("/account/memory")
def memory_page(request: Request, person: SignedIn, before: str | None = None) -> Response:
    """Show the add-on, the notes and the latest change sets, or those before a named one."""
    host = held(request)
    if before is not None:
        host.notebook.change(person.id, before)
    host.notebook.absorb(person.id)
    found = host.notebook.history(person.id, limit=CHANGES_A_PAGE + 1, before=before)
    shown = found[:CHANGES_A_PAGE]
    return templates.render(
        request,
        "memory_tab/memory.html",
        addon=views.addon(host.addon, host.granting.of(person.id)),
        shelves=[views.shelf(one, _why_empty(host, person, one)) for one in host.notebook.shelves(person.id)],
        changes=views.changes(shown, host.notebook.taken_back([one.id for one in shown])),
        before=before,
        older=shown[-1].id if len(found) > len(shown) else None,
    )


@router.get("/account/memory/change/{change}")
def change_page(request: Request, person: SignedIn, change: str) -> Response:
    """Show one change set, every line of it."""
    host = held(request)
    found = host.notebook.change(person.id, change)
    view = views.change(found, host.notebook.taken_back([found.id]))
    return templates.render(request, "memory_tab/change.html", change=view, files=cards.file_views(found.files))


@router.get("/account/memory/change/{change}/revert")
def revert_page(request: Request, person: SignedIn, change: str) -> Response:
    """Show what taking back a change set would write now, or why it can't be taken back."""
    host = held(request)
    found = host.notebook.change(person.id, change)
    plan, texts, why_not = _plan(host, person, found)
    return templates.render(
        request,
        "memory_tab/revert.html",
        change=views.change(found, host.notebook.taken_back([found.id])),
        plan=plan,
        files=cards.file_views(plan.files) if plan else (),
        texts=texts,
        why_not=why_not,
    )


@router.post("/changes/{change}/revert")
def revert(request: Request, person: SignedIn, change: str, seen: Seen) -> Response:
    """Take back a change set, or point to the page that shows what that would mean."""
    host, show = held(request), f"/account/memory/change/{change}/revert"
    try:
        back = host.notebook.revert(person.id, change, digest=seen.digest)
    except StaleError as error:
        if seen.digest is None:
            return JSONResponse({"show": show})
        return _refused(error, show)
    except ChangedError as error:
        return _refused(error, show)
    except ShortMemoryError as error:
        return _refused(error, None)
    logs.write("change-reverted", person=person.id, change=change, count=len(back.files), size_bytes=back.size_bytes)
    return JSONResponse({"html": cards.receipt(back)})


def _why_empty(host: Held, person: Person, shelf: Shelf) -> str:
    """Say why nothing stands on a shelf, where something is in the way, such as a link in place of the folder."""
    return "" if shelf.notes else host.notebook.open(person.id, shelf.scope.index).why_not


def _plan(
    host: Held, person: Person, change: ChangeSet
) -> tuple[RevertPlan | None, dict[str, tuple[str | None, str | None]], str]:
    """Return the plan of a taking back, or both texts of each file that stands against it, or the reason."""
    try:
        return host.notebook.plan_revert(person.id, change.id), {}, ""
    except ChangedError as error:
        return None, error.texts, ""
    except NoChangeError:
        return None, {}, templates.t("memory.revert.nothing_left")
    except ShortMemoryError as error:
        return None, {}, str(service.refusal(error)["text"])


def _refused(error: ShortMemoryError, show: str | None) -> Response:
    found = {"error": service.refusal(error)} | ({"show": show} if show else {})
    return JSONResponse(found, errors.ENGINE_STATUS[error.code])
