"""Who may get an account: whoever holds an invitation, and nobody else."""

from allauth.account.adapter import DefaultAccountAdapter


class InvitationOnlyAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request) -> bool:
        return False
