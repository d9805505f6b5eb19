// A small invented checkout with the layout of tau-bench, and the part of the page that imports it.

import { zippedTexts } from "./zip.mjs";

const ENVS = "tau_bench/envs";
/** The tasks of the test split of retail, as Python. */
const tasks = (name, list) => {
  const written = list.map(({ instruction, actions, outputs }) => {
    const calls = actions.map(([tool, kwargs]) => `Action(name="${tool}", kwargs=${JSON.stringify(kwargs)})`);
    return `    Task(
        annotator="0",
        user_id="ana_1",
        instruction="${instruction}",
        actions=[
            ${calls.join(",\n            ")}
        ],
        outputs=${JSON.stringify(outputs)},
    ),
`;
  });
  return `from tau_bench.types import Task, Action

${name} = [
${written.join("")}]
`;
};

const CANCEL = { order_id: "#W1", reason: "no longer needed" };

/** The files of a checkout by path, in the folder that a zip file of a branch has. */
export function checkout({ balance = 1 } = {}) {
  const order = (id) => ({
    order_id: id,
    user_id: "ana_1",
    status: "pending",
    items: [],
    payment_history: [{ transaction_type: "payment", amount: 4.5, payment_method_id: "card_1" }],
  });
  const files = {
    "README.md": "# An invented shop and airline",
    [`${ENVS}/retail/data/orders.json`]: JSON.stringify({ "#W1": order("#W1"), "#W2": order("#W2") }),
    [`${ENVS}/retail/data/products.json`]: "{}",
    [`${ENVS}/retail/data/users.json`]: JSON.stringify({
      ana_1: {
        email: "ana@example.com",
        payment_methods: { card_1: { source: "credit_card", id: "card_1", balance } },
        orders: ["#W1", "#W2"],
      },
    }),
    [`${ENVS}/retail/wiki.md`]: "# Retail policy\n\nCancel only pending orders.",
    [`${ENVS}/retail/tasks_test.py`]: tasks("TASKS_TEST", [
      {
        instruction: "You are Ana. You want to cancel order #W1.",
        actions: [["cancel_pending_order", CANCEL]],
        outputs: ["4.5"],
      },
      {
        instruction: "You are Ana. You want to know about order #W2.",
        actions: [["get_order_details", { order_id: "#W2" }]],
        outputs: [],
      },
    ]),
    [`${ENVS}/retail/tasks_dev.py`]: tasks("TASKS_DEV", [
      { instruction: "You are Ana.", actions: [["think", { thought: "Hm." }]], outputs: [] },
    ]),
    [`${ENVS}/airline/data/flights.json`]: "{}",
    [`${ENVS}/airline/data/reservations.json`]: "{}",
    [`${ENVS}/airline/data/users.json`]: JSON.stringify({ ana_1: { name: "Ana" } }),
    [`${ENVS}/airline/wiki.md`]: "# Airline policy",
    [`${ENVS}/airline/tasks_test.py`]: tasks("TASKS", [
      { instruction: "You are Ana.", actions: [["transfer_to_human_agents", { summary: "s" }]], outputs: [] },
    ]),
  };
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`tau-bench-main/${path}`, text]));
}

/** A checkout as a zip file. */
export const zipOf = (files) => zippedTexts(Object.entries(files));

/** tau-bench on the page of environments. */
export class CheckoutGroup {
  constructor(page) {
    this.page = page;
    this.group = page.getByRole("region", { name: "tau-bench" });
    this.alert = this.group.getByRole("alert");
    this.customer = this.group.getByLabel("Customer in tasks");
  }

  button(name) {
    return this.group.getByRole("button", { name, exact: true });
  }

  /** Drops files on the page. */
  async drop(name, bytes) {
    const transfer = await this.page.evaluateHandle(
      async ({ name, encoded }) => {
        const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], name));
        return transfer;
      },
      { name, encoded: bytes.toString("base64") },
    );
    await this.page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
    await this.page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  }

  async opened() {
    await this.button("Add folder").waitFor();
  }

  /** Drops a checkout and waits until it can be played. */
  async add(files) {
    await this.opened();
    await this.drop("tau-bench-main.zip", zipOf(files));
    await this.button("Play tau-retail").waitFor();
  }
}
