"""A new study without a real browser: from a dropped file to people, left and found again, bad files, a second tab."""

import re

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.jobs import lifecycle
from annotation.models import Dataset, Guideline, Invitation, Job, Membership, Project, Upload
from tests.factories import make_user

pytestmark = pytest.mark.django_db

OWN = "claim,evidence,url\n" + "".join(
    f"The lake {'never' if n < 3 else 'always'} freezes.,Report {n} says so.,https://news.example/{n}\n"
    for n in range(6)
)
ROLES = {"role-0": "claim-evidence/claim", "role-1": "claim-evidence/evidence", "role-2": "claim-evidence/evidence_url"}
TASK = {"task_type": "claim-evidence/six-way/1", "project_title": "Lakes", "overlap": "2"}
RATED = "text,human,gpt_judge\n" + "".join(
    f"Answer {n}.,{'good' if n % 2 else 'Bad'},{'good' if n % 3 else 'Bad'}\n" for n in range(12)
)


@pytest.fixture
def owner():
    return make_user("owner", is_staff=True)


@pytest.fixture
def client(owner):
    client = Client()
    client.force_login(owner)
    return client


def drop(client, *files: tuple[str, str], address="/studies/new/", **more):
    sent = [SimpleUploadedFile(name, data.encode()) for name, data in files]
    return client.post(address, {"files": sent, **more})


def look(client, response) -> Job:
    """Check the columns as they were guessed, and let the dry run run."""
    job = Job.objects.get(uuid=response["Location"].split("/")[2])
    lifecycle.run_here(job)
    job.refresh_from_db()
    return job


def dry_run(client, name="own_lakes.csv", data=OWN, roles=ROLES) -> Job:
    columns = drop(client, (name, data))["Location"]
    return look(client, client.post(columns, roles))


def made(client, dry: Job, **changed) -> Job:
    return look(client, client.post(f"/imports/{dry.uuid}/start/", TASK | changed))


def test_from_a_file_to_people(client, owner):
    response = drop(client, ("own_lakes.csv", OWN))
    dataset = Dataset.objects.get()
    assert (dataset.title, dataset.slug, dataset.owner) == ("own lakes", "own-lakes", owner)
    columns = client.get(response["Location"]).content.decode()
    assert [columns.count(f">Report {n} says so.</li>") for n in range(4)] == [1, 1, 1, 0]
    assert "Rows with the same text in claim are one claim." in columns
    dry = look(client, client.post(response["Location"], ROLES))
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    proposed, others = page.split("other tasks</summary>")
    assert "Claim and evidence, six-way stance" in proposed and "fits the file" in proposed
    assert "/studies/own-lakes/columns/?file=" in proposed
    assert "The lake never freezes." in proposed and "Report 0 says so." in proposed  # the picture
    assert "Claim and evidence, three-way stance" in others and "Context that suffices to answer" in others
    job = made(client, dry)
    project = Project.objects.get()
    assert (project.title, project.slug, project.overlap, project.items.count()) == ("Lakes", "lakes", 2, 6)
    page = client.get(f"/imports/{job.uuid}/").content.decode()
    assert f'href="/projects/{project.slug}/start/">Next' in page and "annotations" not in page
    page = client.get("/projects/lakes/start/").content.decode()
    assert "- **Refutes**: The evidence shows that the claim is false." in page
    sent = {"emails": "Ada <ada@x.example>, ben@x.example;ben@x.example\ncy@x.example", "markdown": "# Lakes"}
    sent |= {"labels_too": "on"}
    response = client.post("/projects/lakes/start/", sent)
    assert response.status_code == 302, response.content.decode()
    invited = Invitation.objects.order_by("email").values_list("email", "roles")
    assert list(invited) == [(f"{name}@x.example", ["annotator"]) for name in ("ada", "ben", "cy")]
    assert Guideline.objects.latest("version").markdown == "# Lakes"
    assert project.memberships.filter(user=owner, role=Membership.Role.ANNOTATOR).exists()


def test_each_part_is_found_again(client, owner):
    columns = drop(client, ("lakes.csv", OWN))["Location"]
    assert '<a href="/studies/lakes/">lakes</a>' in client.get("/studies/new/").content.decode()
    assert client.get("/studies/lakes/")["Location"] == columns
    again = drop(client, ("better.csv", OWN), address="/studies/lakes/file/")["Location"]
    assert client.get("/studies/lakes/")["Location"] == again != columns
    assert [one.file_name for one in Upload.objects.all()] == ["better.csv"]  # the first was never used
    dry = look(client, client.post(again, ROLES))
    assert client.get("/studies/lakes/")["Location"] == f"/imports/{dry.uuid}/"
    made(client, dry)
    assert client.get("/studies/lakes/")["Location"] == "/projects/lakes/"
    assert "Begun studies" not in client.get("/studies/new/").content.decode()
    assert "/projects/lakes/start/" in client.get("/projects/lakes/").content.decode()


