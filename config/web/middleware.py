"""What holds for every answer: nobody but its reader keeps it, a missing last slash loses nothing, and a job that is
refused says why."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware
from django.shortcuts import redirect, render
from django.utils.http import escape_leading_slashes

from annotation.jobs.lifecycle import SameJob, TooManyJobs


def private_answers(get_response):
    """Pages hold labels, links that sign a person in, and names: no proxy keeps them, no browser's cache does after
    signing out, and no search engine lists them. A view that says something else keeps its word; static files never
    come here."""

    def answer(request):
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        response.headers.setdefault("X-Robots-Tag", "noindex, nofollow")
        return response

    return answer


class AppendedSlash(CommonMiddleware):
    """An address without its last slash leads to the one with it. What was posted is posted there again (308): after
    Django's 301, programs would read the list that they meant to add to, and take that for success."""

    response_redirect_class = staticmethod(partial(HttpResponsePermanentRedirect, preserve_request=True))

    def get_full_path_with_slash(self, request):
        return escape_leading_slashes(request.get_full_path(force_append_slash=True))


class RefusedJobs:
    """Services refuse to queue a job; all pages show the reason in the same way."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_exception(self, request, exception):
        if isinstance(exception, SameJob):
            messages.info(request, str(exception))
            return redirect("job_detail", uuid=exception.job.uuid)
        if isinstance(exception, TooManyJobs):
            return render(request, "429.html", {"exception": str(exception)}, status=429)
        return None
