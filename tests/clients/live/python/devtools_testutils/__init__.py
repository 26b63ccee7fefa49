"""What the live tests of Azure's Python libraries import of their unpublished helpers: account
names and keys from the environment, credentials, and names of resources. Nothing is recorded."""

import asyncio
import functools
import hashlib
import inspect
import os
import time
from unittest import mock

import pytest
from azure import identity
import azure.identity.aio

from .fake_credentials import FakeTokenCredential  # noqa: F401


def __getattr__(name):
    """Sanitizers and matchers concern recordings."""
    if name.startswith(("add_", "remove_", "set_")):
        return lambda *_, **__: None
    raise AttributeError(name)


def is_live():
    return True


@pytest.fixture(scope="session")
def test_proxy():
    yield


test_proxy.__test__ = False


def wrapped(function, provide, provided=()):
    """The function with further keyword arguments. Names in `provided` are not fixtures."""

    def arguments(given):
        found = {**given, **provide()}
        parameters = inspect.signature(function).parameters.values()
        if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
            return found
        names = {one.name for one in parameters}
        return {name: value for name, value in found.items() if name in names}

    if asyncio.iscoroutinefunction(function):

        async def wrapper(*args, **kwargs):
            await function(*args, **arguments(kwargs))

    else:

        def wrapper(*args, **kwargs):
            function(*args, **arguments(kwargs))

    functools.update_wrapper(wrapper, function)
    del wrapper.__wrapped__
    signature = inspect.signature(function)
    kept = [one for one in signature.parameters.values() if one.name not in provided]
    wrapper.__signature__ = signature.replace(parameters=kept)
    return wrapper


class Secret:
    """The value of an environment variable that is not to be printed."""

    def __init__(self, secret):
        self.secret = secret


class EnvironmentVariableOptions:
    def __init__(self, *, hide_secrets=()):
        self.hide_secrets = {name.lower() for name in hide_secrets}


class EnvironmentVariableLoader:
    """Passes environment variables to a test. The values of the keywords are for recordings."""

    def __init__(self, _service, *_, options=None, **names):
        self._names = [name.lower() for name in names]
        self._hidden = options.hide_secrets if options else ()

    def _values(self):
        values = {name: os.environ[name.upper()] for name in self._names}
        return {
            name: Secret(value) if name in self._hidden else value
            for name, value in values.items()
        }

    def __call__(self, function):
        return wrapped(function, self._values, self._names)


PowerShellPreparer = EnvironmentVariableLoader


def recorded_by_proxy(function):
    """The test gets an empty dictionary for values that a recording would keep."""
    return wrapped(function, lambda: {"variables": {}}, ("variables",))


_IDENTITY = ("IDENTITY_ENDPOINT", "IDENTITY_HEADER")


def _identity_variables():
    """Set only while a token is fetched, because tests expect that credentials that they create
    themselves find no managed identity."""
    return mock.patch.dict(os.environ, {name: os.environ["LIVE_" + name] for name in _IDENTITY})


class Identity(identity.ManagedIdentityCredential):
    def get_token(self, *args, **kwargs):
        with _identity_variables():
            return super().get_token(*args, **kwargs)

    def get_token_info(self, *args, **kwargs):
        with _identity_variables():
            return super().get_token_info(*args, **kwargs)


class AsyncIdentity(identity.aio.ManagedIdentityCredential):
    async def get_token(self, *args, **kwargs):
        with _identity_variables():
            return await super().get_token(*args, **kwargs)

    async def get_token_info(self, *args, **kwargs):
        with _identity_variables():
            return await super().get_token_info(*args, **kwargs)


def get_credential(is_async=False, **kwargs):
    with _identity_variables():
        return AsyncIdentity(**kwargs) if is_async else Identity(**kwargs)


class AzureRecordedTestCase:
    is_live = True
    in_recording = True

    @property
    def qualified_test_name(self):
        return os.environ["PYTEST_CURRENT_TEST"].split(" ")[0]

    def is_playback(self):
        return False

    def get_settings_value(self, key):
        return os.environ["AZURE_" + key]

    def get_credential(self, _client_class, **kwargs):
        return get_credential(**kwargs)

    def get_resource_name(self, prefix):
        """The same name again within a test."""
        digest = hashlib.sha256(self.qualified_test_name.encode()).hexdigest()
        return prefix + digest[:8]

    def generate_sas(self, function, *args, **kwargs):
        return function(*args, **kwargs)

    def sleep(self, seconds):
        time.sleep(min(seconds, float(os.environ.get("LIVE_SLEEP_MAX", "inf"))))


class ResponseCallback:
    """Replaces the status of responses, as a hook of the pipeline."""

    def __init__(self, status=None, new_status=None):
        self.status = status
        self.new_status = new_status
        self.count = 0
        self._is_first = True

    def override_status(self, response):
        if response.http_response.status_code == self.status:
            response.http_response.status_code = self.new_status
        self.count += 1

    def override_first_status(self, response):
        if self._is_first and response.http_response.status_code == self.status:
            response.http_response.status_code = self.new_status
            self._is_first = False
        self.count += 1


class RetryCounter:
    def __init__(self):
        self.count = 0

    def simple_count(self, _context):
        self.count += 1
