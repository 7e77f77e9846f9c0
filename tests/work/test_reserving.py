"""Items for named people and groups, and kept from people: by page, table and API, and in taking work."""

import html
import re
from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.decisions.forms import ReservingForm
from annotation.jobs import lifecycle
from annotation.models import Assignment, Item, ItemExclusion, Job, Project
from annotation.projects import managing
from annotation.projects.queries.outlook import outlook
from annotation.projects.raters import rater_of, set_group
from annotation.work import assigning, reserving
from annotation.work.queries import work
from annotation.work.reserving import ItemRule
from tests.api.programs import Program
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = pytest.mark.django_db


def study(n: int = 4, people: int = 4, **fields):
    dataset = make_dataset()
    make_claim_evidence(dataset, n)
    users = [make_user() for _ in range(people)]
    project = make_project(dataset, annotators=users, **({"overlap": 2, "order": "file"} | fields))
    return project, [Annotator(user, project) for user in users], list(project.items.order_by("position"))


def rater(person):
    return rater_of(person.project, person.user)


def apply(project, rules):
    effect = reserving.apply(project, rules)
    project.refresh_from_db()
    return effect


def answered(person) -> list[str]:
    """Keys of the items that the person gets and answers, one after the other."""
    keys = []
    while (given := person.next())["state"] == "item":
        row = Assignment.objects.get(uuid=given["payload"]["assignment"])
        keys.append(row.item.key)
        assert person.submit(given["payload"]).status_code == 200
    return keys


def test_all_of_these_people_get_the_item_and_nobody_else_gets_their_places():
    project, (ann, bob, cleo, dan), items = study()
    named = ItemRule(people=(rater(cleo).pk, rater(dan).pk))
    effect = apply(project, {items[0].pk: named})
    assert effect == reserving.Reserved(items=1, reserved=2, added=0) and project.reserves_items
    others = [item.key for item in items[1:]]
    assert answered(ann) == answered(bob) == others
    assert answered(cleo) == [items[0].key] == answered(dan)
    assert outlook(ann.user, project).name == "finished"
    assert not Item.objects.filter(state="stuck").exists()


def test_places_are_added_where_more_people_are_named_than_are_open():
    project, (ann, bob, cleo, dan), items = study()
    everybody = ItemRule(people=tuple(rater(one).pk for one in (ann, bob, cleo)))
    assert apply(project, {items[0].pk: everybody}).added == 1
    items[0].refresh_from_db()
    assert items[0].planned == 3
    answered(dan)
    for person in (ann, bob, cleo):
        answered(person)
    who = Assignment.objects.filter(item=items[0], state="done").values_list("rater__user", flat=True)
    assert set(who) == {ann.user.pk, bob.user.pk, cleo.user.pk}
    again = apply(project, {items[0].pk: everybody})  # they have had it
    assert (again.reserved, again.added) == (0, 0)


def test_none_of_those_people_get_the_item():
    project, (ann, bob, cleo, _), items = study()
    apply(project, {item.pk: ItemRule(without=(rater(ann).pk,)) for item in items[:2]})
    assert answered(ann) == [item.key for item in items[2:]]
    assert answered(bob) == [item.key for item in items]
    assert work.progress(project, rater(ann))["mine_total_open"] == 0
    apply(project, {item.pk: ItemRule() for item in items})
    assert not project.reserves_items and not ItemExclusion.objects.exists()
    assert answered(ann) == [item.key for item in items[:2]]


def test_so_many_of_each_group_get_the_item():
    project, people, items = study(3, people=5, overlap=3)
    for person, group in zip(people, ("experts", "experts", "crowd", "crowd", "crowd"), strict=True):
        set_group(rater(person), group)
    apply(project, {item.pk: ItemRule(groups={"experts": 1, "crowd": 2}) for item in items})
    for person in reversed(people):
        answered(person)
    for item in items:
        done = Assignment.objects.filter(item=item, state="done").values_list("rater__group", flat=True)
        assert Counter(done) == {"experts": 1, "crowd": 2}


