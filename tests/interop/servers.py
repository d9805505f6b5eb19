"""Servers to talk to: ours, as a program, and the original's, in a thread."""

import contextlib
import json
import socket
import subprocess
import threading
import time

import uvicorn
from programs import program


def start_ours(*arguments, port=0, log=subprocess.DEVNULL):
    """Starts our server; gives its process and its address."""
    command = [program("volary"), "serve", "--port", str(port), *map(str, arguments)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    return server, server.stdout.readline().split()[-1]


@contextlib.contextmanager
def ours(*arguments, log=subprocess.DEVNULL):
    """Our server on a free port; gives its address."""
    server, url = start_ours(*arguments, log=log)
    with server:
        try:
            yield url
        finally:
            server.terminate()
            assert server.wait(30) == 0


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextlib.contextmanager
def theirs(dataset, api_key=None):
    """The original's server of a dataset on a free port; gives its address."""
    from aviary.core import TaskDatasetServer

    app = TaskDatasetServer(dataset, api_key=api_key).app
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def calculators(tasks):
    """The original's calculators of (question, answer) pairs, as a dataset."""
    from aviary.core import TaskDataset
    from aviary.envs.gsm8k import CalculatorEnv

    class Calculators(TaskDataset):
        def __len__(self):
            return len(tasks)

        def get_new_env_by_idx(self, idx):
            question, answer = tasks[idx]
            return CalculatorEnv(problem_id=str(idx), problem=question, answer=answer)

    return Calculators()


def write_gsm8k(path, tasks):
    """The same tasks as a file for our server."""
    lines = ({"question": q, "answer": f"#### {a}"} for q, a in tasks)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
