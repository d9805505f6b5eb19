import random

from aviary.core import Environment, Frame, Message, Tool, ToolRequestMessage
from pydantic import BaseModel


class Room(BaseModel):
    temperature: float
    outside: float
    heating: float = 0.0
    minute: int = 0


class Thermostat(Environment[Room]):
    """Keep a room between 20 and 22 degrees while the weather changes."""

    def __init__(self, minutes: int = 12):
        self.minutes = minutes

    def set_heating(self, power: float, state: Room) -> str:
        """Set the heating for the next five minutes.

        Args:
            power: From 0, off, to 1, full power.
            state: The room, which the agent does not see.
        """
        state.heating = min(1.0, max(0.0, power))
        return f"The heating is at {state.heating:.0%}."

    async def reset(self) -> tuple[list[Message], list[Tool]]:
        self.state = Room(temperature=random.uniform(16, 25), outside=random.uniform(-5, 12))
        self.tools = [Tool.from_function(self.set_heating)]
        return [Message(content=f"Keep the room between 20 and 22 degrees. {self.report()}")], self.tools

    def report(self) -> str:
        return f"Inside {self.state.temperature:.1f} °C, outside {self.state.outside:.1f} °C."

    async def step(self, action: ToolRequestMessage) -> tuple[list[Message], float, bool, bool]:
        messages = await self.exec_tool_calls(action, state=self.state, handle_tool_exc=True)
        room = self.state
        room.outside += random.uniform(-1, 1)
        room.temperature += 3.0 * room.heating - 0.08 * (room.temperature - room.outside)
        room.minute += 1
        is_comfortable = 20 <= room.temperature <= 22
        messages.append(Message(content=self.report()))
        return messages, 1 / self.minutes if is_comfortable else 0.0, room.minute >= self.minutes, False

    def export_frame(self) -> Frame:
        return Frame(state=self.state)
