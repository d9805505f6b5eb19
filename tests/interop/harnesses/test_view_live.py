"""`volary view` shows a log while inspect_ai writes it."""

import threading
import time
import urllib.error

import anyio
from conftest import PATIENCE
from inspect_ai import Task, eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver


def test_samples_are_found_while_others_run(view):
    view, logs = view
    told, seen, problems = threading.Event(), threading.Event(), []

    def listen():
        view.wait_for_change(".eval")
        told.set()

    def watch():
        try:
            assert told.wait(PATIENCE), "no event names the log"
            patience = time.monotonic() + PATIENCE
            while not view.found("marble"):
                assert time.monotonic() < patience, "the first sample is not found"
                time.sleep(0.1)
            assert not view.found("sapphire"), "the second sample is not there yet"
        except (AssertionError, urllib.error.URLError) as problem:
            problems.append(problem)
        seen.set()

    @solver
    def answer():
        async def solve(state, generate):
            # The second sample runs until somebody has seen the first.
            while state.sample_id == 2 and not seen.is_set():
                await anyio.sleep(0.05)
            state.completed = True
            return state

        return solve

    threads = [threading.Thread(target=work, daemon=True) for work in (listen, watch)]
    for thread in threads:
        thread.start()
    samples = [Sample(input="a red marble", id=1), Sample(input="a blue sapphire", id=2)]
    [log] = run_eval(
        Task(dataset=samples, solver=answer(), name="boxes"),
        model="mockllm/model",
        log_dir=str(logs),
        log_format="eval",
        log_buffer=1,
        max_samples=1,
        display="none",
    )
    assert log.status == "success", log.error
    assert not problems, problems
    assert len(view.found("marble")) == len(view.found("sapphire")) == 1
