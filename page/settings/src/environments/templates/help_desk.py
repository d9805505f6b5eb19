from aviary.core import Environment, Frame, Message, Tool, ToolRequestMessage
from pydantic import BaseModel


class Order(BaseModel):
    item: str
    status: str
    price: float


class Desk(BaseModel):
    orders: dict[str, Order]
    refunded: list[str] = []
    answer: str | None = None


class HelpDesk(Environment[Desk]):
    """Answer a customer of a small shop, with a database of orders."""

    def __init__(self, order: str = "B2"):
        self.order = order

    def find_order(self, order_id: str, state: Desk) -> str:
        """Look an order up.

        Args:
            order_id: Such as A1.
            state: The database, which the agent does not see.
        """
        if order_id not in state.orders:
            raise KeyError(f"There is no order {order_id}.")
        return state.orders[order_id].model_dump_json()

    def refund(self, order_id: str, state: Desk) -> str:
        """Refund an order. Only orders that were not delivered yet can be refunded.

        Args:
            order_id: Such as A1.
            state: The database, which the agent does not see.
        """
        order = state.orders[order_id]
        if order.status == "delivered":
            raise ValueError("The order was delivered and can't be refunded.")
        order.status = "refunded"
        state.refunded.append(order_id)
        return f"Refunded {order.price:.2f}."

    def reply(self, text: str, state: Desk) -> str:
        """Reply to the customer, which ends the conversation.

        Args:
            text: The reply.
            state: The database, which the agent does not see.
        """
        state.answer = text
        return "The customer thanks you."

    async def reset(self) -> tuple[list[Message], list[Tool]]:
        self.state = Desk(
            orders={
                "A1": Order(item="lamp", status="delivered", price=39.0),
                "B2": Order(item="kettle", status="on its way", price=24.5),
                "C3": Order(item="desk", status="in preparation", price=180.0),
            }
        )
        self.tools = [Tool.from_function(tool) for tool in (self.find_order, self.refund, self.reply)]
        request = f"I don't need order {self.order} any more. Can I have my money back?"
        return [Message(content=request)], self.tools

    async def step(self, action: ToolRequestMessage) -> tuple[list[Message], float, bool, bool]:
        messages = await self.exec_tool_calls(action, state=self.state, handle_tool_exc=True)
        if self.state.answer is None:
            return messages, 0.0, False, False
        wanted = [] if self.order == "A1" else [self.order]
        return messages, float(self.state.refunded == wanted), True, False

    def export_frame(self) -> Frame:
        return Frame(state=self.state)
