"""CITATION.cff and the citation in words."""

from __future__ import annotations

import yaml


def title_of(manifest: dict) -> str:
    return manifest["settings"].get("card", {}).get("title") or manifest["release"]["title"]


def authors_of(card: dict) -> list[str]:
    return card.get("authors", "").splitlines()


def citation_file(manifest: dict) -> str:
    release, card = manifest["release"], manifest["settings"].get("card", {})
    title = title_of(manifest)
    found = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": title,
        "authors": [_author(name) for name in authors_of(card)] or [{"name": f"The makers of {title}"}],
        "version": version_of(release),
        "date-released": release["moment"][:10],
    }
    license = card.get("license", "")
    if license and " " not in license and not license.startswith("LicenseRef-"):
        found["license"] = license  # the format takes listed ids alone
    if card.get("homepage"):
        found["url"] = card["homepage"]
    if card.get("motivation"):
        found["abstract"] = card["motivation"]
    return yaml.safe_dump(found, allow_unicode=True, sort_keys=False)


def _author(name: str) -> dict[str, str]:
    family, comma, given_name = name.partition(",")
    return {"family-names": family.strip(), "given-names": given_name.strip()} if comma else {"name": name}


def version_of(release: dict) -> str:
    """As readers cite it; releases without one by their number, files of the command by their hash."""
    return release.get("release_version") or (str(release["number"]) if release["number"] else release["sha256"][:12])


def citation_words(manifest: dict) -> str:
    """One line for a list of references."""
    release, card = manifest["release"], manifest["settings"].get("card", {})
    who = "; ".join(authors_of(card)) or f"The makers of {title_of(manifest)}"
    page = f" {card['homepage']}" if card.get("homepage") else ""
    return (
        f"{who} ({release['moment'][:4]}). {title_of(manifest)} (version {version_of(release)}) [data set]. "
        f"SHA-256 {release['sha256']}.{page}"
    )
