"""The example of aviary's README, as fhaviary 0.37 runs it."""

from aviary.core import Environment, Frame, Message, Tool, ToolRequestMessage
from pydantic import BaseModel


class ExampleState(BaseModel):
    reward: float = 0
    done: bool = False


def print_story(story: str, state: ExampleState) -> None:
    """Print a story.

    Args:
        story: Story to print.
        state: Environment state, which the agent does not see.
    """
    print(story)
    state.reward = 1
    state.done = True


class ExampleEnv(Environment[ExampleState]):
    """Asks for a story of a few words."""

    def __init__(self, words: int = 5):
        self.words = words

    async def reset(self) -> tuple[list[Message], list[Tool]]:
        self.state = ExampleState()
        self.tools = [Tool.from_function(print_story)]
        start = Message(content=f"Write a {self.words} word story and call print_story")
        return [start], self.tools

    async def step(self, action: ToolRequestMessage) -> tuple[list[Message], float, bool, bool]:
        messages = await self.exec_tool_calls(action, state=self.state)
        return messages, self.state.reward, self.state.done, False

    def export_frame(self) -> Frame:
        return Frame(state=self.state, info={"tool_names": [tool.info.name for tool in self.tools]})
