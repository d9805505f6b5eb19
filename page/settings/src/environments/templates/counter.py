from aviary.core import Environment, Frame, Message, Tool, ToolRequestMessage
from pydantic import BaseModel


class State(BaseModel):
    count: int = 0
    steps: int = 0


class Counter(Environment[State]):
    """Count up to a target, which must be hit exactly."""

    def __init__(self, target: int = 10, most_steps: int = 8):
        self.target = target
        self.most_steps = most_steps

    def add(self, number: int) -> str:
        """Add a number to the count.

        Args:
            number: From 1 to 5.
        """
        if not 1 <= number <= 5:
            raise ValueError("The number must be from 1 to 5.")
        self.state.count += number
        return f"The count is {self.state.count}."

    async def reset(self) -> tuple[list[Message], list[Tool]]:
        self.state = State()
        self.tools = [Tool.from_function(self.add)]
        return [Message(content=f"Count to exactly {self.target}.")], self.tools

    async def step(self, action: ToolRequestMessage) -> tuple[list[Message], float, bool, bool]:
        self.state.steps += 1
        messages = await self.exec_tool_calls(action, handle_tool_exc=True)
        is_hit = self.state.count == self.target
        is_missed = self.state.count > self.target
        truncated = not is_hit and self.state.steps >= self.most_steps
        return messages, float(is_hit), is_hit or is_missed, truncated

    def export_frame(self) -> Frame:
        return Frame(state=self.state, info={"target": self.target})
