from azure.core.credentials import AccessToken

STORAGE_ACCOUNT_FAKE_KEY = "bm8ga2V5"


class FakeTokenCredential:
    """A token that no server accepts, and that has expired: clients get another each time."""

    def __init__(self):
        self.token = AccessToken("no token", 0)
        self.get_token_count = 0

    def get_token(self, *_, **__):
        self.get_token_count += 1
        return self.token
