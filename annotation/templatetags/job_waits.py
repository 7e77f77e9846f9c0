"""What an unfinished job waits for."""

from django import template

from annotation.jobs.queues import long_wait

register = template.Library()
register.filter("long_wait", long_wait)
