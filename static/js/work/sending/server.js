// The server's addresses from the page, and the requests that no answer depends on.

export function createServer(addresses) {
  const of = (template, assignment) => template.replace("__assignment__", encodeURIComponent(assignment));
  const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? addresses.csrf;

  // Somebody else may have signed in since, in another tab: nothing may be stored as theirs.
  const headers = () => ({ Accept: "application/json", "X-CSRFToken": token(), "X-Assay-User": addresses.user });

  async function getJson(url, options) {
    const response = await fetch(url, { headers: headers(), redirect: "manual", ...options });
    if (!response.ok) {
      const reply = await response.json().catch(() => null);
      throw Object.assign(new Error(String(response.status || 401)), { reply });
    }
    return response.json();
  }

  return {
    headers,
    submitUrl: (assignment) => of(addresses.submitUrl, assignment),
    shownUrl: (assignment) => of(addresses.shownUrl, assignment),
    skipUrl: (assignment) => of(addresses.skipUrl, assignment),
    item: (assignment) => getJson(of(addresses.itemUrl, assignment)),
    answered: (before) => getJson(`${addresses.answeredUrl}${before ? `?before=${before}` : ""}`),
    /** Whether it answers requests that have nothing to do with what is sent. */
    isServing: () => getJson(addresses.answeredUrl).then(() => true, (error) => Number(error.message) < 500),
    next: (after) => getJson(`${addresses.nextUrl}?ahead=1${after ? `&after=${after}` : ""}`),
    /** What is suggested about what is asked after `answers`; throws where that is not here in time. */
    async suggestions(assignment, answers, wait) {
      const stop = new AbortController();
      const limit = setTimeout(() => stop.abort(), wait);
      const all = { "Content-Type": "application/json", ...headers() };
      try {
        return await getJson(of(addresses.suggestionsUrl, assignment), { method: "POST", body: JSON.stringify({ answers }), headers: all, signal: stop.signal });
      } finally {
        clearTimeout(limit);
      }
    },
    shown(assignment, body) {
      const all = { "Content-Type": "application/json", ...headers() };
      const sent = fetch(of(addresses.shownUrl, assignment), { method: "POST", keepalive: true, body: JSON.stringify(body), headers: all });
      sent.catch(() => {}); // the submit carries the time as well
    },
    release(assignment) {
      const form = new FormData();
      form.append("csrfmiddlewaretoken", token());
      navigator.sendBeacon?.(of(addresses.releaseUrl, assignment), form);
    },
  };
}
