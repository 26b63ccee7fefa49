"""Runs `az` commands, each in a process of its own that has the CLI's modules already loaded.

Loading them takes most of the time of a command. Reads one JSON list of words per line and answers
each with one JSON line: the exit status, standard output and standard error of the command.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile


def load_modules():
    from azure.cli.core import get_default_cli

    for group in ("container", "blob", "share", "file"):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            get_default_cli().invoke(["storage", group, "create" if group in ("container", "share") else "upload", "--help"])


def run(words):
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            run_in_child(words, output.fileno(), errors.fileno())
        _, state = os.waitpid(child, 0)
        return {
            "status": os.waitstatus_to_exitcode(state),
            "stdout": text_of(output),
            "stderr": text_of(errors),
        }


def run_in_child(words, output, errors):
    status = 1
    try:
        os.dup2(output, 1)
        os.dup2(errors, 2)
        sys.argv = ["az", *words]
        runpy.run_module("azure.cli", run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def text_of(file):
    file.seek(0)
    return file.read().decode("utf-8")


answers = os.fdopen(os.dup(1), "w")
load_modules()
for line in sys.stdin:
    answers.write(json.dumps(run(json.loads(line))) + "\n")
    answers.flush()
