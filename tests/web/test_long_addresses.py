"""How long an address may be before the web server itself refuses it, which knows no page of ours."""

import urllib.error
import urllib.request

import pytest


@pytest.mark.slow
def test_the_web_server_reads_addresses_of_eight_thousand_characters(serve, tmp_path):
    base, log = serve(f"sqlite:///{tmp_path}/assay.sqlite3")

    def status(length: int) -> int:
        try:
            return urllib.request.urlopen(f"{base}/api/v1/projects/?x={'a' * length}", timeout=120).status
        except urllib.error.HTTPError as error:
            return error.code

    assert [status(length) for length in (4_100, 8_000, 9_000)] == [401, 401, 414], log.read_text()
