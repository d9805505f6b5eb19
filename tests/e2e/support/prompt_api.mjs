// A stand-in for Chrome's Prompt API, which behaves as the specification says (webmachinelearning/prompt-api):
// availability, a download with progress that needs a click, the order of roles, context limits, responseConstraint,
// abort and destroy. Its "model" chooses the first tool that the constraint allows, with the smallest arguments that fit.

/** For `init`: installs the stand-in; `globalThis.promptApi` is the test's handle to it. */
export function builtIn(options = {}) {
  return (context) => context.addInitScript(install, options);
}

/** For `init`: a browser without the API. */
export function withoutBuiltIn(context) {
  return context.addInitScript(() => delete globalThis.LanguageModel);
}

/** In the page. */
function install({ availability = "downloadable", contextWindow = 6000 }) {
  const control = { availability, contextWindow, hang: false, failDownload: false, holdAfter: 1, open: 0, most: 0, created: 0, aborted: 0, prompts: [] };
  globalThis.promptApi = control;
  const tokens = (text) => Math.ceil(text.length / 4);
  const size = (messages) => messages.reduce((sum, { content }) => sum + tokens(content) + 4, 0);

  class QuotaExceeded extends DOMException {
    constructor(requested, quota) {
      super("The input is too large.", "QuotaExceededError");
      Object.assign(this, { requested, quota });
    }
  }

  /** Longhand messages; only the first one of a session may be the system's. */
  function validated(input, hasInput) {
    const messages = typeof input === "string" ? [{ role: "user", content: input }] : input;
    messages.forEach(({ role, content }, place) => {
      if (!["system", "user", "assistant"].includes(role)) throw new TypeError(`${role} is no role.`);
      if (role === "system" && (hasInput || place > 0)) throw new TypeError("A system prompt must be the first message.");
      if (typeof content !== "string") throw new DOMException("Only text is expected.", "NotSupportedError");
    });
    return messages;
  }

  function checkLanguages({ expectedInputs = [], expectedOutputs = [] } = {}) {
    for (const { type, languages = [] } of [...expectedInputs, ...expectedOutputs]) {
      if (type !== "text" || languages.some((language) => !["en", "es", "ja"].includes(language))) return "unavailable";
    }
    return control.availability;
  }

  /** Rejects when one of the signals aborts. */
  function abortion(...signals) {
    return new Promise((_, reject) => {
      for (const signal of signals.filter(Boolean)) {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      }
    });
  }

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  /** The smallest value that fits a schema. */
  function value(schema, root) {
    if (schema.$ref) return value(root.$defs[schema.$ref.split("/").at(-1)], root);
    if ("const" in schema) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.anyOf) return value(schema.anyOf[0], root);
    switch (schema.type) {
      case "object":
        return Object.fromEntries((schema.required ?? []).map((key) => [key, value(schema.properties[key], root)]));
      case "integer":
      case "number":
        return schema.minimum ?? 1;
      case "boolean":
        return true;
      case "array":
        return [];
      default:
        return "Once there were five cats.";
    }
  }

  class LanguageModel extends EventTarget {
    #destruction = new AbortController();
    #usage;

    constructor(usage) {
      super();
      this.#usage = usage;
    }

    static async availability(options) {
      return checkLanguages(options);
    }

    static async create(options = {}) {
      const { initialPrompts = [], monitor, signal } = options;
      signal?.throwIfAborted();
      const messages = validated(initialPrompts, false);
      const stopped = abortion(signal);
      stopped.catch(() => {});
      const state = checkLanguages(options);
      if (state === "unavailable") throw new DOMException("The device is not able to run it.", "NotSupportedError");
      if (state !== "available" && !navigator.userActivation.isActive) {
        throw new DOMException("A user gesture is required.", "NotAllowedError");
      }
      const target = new EventTarget();
      monitor?.(target);
      const report = (loaded) => target.dispatchEvent(new ProgressEvent("downloadprogress", { loaded, total: 1 }));
      const parts = state === "available" ? [0, 1] : [0, 0.25, 0.5, 1];
      for (const part of parts) {
        if (state !== "available") {
          control.availability = "downloading";
          do await Promise.race([pause(20), stopped]);
          while (part > control.holdAfter);
          if (control.failDownload && part > 0) {
            control.availability = "downloadable";
            throw new DOMException("The download broke off.", "NetworkError");
          }
        }
        report(part);
      }
      control.availability = "available";
      if (size(messages) > control.contextWindow) throw new QuotaExceeded(size(messages), control.contextWindow);
      const session = new LanguageModel(size(messages));
      control.created += 1;
      control.open += 1;
      control.most = Math.max(control.most, control.open);
      signal?.addEventListener("abort", () => session.destroy());
      return session;
    }

    get contextUsage() {
      return this.#usage;
    }

    get contextWindow() {
      return control.contextWindow;
    }

    async measureContextUsage(input, { signal } = {}) {
      signal?.throwIfAborted();
      return size(validated(input, false));
    }

    async prompt(input, { responseConstraint, omitResponseConstraintInput = false, signal } = {}) {
      signal?.throwIfAborted();
      this.#destruction.signal.throwIfAborted();
      const messages = validated(input, this.#usage > 0);
      const constraint = omitResponseConstraintInput ? 0 : tokens(JSON.stringify(responseConstraint ?? ""));
      const requested = this.#usage + size(messages) + constraint;
      if (requested > control.contextWindow) throw new QuotaExceeded(requested, control.contextWindow);
      control.prompts.push(messages);
      const stopped = abortion(signal, this.#destruction.signal);
      stopped.catch(() => (control.aborted += 1));
      await Promise.race([control.hang ? new Promise(() => {}) : pause(1), stopped]);
      const answer = responseConstraint ? JSON.stringify(value(responseConstraint, responseConstraint)) : "OK.";
      this.#usage = requested + tokens(answer);
      return answer;
    }

    destroy() {
      if (this.#destruction.signal.aborted) return;
      control.open -= 1;
      this.#destruction.abort(new DOMException("The session was destroyed.", "AbortError"));
    }
  }

  Object.defineProperty(globalThis, "LanguageModel", { value: LanguageModel, configurable: true, writable: true });
}
