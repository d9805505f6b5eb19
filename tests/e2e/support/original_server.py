"""The original's TaskDatasetServer as it is shipped, over calculators.

original_server.py PORT [--origin ORIGIN] [--key KEY]; with an origin, CORS is added to its app the way the page's
own diagnosis says.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "interop"))

import uvicorn
from aviary.core import TaskDatasetServer
from servers import calculators

TASKS = [("What is 6 * 7?", 42), ("A third of 100?", 33.333333), ("Half of -7?", -3.5)]

arguments = argparse.ArgumentParser()
arguments.add_argument("port", type=int)
arguments.add_argument("--origin")
arguments.add_argument("--key")
given = arguments.parse_args()

server = TaskDatasetServer(calculators(TASKS), port=given.port, api_key=given.key)
if given.origin:
    from fastapi.middleware.cors import CORSMiddleware

    server.app.add_middleware(
        CORSMiddleware,
        allow_origins=[given.origin],
        allow_methods=["GET", "POST"],
        allow_headers=["Content-Type", "X-API-Key"],
    )
uvicorn.run(server.app, host="127.0.0.1", port=given.port, log_level="warning")
