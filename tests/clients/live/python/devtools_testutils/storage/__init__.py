from .testcase import LogCaptured, StorageRecordedTestCase  # noqa: F401


def GenericTestProxyParametrize1():
    return lambda function: function


GenericTestProxyParametrize2 = GenericTestProxyParametrize1
