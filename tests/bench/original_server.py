"""The original's server as it is shipped, on the port that is given."""

import sys

from aviary.core import DummyTaskDataset, TaskDatasetServer

TaskDatasetServer(DummyTaskDataset(), host="127.0.0.1", port=int(sys.argv[1])).start()
