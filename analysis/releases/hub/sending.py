"""Sends a folder to a repository of a hub through `huggingface_hub`, every request by the door for outgoing ones.

What the hub has already is not sent again, so a publication that broke off goes on where it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import huggingface_hub
from django.conf import settings
from huggingface_hub import CommitOperationAdd, HfApi, constants
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import disable_progress_bars, set_client_factory

from analysis.sources.releases.files import MANIFEST, names_of
from models_runtime import egress
from models_runtime.contracts import UnavailableError

SECONDS = 120.0
DATASET = "dataset"


class HubRefused(ValueError):
    """The hub was asked and says no; the message says what to do."""


class GuardedTransport(httpx2.HTTPTransport):
    """Goes to public addresses only, or to hosts that the operator allows, whatever the hub's answers lead to."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        parts = urlsplit(str(request.url))
        if parts.scheme != "https" and not egress.is_allowed(parts, settings.HUB_HOSTS):
            raise egress.AddressRefused(f"{parts.hostname} is not used without encryption")
        try:
            address = egress.resolve(parts, settings.HUB_HOSTS)
        except egress.NoAnswer as error:
            raise httpx2.ConnectError(str(error)) from None
        request.extensions = {**request.extensions, "sni_hostname": parts.hostname}
        request.url = request.url.copy_with(host=address)  # the header Host stays what it was
        return super().handle_request(request)


@contextmanager
def guarded() -> Iterator[None]:
    """The library's requests go through the guard; its other way of sending files, which knows no guard, is off."""

    def client() -> httpx2.Client:
        return httpx2.Client(transport=GuardedTransport(), follow_redirects=False, timeout=SECONDS, trust_env=False)

    # Addresses to upload to carry signatures, which no log may hold.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    disable_progress_bars()
    before = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = True
    set_client_factory(client)
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = before
        set_client_factory(huggingface_hub.utils._http.default_client_factory)


def send_folder(
    folder: Path,
    repository: str,
    token: str,
    message: str,
    *,
    makes: bool,
    is_private: bool,
    made: Callable[[], None] = lambda: None,
) -> str:
    """The address of the commit. `makes`: the repository must not be there yet; `made` is called once it is.

    HubRefused where the hub says no, UnavailableError where it is away.
    """
    api = HfApi(endpoint=settings.HUB, token=token, library_name="assay")
    files = [CommitOperationAdd(name, str(folder / name)) for name in [*names_of(folder), MANIFEST]]
    try:
        with guarded():
            if makes:
                api.create_repo(repository, repo_type=DATASET, private=is_private)
                made()
            return str(api.create_commit(repository, files, commit_message=message, repo_type=DATASET).commit_url)
    except HfHubHTTPError as error:
        _explain(error.response.status_code, repository, makes)
    except (httpx2.HTTPError, OSError, RuntimeError) as error:
        cause = error.__cause__ or error  # the library wraps what happened to a single file
        if isinstance(cause, HfHubHTTPError):
            _explain(cause.response.status_code, repository, makes)
        raise UnavailableError(f"the hub {settings.HUB} did not answer ({type(cause).__name__})") from None
    except ValueError as error:
        raise HubRefused(f"{settings.HUB}: {str(error)[:300]}") from None


def _explain(status: int, repository: str, makes: bool) -> None:
    reasons = {
        401: "The hub refused the token; create one with write access and enter it",
        403: f"The token may not write to {repository}; use another token, or an owner that is yours",
        404: f"The hub has no data set {repository}; publish it as a new one",
        409: f"The hub has a data set {repository} already; take another name, or publish a new version of it"
        if makes
        else f"{repository} was changed meanwhile; publish again",
        413: "The hub refuses files of this size from this account",
    }
    if status >= 500 or status == 429:
        raise UnavailableError(f"the hub {settings.HUB} answered {status}")
    raise HubRefused(reasons.get(status, f"The hub answered {status}; nothing more was sent"))
