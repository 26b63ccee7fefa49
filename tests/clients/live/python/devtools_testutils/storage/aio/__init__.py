from .. import GenericTestProxyParametrize1, GenericTestProxyParametrize2  # noqa: F401
from .. import LogCaptured  # noqa: F401
from .. import StorageRecordedTestCase as AsyncStorageRecordedTestCase  # noqa: F401
