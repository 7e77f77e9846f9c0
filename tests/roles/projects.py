"""Pages of a project. Pattern -> status of GET and of POST for the roles in the order of `ROLES`."""

PROJECTS = {
    "projects/<slug:slug>/webhooks/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/new/": (
        (302, 403, 403, 403, 200, 403, 200),
        (302, 403, 403, 403, 200, 403, 200),
    ),
    "projects/<slug:slug>/": (
        (302, 404, 200, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/state/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/make-items/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/settings/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/settings/history.csv": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/progress/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/progress/mail/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/pay/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/pay/people.csv": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/pay/panel.csv": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/settings/history/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/questions/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/questions/preview/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/start/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/members/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/members/invite/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/members/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/last-days/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/study-links/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/study-links/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/study-links/<uuid:uuid>/state/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/return-code/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 403, 403, 404, 403),
    ),
    "projects/<slug:slug>/study-links/<uuid:uuid>/play/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/study-links/<uuid:uuid>/participants.csv": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/study-links/<uuid:uuid>/people/<uuid:person>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 404, 404, 404),
    ),
    # The world's annotator came by no link.
    "projects/<slug:slug>/taking-part/finish/": (
        (302, 404, 404, 404, 404, 404, 404),
        (302, 404, 404, 404, 404, 404, 404),
    ),
    "projects/<slug:slug>/questionnaires/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/questionnaires/<slug:moment>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/questionnaires/<slug:moment>/answers.csv": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    # The world's project asks nothing about people.
    "projects/<slug:slug>/taking-part/<slug:moment>/": (
        (302, 404, 302, 404, 404, 404, 404),
        (302, 404, 302, 404, 404, 404, 404),
    ),
    "projects/<slug:slug>/consent/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    # The world's project asks for no consent.
    "projects/<slug:slug>/taking-part/": (
        (302, 404, 200, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/taking-part/consent/": (
        (302, 404, 302, 404, 404, 404, 404),
        (302, 404, 302, 404, 404, 404, 404),
    ),
    "projects/<slug:slug>/taking-part/withdraw/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 302, 404, 404, 404, 404),
    ),
    "projects/<slug:slug>/members/<uuid:uuid>/withdraw/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/guidelines/": (
        (302, 404, 200, 200, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/my-work/pay/": (
        (302, 404, 404, 403, 403, 404, 403),  # the project shows no pay
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/my-work/hours.csv": (
        (302, 404, 200, 403, 403, 404, 403),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/comments/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/comments/<uuid:uuid>/": (
        (302, 404, 200, 200, 200, 404, 200),
        (302, 404, 422, 422, 422, 404, 422),
    ),
    "projects/<slug:slug>/my-work/": (
        (302, 404, 200, 403, 403, 404, 403),
        (302, 404, 400, 403, 403, 404, 403),
    ),
    "projects/<slug:slug>/items/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/items/priority/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/items/return/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/items/order/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/items/people/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/items/people/table/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/items/people/groups/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 404, 404, 404),
    ),
    "projects/<slug:slug>/items/stuck/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/key/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/learning/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/learning/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/more/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/release/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/withdraw/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/": (
        (302, 404, 403, 200, 403, 404, 403),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/adjudication/next/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/snapshot/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 302, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/guidelines/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 200, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/decide/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/undo/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/reveal/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/rules/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/rules/new/<slug:kind>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 200, 200, 404, 200),
    ),
    "projects/<slug:slug>/rules/<slug:name>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 400, 400, 404, 400),
    ),
    "projects/<slug:slug>/work/": (
        (302, 404, 200, 403, 403, 404, 403),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/work/worker.js": (
        (302, 404, 200, 403, 403, 404, 403),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/drafts/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/drafts/extract/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/drafts/extract/<slug:extractor>/estimate/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/drafts/publish/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/accept/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/of/<int:pk>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/drafts/of/<int:pk>/add/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/of/<int:pk>/accept/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/answers/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/answers/<slug:generator>/estimate/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/runs/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/runs/<slug:checker>/estimate/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/training/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/retrieval/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/retrieval/<slug:retriever>/estimate/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/prompts/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/prompts/estimate/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/prompts/<int:number>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/exports/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 200, 200, 404, 200),
    ),
    "projects/<slug:slug>/agreement/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/comparison/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/difference/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/annotators/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/alternative-annotator/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/prevalence/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/rates/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/coverage/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/card/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 302, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/<int:number>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/releases/<int:number>/withdraw/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/<int:number>/public/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/<int:number>/hub/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/releases/<int:number>/changes/<int:before>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 404, 403, 404, 404, 404, 404),
    ),
    "projects/<slug:slug>/reports/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/reports/<slug:name>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/pictures/<slug:report>/<slug:picture>.<slug:form>": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/tables/<slug:name>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/behind/<slug:name>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
}
