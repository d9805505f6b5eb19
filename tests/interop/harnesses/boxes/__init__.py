"""An environment of verifiers: two questions, and an agent that asks the model once."""

import httpx
import verifiers.v1 as vf


class BoxData(vf.TaskData):
    answer: str


class BoxTask(vf.Task[BoxData]):
    @vf.reward(weight=1.0)
    async def right(self, trace: vf.Trace) -> float:
        said = [node.message.content for node in trace.nodes if node.sampled]
        return float(self.data.answer in said[-1])


class BoxTaskset(vf.Taskset[BoxTask, vf.TasksetConfig]):
    def load(self):
        questions = [("How many red marbles?", "three"), ("Which sapphire?", "the blue one")]
        return [
            BoxTask(BoxData(idx=place, prompt=question, answer=answer), self.config.task)
            for place, (question, answer) in enumerate(questions)
        ]


class BoxHarness(vf.Harness[vf.HarnessConfig]):
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, **rest):
        body = {"model": ctx.model, "messages": [{"role": "user", "content": data.prompt}]}
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.post(f"{endpoint}/chat/completions", json=body, headers=headers)
        return vf.ProgramResult(exit_code=int(answer.is_error), stdout=answer.text, stderr="")


__all__ = ["BoxHarness", "BoxTaskset"]