def test_several_files_are_found_again_together(client):
    columns = drop(client, ("a.csv", OWN), ("b.csv", OWN.replace("lake", "river")))["Location"]
    client.logout()
    client.force_login(Dataset.objects.get().owner)
    found = client.get("/studies/a/")["Location"]
    assert found == columns and "1 more with the same columns" in " ".join(client.get(found).content.decode().split())


def test_bad_files_leave_nothing_behind(client):
    for name, data, words in (
        ("empty.csv", "", "empty.csv is empty"),
        ("header.csv", "claim,evidence\n\n", "header.csv has a header and no rows"),
        ("one.csv", "claim,claim\nA.,B.\n", "claim"),
        ("noise.csv", "\0\1\2", ""),
    ):
        response = drop(client, (name, data))
        assert response.status_code == 200 and words in response.content.decode(), name
        assert "errorlist" in response.content.decode() or "form-errors" in response.content.decode()
        assert not Dataset.objects.exists() and not Upload.objects.exists()
    assert drop(client)["Content-Type"] and not Dataset.objects.exists()


def test_columns_that_say_nothing_are_not_called_guessed(client):
    page = client.get(drop(client, ("a.csv", "Behauptung,Beleg\nA.,B.\n"))["Location"]).content.decode()
    assert "No name of a column says what it holds" in page and "Guessed" not in page
    assert 'layout=claim-evidence" aria-current="page"' in page


def test_bad_rows_are_left_out_or_the_file_is_replaced(client):
    dry = dry_run(client, data=OWN + "No evidence.,,\n")
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert "1 bad row" in page and "Leave out the bad row" in page and "/studies/own-lakes/file/" in page
    refused = client.post(f"/imports/{dry.uuid}/start/", TASK)
    assert refused.status_code == 422 and "leave them out, or correct the file" in refused.content.decode()
    assert made(client, dry, leave_out="on").state == "done"
    assert Project.objects.get().items.count() == 6


def test_a_task_that_the_file_has_nothing_for_is_refused(client):
    dry = dry_run(client)
    sent = TASK | {"task_type": "sufficient-context/-/1", "project_title": ""}
    page = client.post(f"/imports/{dry.uuid}/start/", sent)
    assert page.status_code == 422 and not Project.objects.exists()
    assert "The file has nothing to judge in this task (no question)" in page.content.decode()
    assert page.content.decode().count("This field is required") == 1


