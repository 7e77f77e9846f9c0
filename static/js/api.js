// The API's description as a page (Swagger UI), on <div id="api" data-schema="address" data-csrf="token">.
const page = document.getElementById("api");
window.SwaggerUIBundle({
  url: page.dataset.schema,
  domNode: page,
  deepLinking: true,
  requestInterceptor: (request) => {
    request.headers["X-CSRFToken"] = page.dataset.csrf;
    return request;
  },
});
