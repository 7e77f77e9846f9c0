"""A web process of its own: it requests pages of stored reports and what they link to.

python -m tests.analysis.visiting LIBRARY... < VISITS

VISITS are lines of JSON: [user, address, forms of what the page must link to]. What it prints is JSON as well: by
library that was loaded, the first address whose answer had done so.
"""

import json
import re
import sys
from html import unescape

import django


def main() -> None:
    django.setup()
    from django.test import Client
    from django.test.utils import setup_test_environment

    from annotation.models import User

    setup_test_environment()
    client, libraries, loaded = Client(), set(sys.argv[1:]), {}

    def visit(address: str, **headers: str) -> str:
        response = client.get(address, headers=headers)
        assert response.status_code == 200, (address, response.status_code, response.content[:500])
        for name in libraries & set(sys.modules):
            loaded.setdefault(name, address)
        return response.content.decode()

    for line in sys.stdin:
        user, address, links = json.loads(line)
        client.force_login(User.objects.get(pk=user))
        page = visit(address)
        visit(address, **{"HX-Request": "true"})
        for link in links:
            found = re.search(rf'href="([^"]*{link}[^"]*)"', page)
            assert found, f"{address} links to no {link}"
            visit(unescape(found[1]))
    print(json.dumps(loaded))


if __name__ == "__main__":
    main()
