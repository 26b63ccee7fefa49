import io
import logging
import math
import random
from datetime import datetime, timedelta

from .. import AzureRecordedTestCase


def generate_sas_token():
    """An account SAS that no server accepts."""
    from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

    return "?" + generate_account_sas(
        account_name="nobody",
        account_key="bm8ga2V5",
        resource_types=ResourceTypes(object=True),
        permission=AccountSasPermissions(read=True, list=True),
        expiry=datetime.utcnow() + timedelta(days=1),
    )


def _name_of(item):
    if isinstance(item, str):
        return item
    return item["name"] if isinstance(item, dict) else item.name


class StorageRecordedTestCase(AzureRecordedTestCase):
    logger = logging.getLogger("azure.storage")

    def setup_class(cls):
        cls.sas_token = generate_sas_token()

    def account_url(self, account, service):
        return f"https://{account}.{service}.core.windows.net"

    def connection_string(self, account, key):
        # Tests check that the names of the fields are read without regard to case.
        secret = getattr(key, "secret", key)
        end = "EndpoIntSuffix=core.windows.net"
        return f"DefaultEndpointsProtocol=https;AcCounTName={account};AccOuntKey={secret};{end}"

    def configure_logging(self):
        self.logger.setLevel(logging.WARNING)

    def enable_logging(self):
        self.logger.setLevel(logging.DEBUG)

    def get_random_bytes(self, size):
        return b"a" * size

    def get_random_text_data(self, size):
        words = random.Random(self.qualified_test_name)
        parts, length = [], 0
        while length < size:
            # Of one byte each: tests take the number of characters for the size.
            part = words.choice(["one ", "two ", "three "])
            parts.append(part)
            length += len(part)
        return "".join(parts)

    def assertNamedItemInContainer(self, container, item_name, msg=None):
        items = list(container)
        isThere = any(
            item_name in (_name_of(item), getattr(item, "snapshot", None)) for item in items
        )
        assert isThere, f"{item_name!r} is not in {[_name_of(item) for item in items]}"

    def assertNamedItemNotInContainer(self, container, item_name, msg=None):
        assert item_name not in [_name_of(item) for item in container]

    def assert_upload_progress(self, size, max_chunk_size, progress, unknown_size=False):
        assert len(progress) == math.ceil(size / max_chunk_size)
        for done, total in progress:
            assert done % max_chunk_size in (0, size % max_chunk_size)
            assert total == (None if unknown_size else size)

    def assert_download_progress(self, size, max_chunk_size, max_get_size, progress):
        chunks = math.ceil(max(size - max_get_size, 0) / max_chunk_size)
        assert len(progress) == 1 + chunks
        # The total of the first is that of the file, also if a range was asked for.
        assert all(total == size for _, total in progress[1:])

    def get_datetime_variable(self, variables, name, moment):
        return moment


class LogCaptured:
    """The log of the library within a `with` statement."""

    def __init__(self, test_case=None):
        self.test_case = test_case
        self._handler = None

    def __enter__(self):
        self.test_case.enable_logging()
        stream = io.StringIO()
        self._handler = logging.StreamHandler(stream)
        self.test_case.logger.addHandler(self._handler)
        return stream

    def __exit__(self, *_):
        self.test_case.logger.removeHandler(self._handler)
        self.test_case.configure_logging()
