from .fake_credentials import FakeTokenCredential


class AsyncFakeCredential(FakeTokenCredential):
    async def get_token(self, *_, **__):
        return super().get_token()

    async def close(self):
        pass

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass
