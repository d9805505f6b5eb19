from aviary.core import Environment, Frame, Message, TaskDataset, Tool, ToolRequestMessage
from pydantic import BaseModel

CAPITALS = {
    "Norway": "Oslo",
    "Kenya": "Nairobi",
    "Peru": "Lima",
    "Vietnam": "Hanoi",
    "Portugal": "Lisbon",
    "Canada": "Ottawa",
}


class State(BaseModel):
    answer: str | None = None


class Capital(Environment[State]):
    """Name the capital of a country."""

    def __init__(self, country: str):
        self.country = country

    def submit_answer(self, city: str) -> str:
        """Submit the capital.

        Args:
            city: Name of the city.
        """
        self.state.answer = city
        return "Your answer was taken."

    async def reset(self) -> tuple[list[Message], list[Tool]]:
        self.state = State()
        self.tools = [Tool.from_function(self.submit_answer)]
        return [Message(content=f"What is the capital of {self.country}?")], self.tools

    async def step(self, action: ToolRequestMessage) -> tuple[list[Message], float, bool, bool]:
        messages = await self.exec_tool_calls(action, handle_tool_exc=True)
        answer = self.state.answer
        is_right = answer is not None and answer.strip().lower() == CAPITALS[self.country].lower()
        return messages, float(is_right), answer is not None, False

    async def get_id(self) -> str:
        return self.country

    def export_frame(self) -> Frame:
        return Frame(state=self.state, info={"country": self.country})


class Capitals(TaskDataset[Capital]):
    """Six questions about capitals."""

    def get_new_env_by_idx(self, idx: int) -> Capital:
        return Capital(list(CAPITALS)[idx])

    def __len__(self) -> int:
        return len(CAPITALS)
