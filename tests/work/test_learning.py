"""Training, qualification and checks: items with a key, who is given them, and what follows from the answers."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.progress import people
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Annotation, Assignment, Item, ItemKey, KeyResult, Membership, Project, Rater
from annotation.projects import item_making, managing
from annotation.projects.queries.projects import project_rows
from annotation.work import assigning
from annotation.work.answer_rules import InvalidSubmission
from annotation.work.learning import giving, keys, standing
from annotation.work.queries import work
from tests.api.programs import Program
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator, answers_to
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def lead():
    return make_user("lead")


@pytest.fixture
def project(lead):
    dataset = make_dataset()
    make_claim_evidence(dataset, 12)
    made = make_project(dataset, overlap=1, annotators=[make_user("ann"), make_user("bob")])
    join(made, lead, Membership.Role.RESEARCHER)
    return made


def person(project, name):
    return Annotator(project.memberships.get(user__name=name).user, project)


def rater(project, name="ann"):
    return Rater.objects.get(project=project, user__name=name)


def key_of(project, item, choice=0):
    """A key with the label at `choice` of the first question."""
    dimension = project.type.asked_dimensions[0]
    unit = item.item_units.get().unit.key
    return [{"unit": unit, "dimension": dimension.slug, "label": dimension.shown_labels[choice].value}]


def set_apart(project, lead, purpose, n=1, **more):
    items = list(project.items.filter(state="active", annotations=None).order_by("-position")[:n])
    return [keys.set_apart(project, item, lead, purpose, key_of(project, item), **more) for item in reversed(items)]


def answer(who, given, right=True):
    reply = who.submit(given["payload"], answers_to(given["payload"], 0 if right else 1), want_next=True)
    assert reply.status_code == 200, reply.content
    return reply.json()


def test_an_item_that_is_set_apart_is_no_work_and_can_come_back(project, lead):
    [key] = set_apart(project, lead, "check")
    assert not key.item.assignments.filter(state="open").exists()
    assert work.count_progress([project])[project.pk]["open"] == 11
    assert keys.put_back(project, key.item)
    assert key.item.assignments.filter(state="open").count() == 1
    assert Item.objects.get(pk=key.item.pk).state == Item.State.ACTIVE


def test_a_key_needs_known_answers_to_known_questions(project, lead):
    item = project.items.first()
    for wrong in ([], [{"unit": "x", "dimension": "stance", "label": "supports"}], [{}], "no"):
        with pytest.raises(InvalidSubmission):
            keys.set_apart(project, item, lead, "training", wrong)


def test_an_item_with_answers_can_only_be_a_check_and_stays_as_it_is(project, lead):
    ann, bob = person(project, "ann"), person(project, "bob")
    given = ann.next()
    with pytest.raises(keys.ApartError, match="release it"):
        item = Assignment.objects.get(uuid=given["payload"]["assignment"]).item
        keys.set_apart(project, item, lead, "training", key_of(project, item))
    answer(ann, given)
    with pytest.raises(keys.ApartError, match="only be a check"):
        keys.set_apart(project, item, lead, "training", key_of(project, item))
    key = keys.set_apart(project, item, lead, "check", key_of(project, item))
    assert key.original == item and key.item != item
    assert Annotation.objects.filter(item=item).count() == 1
    Project.objects.filter(pk=project.pk).update(check_every=1)
    Assignment.objects.filter(state="leased").update(state="open", rater=None, lease_expires_at=None)
    project.refresh_from_db()
    assert not giving.unseen_checks(project, rater(project, "ann")).exists()
    assert Assignment.objects.get(uuid=bob.next()["payload"]["assignment"]).item == key.item
    assert item_making.count_missing([project])[project.pk] == 0


def test_training_comes_first_in_order_with_the_right_answer_after_each(project, lead):
    first, second = set_apart(project, lead, "training", 2, reason="Because of **this**.")
    ann = person(project, "ann")
    given = ann.next()
    assert Assignment.objects.get(uuid=given["payload"]["assignment"]).item == first.item
    assert "Because of" not in given["html"]
    assert ann.next(ahead=1, after=given["payload"]["assignment"])["state"] == "empty"
    reply = answer(ann, given, right=False)
    assert "Because of <strong>this</strong>" in reply["feedback"]
    given = reply["ahead"]
    assert Assignment.objects.get(uuid=given["payload"]["assignment"]).item == second.item
    reply = answer(ann, given)
    work_item = Assignment.objects.get(uuid=reply["ahead"]["payload"]["assignment"])
    assert work_item.reason == "planned" and rater(project).admitted_at
    assert [(one.right, one.asked) for one in KeyResult.objects.order_by("pk")] == [(0, 1), (1, 1)]
    assert reply["progress"]["mine"] == 0, "training is no work"
    assert "feedback" not in answer(ann, reply["ahead"])


def test_training_cannot_be_skipped_and_a_changed_answer_is_not_counted(project, lead):
    set_apart(project, lead, "training")
    ann = person(project, "ann")
    given = ann.next()
    assert ann.skip(given["payload"]).status_code == 409
    answer(ann, given, right=False)
    answer(ann, given, right=True)
    assert [one.right for one in KeyResult.objects.all()] == [0]


def test_who_fails_each_try_is_told_so_and_the_lead_lets_them_try_again(project, lead):
    set_apart(project, lead, "qualification", 2)
    ann = person(project, "ann")
    given, replies = ann.next(), []
    for _ in range(4):  # two tries of two items
        replies.append(answer(ann, given, right=False))
        given = replies[-1]["ahead"]
    assert "1 try left" in replies[1]["feedback"]
    assert given["outlook"] == "failed" and ann.next()["outlook"] == "failed"
    assert rater(project).standing == "failed"
    assert person(project, "bob").next()["payload"]["waits"]

    standing.decide_standing(project, rater(project), "try", lead)
    given = ann.next()
    for _ in range(2):
        reply = answer(ann, given)
        given = reply["ahead"]
    assert "passed" in reply["feedback"] and "waits" not in given["payload"]
    assert sorted(KeyResult.objects.filter(rater=rater(project)).values_list("attempt", flat=True)) == [
        1,
        1,
        2,
        2,
        3,
        3,
    ]
    with pytest.raises(standing.NotOffered):
        standing.decide_standing(project, rater(project), "try", lead)


def test_without_feedback_only_the_outcome_is_told(project, lead):
    set_apart(project, lead, "qualification", 2, reason="A secret reason")
    managing.update_project(project, by=lead, shows_keys=False)
    ann = person(project, "ann")
    reply = answer(ann, ann.next())
    assert reply["feedback"] == ""
    reply = answer(ann, reply["ahead"])
    assert "passed" in reply["feedback"] and "secret" not in reply["feedback"]


def test_a_lead_lets_a_person_in_in_the_middle_of_a_try(project, lead):
    set_apart(project, lead, "qualification", 2)
    ann = person(project, "ann")
    ann.next()
    standing.decide_standing(project, rater(project), "admit", lead)
    assert "waits" not in ann.next()["payload"]


def test_who_worked_before_there_was_training_goes_on(project, lead):
    ann = person(project, "ann")
    reply = answer(ann, ann.next())
    set_apart(project, lead, "training")
    assert "waits" not in ann.next()["payload"]
    assert reply["ahead"]["state"] == "item"
    assert person(project, "bob").next()["payload"]["waits"]


def work_through(who, right=lambda reason: True, most=40):
    """Answers all that comes; returns the reasons of the assignments."""
    given, reasons, replies = who.next(), [], []
    while given["state"] == "item" and len(reasons) < most:
        reason = Assignment.objects.get(uuid=given["payload"]["assignment"]).reason
        replies.append(answer(who, given, right(reason)))
        reasons.append(reason)
        given = replies[-1]["ahead"]
    return reasons, replies


def test_checks_come_one_in_so_many_items_at_places_that_can_be_recomputed(project, lead):
    set_apart(project, lead, "check", 3)
    managing.update_project(project, by=lead, check_every=3)
    project.refresh_from_db()
    reasons, replies = work_through(person(project, "ann"))
    expected, left = [], 3
    probe = rater(project)
    for turn in range(len(reasons)):
        probe.turn = turn
        is_check = left > 0 and giving.is_check_due(project, probe)
        left -= is_check
        expected.append("check" if is_check else "planned")
    assert reasons == expected and reasons.count("check") == 3 and reasons.count("planned") == 9
    progress = [reply["progress"]["mine"] for reply in replies]
    assert progress == list(range(1, 13)), "a check counts as any item"
    assert not project.cases.exists()


def test_a_skipped_check_opens_no_place_and_can_be_taken_back(project, lead):
    [key] = set_apart(project, lead, "check")
    managing.update_project(project, by=lead, check_every=1)
    ann = person(project, "ann")
    payload = ann.next()["payload"]
    assert ann.skip(payload).status_code == 200
    assert list(key.item.assignments.exclude(state="cancelled").values_list("state", flat=True)) == ["skipped"]
    assert ann.post(payload["assignment"], "take-back").status_code == 200
    answer(ann, {"payload": payload})
    assert KeyResult.objects.get().purpose == "check"


def test_a_flagged_check_is_among_the_flagged_items_of_the_overview(project, lead):
    set_apart(project, lead, "check")
    managing.update_project(project, by=lead, check_every=1)
    ann = person(project, "ann")
    assert ann.skip(ann.next()["payload"], "broken", flag=True).status_code == 200
    assert Assignment.objects.get(is_flagged=True).reason == "check"
    client = client_of(lead)
    assert "1 flagged item</a>" in client.get(f"/projects/{project.slug}/").content.decode()
    [row] = client.get(f"/projects/{project.slug}/items/", {"filter": "flagged"}).context["rows"]
    assert row.item.state == "apart"


def test_an_answer_from_another_device_to_a_try_that_has_ended_counts_for_no_other_try(project, lead):
    set_apart(project, lead, "qualification")
    project.refresh_from_db()
    ann = person(project, "ann")
    phone, laptop = ann.next()["payload"], ann.next()["payload"]
    answer(ann, {"payload": phone}, right=False)
    refused = ann.submit(laptop)
    assert refused.status_code == 404 and "not assigned to you any more" in refused.json()["message"]
    assert list(KeyResult.objects.values_list("attempt", "right")) == [(1, 0)] and rater(project).attempt == 2
    answer(ann, ann.next())
    assert rater(project).admitted_at


def test_a_late_answer_to_a_check_counts(project, lead):
    set_apart(project, lead, "check")
    managing.update_project(project, by=lead, check_every=1)
    ann = person(project, "ann")
    given = ann.next()
    Assignment.objects.filter(reason="check").update(lease_expires_at="2020-01-01T00:00:00Z")
    assigning.return_expired_leases(project)
    assert Assignment.objects.get(reason="check").state == "cancelled"
    reply = answer(ann, given)
    assert not reply["surplus"] and KeyResult.objects.get().right == 1


@pytest.mark.parametrize("action", ["none", "warn", "pause", "ask"])
def test_what_follows_from_failed_checks(project, lead, action, django_capture_on_commit_callbacks):
    set_apart(project, lead, "check", 4)
    rule = {"check_every": 2, "check_action": action, "check_failures": 2, "check_window": 2}
    managing.update_project(project, by=lead, **rule)
    ann = person(project, "ann")
    with django_capture_on_commit_callbacks(execute=True):
        reasons, replies = work_through(ann, right=lambda reason: reason != "check")
    warned = [reply for reply in replies if "warning" in reply]
    now = rater(project)
    if action == "none":
        assert not warned and now.standing == "" and len(reasons) == 12
    elif action == "warn":
        assert len(warned) >= 1 and "guidelines" in warned[0]["warning"]
        assert replies.index(warned[0]) > [n for n, one in enumerate(reasons) if one == "check"][1]
    elif action == "ask":
        assert now.standing == "asked" and len(reasons) == 12
    else:
        assert now.standing == "paused" and reasons.count("check") == 2 and ann.next()["outlook"] == "held"
        assert not Assignment.objects.filter(rater=now, state="leased").exists()
        standing.decide_standing(project, now, "go-on", lead)
        assert ann.next()["state"] == "item"


def test_keys_and_results_are_in_no_figure_and_no_export(project, lead):
    set_apart(project, lead, "training", 2)
    ann = person(project, "ann")
    for _ in range(2):
        answer(ann, ann.next())
    source = DatabaseSource(project)
    assert len(source.unit_frame(project.type.unit_kind)) == 10
    assert ItemKey.objects.count() == 2 and Annotation.objects.count() == 2


def test_a_researcher_sets_an_item_apart_on_its_page(project, lead):
    item = project.items.first()
    client = client_of(lead)
    address = f"/projects/{project.slug}/items/{item.uuid}/key/"
    form = client.get(address).context["form"]
    [name] = [name for name, (_, dimension) in form.places.items() if dimension == project.type.asked_dimensions[0]]
    label = project.type.asked_dimensions[0].shown_labels[0].value
    refused = client.post(address, {"purpose": "training"})
    assert "needs the right answer" in refused.content.decode()
    sent = {"purpose": "check", "reason": "See the text.", "is_loud": "on", name: label}
    assert client.post(address, sent).status_code == 302
    key = ItemKey.objects.get()
    assert (key.item, key.purpose, key.is_loud, key.answers[0]["label"]) == (item, "check", True, label)
    assert client.get(address).context["form"].initial["reason"] == "See the text."
    assert client.post(address, {"remove": "1"}).status_code == 302
    assert not ItemKey.objects.exists()


def test_a_key_begins_as_decisions_or_agreeing_answers_say(project, lead):
    ann = person(project, "ann")
    given = ann.next()
    answer(ann, given)
    item = Assignment.objects.get(uuid=given["payload"]["assignment"]).item
    proposed = keys.propose_key(project, item)
    assert proposed and proposed[0]["label"] == answers_to(given["payload"])[0]["label"]


def test_items_are_set_apart_by_a_table_and_what_is_wrong_is_said_by_line(project, lead):
    first, second = project.items.order_by("position")[:2]
    dimension = project.type.asked_dimensions[0]
    rows = [
        f"key,purpose,{dimension.slug},reason",
        f"{first.key},training,{dimension.shown_labels[0].title},Because.",
        f"{second.key},check,nonsense,",
        f"gone,check,{dimension.shown_labels[0].value},",
    ]
    file = SimpleUploadedFile("keys.csv", "\n".join(rows).encode())
    reply = client_of(lead).post(f"/projects/{project.slug}/learning/", {"file": file, "purpose": "check"})
    text = reply.content.decode()
    assert "1 item was set apart" in text and "Line 3: " in text and "Line 4: There is no item" in text
    assert list(ItemKey.objects.values_list("item__key", "purpose", "reason")) == [(first.key, "training", "Because.")]
    bad = SimpleUploadedFile("keys.csv", b"a,b\n1,2")
    reply = client_of(lead).post(f"/projects/{project.slug}/learning/", {"file": bad, "purpose": "check"})
    assert "needs a column key" in reply.content.decode()


def test_results_of_people_are_listed_in_as_many_queries_however_many_there_are(project, lead):
    set_apart(project, lead, "training", 2)
    client, address = client_of(lead), f"/projects/{project.slug}/learning/"
    ann = person(project, "ann")
    answer(ann, answer(ann, ann.next())["ahead"], right=False)
    assert "1 of 2 (9–91 %)" in client.get(address).content.decode()
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for _ in range(5):
        join(project, make_user(), Membership.Role.ANNOTATOR)
    set_apart(project, lead, "check", 3)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) <= len(few)


def test_a_lead_decides_on_the_page(project, lead):
    set_apart(project, lead, "qualification")
    ann = person(project, "ann").user
    person(project, "ann").next()
    address = f"/projects/{project.slug}/learning/{ann.uuid}/"
    assert client_of(lead).post(address, {"way": "admit"}).status_code == 302
    assert rater(project).admitted_at
    [change] = project.settings_changes.filter(what="learning")
    assert change.about == str(rater(project))


def test_programs_set_items_apart_and_read_results(project, lead):
    program, place = Program(lead), f"projects/{project.slug}"
    first, second = project.items.order_by("position")[:2]
    body = {"item": first.key, "purpose": "training", "answers": key_of(project, first), "reason": "Because."}
    assert program.send(f"{place}/keys/", body).json()["purpose"] == "training"
    assert program.send(f"{place}/keys/", body | {"item": second.key, "answers": []}).status_code == 422
    assert program.send(f"{place}/keys/", body | {"item": "gone"}).status_code == 422
    answer(person(project, "ann"), person(project, "ann").next())
    [result] = program.read(f"{place}/key-results/")["results"]
    assert (result["right"], result["asked"], result["rater"]) == (1, 1, rater(project).pseudonym)
    assert program.send(f"{place}/keys/", {"item": second.key, "remove": True}).status_code == 409
    assert program.send(f"{place}/keys/", {"item": first.key, "remove": True}).status_code == 200
    assert program.read(f"{place}/keys/")["results"] == []


def statements_of_taking(project, user):
    assigning.take(project, user)
    with CaptureQueriesContext(connection) as queries:
        assigning.take(project, user, ahead=True, after=assigning.take(project, user).uuid)
    return len(queries)


def test_taking_work_where_there_are_checks_takes_one_statement_more(project, lead):
    ann, bob = person(project, "ann").user, person(project, "bob").user
    without = statements_of_taking(project, ann)
    set_apart(project, lead, "check")
    managing.update_project(project, by=lead, check_every=10_000)
    assert statements_of_taking(project, bob) <= without + 1


def test_the_report_on_annotators_shows_checks_and_leaves_out_who_failed(project, lead):
    Project.objects.filter(pk=project.pk).update(overlap=2)
    for item in project.items.all():
        Assignment.objects.create(project=project, item=item, position=item.position)
    set_apart(project, lead, "check", 4)
    managing.update_project(project, by=lead, check_every=2)
    work_through(person(project, "ann"))
    work_through(person(project, "bob"), right=lambda reason: reason != "check")
    report = get_report("annotators")
    checks = report.compute(project)["checks"]
    shares = {one["name"]: (one["n_passed"], one["n"]) for one in checks["people"]}
    assert shares == {"ann": (4, 4), "bob": (0, 4)}
    first = checks["agreement"][0]
    assert first["everybody"]["undefined"] or first["everybody"]["estimate"] is not None
    assert first["passed"]["estimate"] is None, "one person is left"
    assert len(report.compute(project, passed="50")["dimensions"][0].get("raters", [])) <= 1
    assert report.compute(project, passed="50")["dimensions"][0]["n_raters"] == 1
    page = client_of(lead).get(f"/projects/{project.slug}/annotators/").content.decode()
    assert "Labels that count" in page
    [row], shown = project_rows(lead, [project]), people.progress_of(project, people.counted_people(project))
    assert (row.team_done, row.team_total) == (shown.done, shown.total) == (2 * 8 + 8, 2 * 8 + 8)