def test_a_second_tab_leads_to_the_study_that_the_first_made(client):
    dry = dry_run(client)
    answers = [client.post(f"/imports/{dry.uuid}/start/", TASK) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    look(client, answers[0])
    late = client.post(f"/imports/{dry.uuid}/start/", TASK | {"project_title": "Other"}, follow=True)
    assert late.redirect_chain[0][0] == "/projects/lakes/" and "created already" in late.content.decode()
    assert Project.objects.count() == 1


def test_a_file_with_labels_leads_to_its_figures(client):
    columns = drop(client, ("rated.csv", RATED))["Location"]
    page = client.get(columns).content.decode()
    dry = look(client, client.post(columns, as_shown(page)))
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert 'name="overlap" value="0"' in page and 'class="task-picture"' in page
    task = re.search(r'name="task_type" value="([^"]+)"[^>]*checked', page)[1]
    job = made(client, dry, task_type=task, overlap="0")
    assert job.state == "done", job.message
    assert Project.objects.get().type.dimensions[0].title
    page = client.get(f"/imports/{job.uuid}/").content.decode()
    assert "/comparison/" in page or "/agreement/" in page


def test_the_picture_of_a_comparison_has_the_outputs_of_the_file(client):
    rows = "Say hello,Good day.,Hi.,model_a,ann\nSay bye,Bye.,Ciao.,tie,ann\n"
    dry = look(client, drop(client, ("pairs.csv", f"prompt,response_a,response_b,winner,judge\n{rows}")))
    picture = client.get(f"/imports/{dry.uuid}/").content.decode().partition('class="task-picture"')[2]
    picture = picture.partition("other tasks")[0]
    assert "Good day." in picture and "Hi." in picture and "Ciao." not in picture
    assert [picture.count(f"Output {letter}") for letter in "ABC"] == [2, 2, 0]  # the text and its label


MARKED = "claim,evidence\n" + "".join(
    f"Claim {n}.,{f'**Report {n}** says so.' if n % 3 else f'Report {n} says so.'}\n" for n in range(150)
)


def test_markdown_is_proposed_with_the_reason_and_shown_so_once_confirmed(client):
    dry = dry_run(client, data=MARKED, roles={"role-0": "claim-evidence/claim", "role-1": "claim-evidence/evidence"})
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert dict(re.findall(r'name="format_(\w+)".*?value="(\w*)" selected', page, re.S)) == {
        "claim": "",
        "evidence": "markdown",
    }
    assert "Guessed: 66 of the first 100 look like Markdown." in page and page.count("Guessed: ") == 1
    assert "<details open><summary>How texts are shown</summary>" in page
    sent = {"format_claim": "plain", "format_evidence": "markdown"}
    refused = client.post(f"/imports/{dry.uuid}/start/", TASK | sent | {"format_claim": "word"})
    assert refused.status_code == 422 and not Dataset.objects.get().text_formats
    assert made(client, dry, **sent).state == "done"
    assert Dataset.objects.get().text_formats == {"claim": "plain", "evidence": "markdown"}


def test_plain_texts_are_asked_about_without_a_guess_and_a_choice_is_kept(client, owner):
    dry = dry_run(client, data=MARKED.replace("**Report 1** ", "Report 1 ").replace("**", ""))
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert "<details><summary>How texts are shown</summary>" in page and "Guessed: " not in page
    Dataset.objects.update(text_formats={"evidence": "html", "question": "markdown"})
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert 'value="html" selected' in page
    made(client, dry, format_evidence="", format_claim="")
    assert Dataset.objects.get().text_formats == {"question": "markdown"}  # of which the file has none


@pytest.mark.parametrize(
    ("text", "guess", "shown"),
    [
        ("<p><b>Froze</b>.</p>", "html", "Froze</span></strong>"),
        ("**Froze**.", "markdown", "Froze</span></strong>"),
        ("[user]\n\nWhy?\n\n[assistant]\n\n**So**.", "", 'class="turn is-user"'),
    ],
)
def test_the_picture_shows_texts_as_guessed(client, text, guess, shown):
    rows = "".join(f'Say hello {n}.,"{text}",Hi.,model_a,ann\n' for n in range(4))
    dry = look(client, drop(client, ("pairs.csv", f"prompt,response_a,response_b,winner,judge\n{rows}")))
    assert dry.result["looks"]["question"] == {"plain": 4}
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert re.findall(r'name="format_response".*?value="(\w*)" selected', page, re.S) == [guess]
    assert "Guessed: 4 of the first 8 look like" in page
    assert shown in page.partition('class="task-picture"')[2].partition("other tasks")[0]


def as_shown(page: str) -> dict[str, str]:
    """The form of the columns, sent as it came."""
    sent = dict(re.findall(r'name="((?:name|rater|scale)-\d)" value="([^"]*)"', page))
    for name, options in re.findall(r'<select[^>]* name="(role-\d)"(.*?)</select>', page, re.S):
        chosen = re.search(r'value="([^"]*)" selected', options)
        sent[name] = chosen[1] if chosen else ""
    return sent


@pytest.mark.parametrize(
    ("emails", "words"),
    [
        ("ada@x.example, ben", "Line 1: “ben” is not an email address"),
        ("Ada <ada@x>", "Line 1: “Ada &lt;ada@x&gt;” is not an email address"),
        (" ".join(f"p{n}@x.example" for n in range(101)), "101 addresses: invite at most 100 at once"),
        ("\n".join(["ada@x.example", *"abcde"]), "Line 6: “e” is not an email address"),
    ],
)
def test_wrong_addresses_are_named_and_nobody_is_invited(client, emails, words):
    made(client, dry_run(client))
    page = client.post("/projects/lakes/start/", {"emails": emails, "markdown": "# Other"})
    assert words in page.content.decode() and not Invitation.objects.exists()
    assert Guideline.objects.latest("version").markdown != "# Other"


def test_many_are_invited_by_one_connection_and_named_in_short(client, settings, monkeypatch):
    made(client, dry_run(client))
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    connections, connect = [], mail.get_connection
    monkeypatch.setattr(mail, "get_connection", lambda *how, **more: connections.append(1) or connect(*how, **more))
    emails = "\n".join(f"p{n}@x.example" for n in range(8))
    page = client.post("/projects/lakes/start/", {"emails": emails, "markdown": "x"}, follow=True).content.decode()
    assert len(mail.outbox) == 8 and len(connections) == 1
    assert "Invitation sent to p0@x.example" in page and "p4@x.example and 3 more" in page


def test_who_was_invited_is_not_invited_twice(client):
    made(client, dry_run(client))
    for _ in range(2):
        page = client.post("/projects/lakes/start/", {"emails": "ada@x.example", "markdown": "x"}, follow=True)
    assert Invitation.objects.count() == 1
    assert "Already invited or in the project: ada@x.example" in page.content.decode()


def test_a_second_study_of_a_file_of_the_same_name_can_be_told_from_the_first(client, owner):
    for _ in range(3):
        assert drop(client, ("judged lakes.csv", OWN)).status_code == 302
    first, *others = Dataset.objects.filter(owner=owner).order_by("pk").values_list("title", flat=True)
    assert others == [f"{first} (2)", f"{first} (3)"]
    long = "x" * 250
    for _ in range(2):
        assert drop(client, (f"{long}.csv", OWN)).status_code == 302
    assert len(set(Dataset.objects.values_list("title", flat=True))) == 5
    another = Client()
    another.force_login(make_user("another", is_staff=True))
    drop(another, ("judged lakes.csv", OWN))
    assert Dataset.objects.get(owner__name="another").title == first
