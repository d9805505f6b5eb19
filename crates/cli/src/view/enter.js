// In the page of `volary view`, for a browser without its cookie: exchanges the token, which the fragment of the address
// holds, for the cookie. The page starts after that (src/start.js); its code is loading meanwhile.
"use strict";
{
  const HOME = "#/review";

  /** Returns why the token was refused, or an empty text. */
  const refusal = async (token) => {
    try {
      const response = await fetch("./api/session", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token }),
      });
      if (response.ok) return "";
      return response.status === 403 ? "That token is wrong." : `The server answered ${response.status}.`;
    } catch {
      return "The server does not answer. Is `volary view` running?";
    }
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  /** Asks for the token until it is right. */
  const ask = async (why) => {
    if (document.readyState === "loading") await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve, { once: true }));
    const token = element("input", { type: "password", autocomplete: "off", required: true });
    const wrong = element("p", { role: "alert", textContent: why });
    const command = element("code", { textContent: "volary view" });
    const form = element(
      "form",
      { className: "entrance" },
      element("h1", { textContent: "Volary" }),
      element("p", {}, "This browser has not been let in. Open the address that ", command, " printed, or enter its token or key."),
      element("label", {}, "Token or key", token),
      wrong,
      element("button", { className: "primary", textContent: "Open" }),
    );
    const main = element("main", {}, form);
    document.body.append(main);
    token.focus();
    await new Promise((resolve) =>
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        wrong.textContent = await refusal(token.value);
        if (!wrong.textContent) resolve();
      }),
    );
    main.remove();
  };

  const parameters = new URLSearchParams(location.hash.slice(1));
  const token = parameters.get("token");
  const to = parameters.get("to");
  // The token must not stay in the address or in the history.
  if (!location.hash.startsWith("#/")) {
    history.replaceState(null, "", `${location.pathname}${to?.startsWith("/review") ? `#${to}` : HOME}`);
  }
  globalThis.admitted = (async () => {
    const why = token && (await refusal(token));
    if (!token || why) await ask(why ?? "");
    // The page fetches it as soon as its code runs.
    const library = document.querySelector("link[rel=volary-library]");
    Object.assign(library, { as: "fetch", crossOrigin: "anonymous", rel: "volary-library preload" });
  })();
}