def test_a_named_person_who_takes_a_place_of_anybodys_takes_their_own():
    project, (ann, bob, cleo, _), items = study(1, overlap=3)
    apply(project, {items[0].pk: ItemRule(people=(rater(cleo).pk,))})
    free = Assignment.objects.filter(reserved_rater=None).first()
    Assignment.objects.filter(pk=free.pk).update(returned=True)  # it comes first
    taken = assigning.take(project, cleo.user)
    assert taken.pk == free.pk and taken.reserved_rater_id == rater(cleo).pk
    assert not Assignment.objects.filter(state="open", reserved_rater__isnull=False).exists()
    assert answered(ann) == answered(bob) == [items[0].key]


def test_what_is_left_for_me_counts_what_i_can_get():
    project, (ann, bob, _, _), items = study(4)
    apply(project, {item.pk: ItemRule(people=(rater(bob).pk,)) for item in items[:3]})
    apply(project, {items[3].pk: ItemRule(without=(rater(ann).pk,))})
    assert work.open_items_for(rater(ann)).count() == 3  # one place of each is anybody's
    apply(
        project,
        {item.pk: ItemRule(people=(rater(bob).pk, rater_of(project, make_member(project)).pk)) for item in items},
    )
    assert work.open_items_for(rater(ann)).count() == 0 and ann.next()["state"] == "empty"
    assert outlook(ann.user, project).name == "done"
    assert outlook(bob.user, project).name == "work"
    assert work.open_items_for(rater(bob)).count() == 4


def make_member(project):
    user = make_user()
    managing.add_member(project, user, "annotator")
    return user


def test_a_place_whose_person_skips_or_leaves_is_stuck_and_says_so():
    project, (ann, bob, _, _), items = study(1, overlap=1)
    apply(project, {items[0].pk: ItemRule(people=(rater(bob).pk,))})
    bob.skip(bob.next()["payload"])
    items[0].refresh_from_db()
    assert items[0].state == "stuck" and ann.next()["state"] == "empty"
    apply(project, {items[0].pk: ItemRule()})
    items[0].refresh_from_db()
    assert items[0].state == "active" and answered(ann) == [items[0].key]


def test_a_project_without_rules_takes_work_by_the_same_statements(django_assert_num_queries):
    project, (ann, *_), items = study()
    rater(ann)

    def statements() -> list[str]:
        with django_assert_num_queries(9, exact=False) as found:
            assigning.take(project, ann.user)
        return [one["sql"] for one in found.captured_queries]

    assert not any("reserved" in sql.split("WHERE")[-1] or "itemexclusion" in sql for sql in statements()[1:])


def test_the_page_shows_the_effect_first_and_then_applies_it():
    project, (ann, bob, *_), items = study(6)
    client = client_of(project.created_by)
    address = reverse("reserved_items", args=[project.slug])
    assert address in client.get(reverse("project_items", args=[project.slug])).content.decode()
    sent = {"filter": "", "search": "", "people": [rater(ann).pk, rater(bob).pk]}
    page = client.post(address, sent).content.decode()
    assert "Each item gets 2 places" in page and not Project.objects.get(pk=project.pk).reserves_items
    assert client.post(address, sent | {"without": [rater(ann).pk]}).context["form"].errors
    response = client.post(address, sent | {"confirmed": "1"})
    job = Job.objects.get(kind=Job.Kind.RESERVING)
    assert response["Location"].endswith(f"{job.uuid}/")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.result == {"items": 6, "reserved": 12, "added": 0}
    assert "Of these reserved now" in client.post(address, sent).content.decode()


