"""What holds for every answer: nobody but its reader keeps it, and a job that is refused says why."""

from django.contrib import messages
from django.shortcuts import redirect, render

from annotation.jobs.lifecycle import SameJob, TooManyJobs


def private_answers(get_response):
    """Pages hold labels, links that let somebody in, and names: no proxy keeps them, no browser's cache does after
    somebody signed out, and no search engine lists them. A view that says something else keeps its word; static files
    never come here."""

    def answer(request):
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        response.headers.setdefault("X-Robots-Tag", "noindex, nofollow")
        return response

    return answer


class RefusedJobs:
    """Services refuse to queue a job; whichever page asked for it, the person is told in the same way."""

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
