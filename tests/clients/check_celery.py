"""celery: a worker takes tasks from the queue service and leaves results in the blob service."""

import subprocess
import sys

from example import app


@app.task(name="add")
def add(one: int, other: int) -> int:
    return one + other


if __name__ == "__main__":
    words = ["-A", "check_celery", "worker", "--pool", "solo", "--loglevel", "WARNING"]
    worker = subprocess.Popen([sys.executable, "-m", "celery", *words])
    try:
        results = [add.delay(number, number) for number in range(5)]
        assert [result.get(timeout=60) for result in results] == [0, 2, 4, 6, 8]
        results[0].forget()
    finally:
        worker.terminate()
        worker.wait(30)
