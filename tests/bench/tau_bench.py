"""How long the original takes for the gold actions of its retail tasks: python tau_bench.py CHECKOUT.

Prints one JSON object: seconds for all tasks, from reset to reward, tasks, and how many were rewarded.
"""

import json
import sys
import time
import types

# The simulated customer calls models through litellm; the customer here only ends the conversation.
sys.modules["litellm"] = types.ModuleType("litellm")
sys.modules["litellm"].completion = None
sys.path.insert(0, sys.argv[1])

from tau_bench.envs.retail import MockRetailDomainEnv
from tau_bench.types import Action


class Customer:
    """Ends the conversation whatever it is told."""

    def reset(self, instruction=None) -> str:
        return "Hello"

    def step(self, content: str) -> str:
        return "###STOP###"

    def get_total_cost(self) -> float:
        return 0.0


def reward(env: MockRetailDomainEnv, index: int) -> float:
    env.reset(task_index=index)
    task = env.tasks[index]
    for action in task.actions:
        response = env.step(action)
        if response.done:
            return response.reward
    content = " ".join(task.outputs)
    return env.step(Action(name="respond", kwargs={"content": content})).reward


env = MockRetailDomainEnv(user_strategy="human", task_index=0)
env.user = Customer()
tasks = range(len(env.tasks))
start = time.perf_counter()
rewarded = sum(reward(env, index) == 1.0 for index in tasks)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "tasks": len(tasks), "rewarded": rewarded}))