def test_many_annotators_are_named_and_not_all_offered(monkeypatch):
    monkeypatch.setattr(ReservingForm, "MOST_OFFERED", 1)
    project, (ann, bob, *_), _ = study(2)
    client, address = client_of(project.created_by), reverse("reserved_items", args=[project.slug])
    assert 'type="checkbox"' not in client.get(address).content.decode()
    sent = {"people": f"{ann.user.email}; {rater(bob).pseudonym}", "confirmed": "1"}
    assert "no annotator of this project" in client.post(address, sent | {"without": "x"}).content.decode()
    client.post(address, sent)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.RESERVING))
    assert Assignment.objects.filter(reserved_rater__in=[rater(ann), rater(bob)]).count() == 4


def test_a_table_names_people_by_address_or_pseudonym_and_says_what_is_wrong():
    project, (ann, bob, *_), items = study(3)
    client = client_of(project.created_by)

    def send(text: str) -> str:
        file = SimpleUploadedFile("who.csv", text.encode(), content_type="text/csv")
        return client.post(
            reverse("reserve_by_table", args=[project.slug]), {"table": file}, follow=True
        ).content.decode()

    page = send(f"item,people\n{items[0].key},{ann.user.username}; nobody@example.org\n")
    assert (
        "Line 2: &#x27;nobody@example.org&#x27; is no annotator of this project" in page
        and "Nothing was changed" in page
    )
    page = send(f"item,people\nnope,\n{items[0].key},who\n")
    assert "2 lines to correct" in page and "Line 2: the project has no item" in page and "Line 3: &#x27;who" in page
    for text, words in (
        ("key,people\na,b\n", "needs the column item"),
        ("item,people\nnope,\n", "no item &#x27;nope&#x27;"),
        (f"item,groups\n{items[0].key},experts\n", "is not a group and a number"),
        (f"item,groups\n{items[0].key},experts:2\n", "2 of the group &#x27;experts&#x27; are asked for, and it has 0"),
        (f"item,people\n{items[0].key},\n{items[0].key},\n", "listed twice"),
    ):
        assert words in send(text)
    assert not Job.objects.filter(kind=Job.Kind.RESERVING).exists()
    set_group(rater(bob), "experts")
    rows = [f"{items[0].key},{ann.user.username},,", f"{items[1].key},,{rater(ann).pseudonym},experts:1"]
    page = send("\n".join(["item,people,without,groups", *rows]))
    assert f"for {ann.user}" in page and f"1 of experts; not for {ann.user}" in page
    assert not Job.objects.filter(kind=Job.Kind.RESERVING).exists()
    text = html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])
    client.post(reverse("reserve_by_table", args=[project.slug]), {"text": text, "confirmed": "1"})
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.RESERVING))
    assert Assignment.objects.get(reserved_rater=rater(ann)).item == items[0]
    assert Assignment.objects.get(reserved_group="experts").item == items[1]
    assert ItemExclusion.objects.get().rater == rater(ann)


def test_programs_reserve_items():
    project, (ann, bob, *_), items = study(3)
    program = Program(project.created_by)
    path = f"projects/{project.slug}/items/people/"
    body = {"items": [items[0].key], "people": [ann.user.email], "without": [str(bob.user.uuid)]}
    assert program.send(path, body).json() == {"items": 1, "reserved": 1, "added": 0}
    assert program.send(path, body | {"people": ["x@example.org"]}).status_code == 422
    assert program.send(path, body | {"items": ["nope"]}).status_code == 422
    assert answered(bob) == [item.key for item in items[1:]]


def test_groups_are_set_on_the_page():
    project, (ann, *_), _ = study(1)
    client = client_of(project.created_by)
    address = reverse("reserving_groups", args=[project.slug])
    client.post(address, {"annotator": rater(ann).pseudonym, "group": " experts "})
    assert rater(ann).group == "experts"
    page = client.get(reverse("reserved_items", args=[project.slug])).content.decode()
    assert "experts (1)" in page
    client.post(address, {"annotator": rater(ann).pseudonym, "group": "a:b"})
    assert rater(ann).group == "experts"
    assert client.post(address, {"annotator": "r-0", "group": "a"}).status_code == 404
