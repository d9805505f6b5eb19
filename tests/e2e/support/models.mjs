// A model for the page: a connection stored by an earlier visit, and the playground with the policy Model.

import { STORY } from "../../support/aimock.mjs";
import { HOME, visit } from "./browser.mjs";
import { Playground } from "./playground.mjs";
import { FAILED_LOADS } from "./providers.mjs";

/** A key that is found wherever it leaks. */
export const KEY = "sk-test-0123456789-secret";

/** What `visit` needs for a page that knows a model: connection and key were entered before. */
export function connected({ kind, base, model = "mock-model", key = KEY, generate }) {
  const connection = { name: "Test model", provider: kind, base_url: base, model, generate };
  const models = { list: [{ id: "1", connection }], default: "1" };
  const keys = [{ owner: "model.1", origin: new URL(base).origin, key }];
  return {
    origins: [new URL(base).origin],
    init: (context) =>
      context.addInitScript(
        ([home, models, keys]) => {
          if (!location.href.startsWith(home)) return;
          localStorage.setItem("volary.models", JSON.stringify(models));
          if (keys) sessionStorage.setItem("volary.keys", JSON.stringify(keys));
        },
        [HOME, models, key ? keys : null],
      ),
  };
}

/** The wire formats, as a connection names them, with where the fault server and aimock speak them. */
export const FORMATS = [
  { format: "chat", kind: "openai-chat", mock: "/v1" },
  { format: "responses", kind: "openai-responses", mock: "/v1" },
  { format: "anthropic", kind: "anthropic", mock: "" },
  { format: "gemini", kind: "gemini", mock: "" },
  { format: "mistral", kind: "mistral", mock: "/v1" },
];

/** The playground, played by a model. */
export class ModelPlayground extends Playground {
  constructor(page) {
    super(page);
    this.turn = this.transcript.getByRole("region", { name: /streaming/ });
    this.settings = page.getByRole("form", { name: "Policy settings" });
    this.inspector = page.getByRole("dialog", { name: "Request" });
  }

  /** Waits until it can be played, and leaves it to the model. */
  async seated() {
    await this.ready();
    await this.policy.selectOption("Model");
    await this.settings.getByLabel("Connection", { exact: true }).waitFor();
  }

  setting(name) {
    return this.settings.getByLabel(name, { exact: true });
  }

  /** Unfolds a group of settings. */
  async unfold(name) {
    await this.settings.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  }

  async dismissAlert() {
    await this.alert.getByRole("button", { name: "Dismiss" }).click();
  }
}

/** What a model may call in the environment dummy. */
export const story = (text = STORY) => ({ name: "print_story", arguments: { story: text } });
export const cast = (x) => ({ name: "cast_int", arguments: { x } });

/** Visits to the playground with a model of a provider in its seat. */
export function playedOn(provider) {
  return ({ format = "chat", hash = "#/run/dummy", init, ...options }, journey) => {
    const { kind } = FORMATS.find((known) => known.format === format);
    const seat = connected({ kind, base: provider.base(format) });
    const both = async (context) => {
      await seat.init(context);
      await init?.(context);
    };
    return visit({ hash, allowedErrors: FAILED_LOADS, ...seat, ...options, init: both }, async (page, about) => {
      const playground = new ModelPlayground(page);
      await playground.seated();
      await journey(playground, page, about);
    });
  };
}

/** Goes on after one story was told. */
export async function endless(playground) {
  await playground.field("end_immediately").uncheck();
  await playground.button("Reset").click();
  await playground.says("0 steps");
}
