// The widget of volary.show: a frame with the page's view for frames, and messages between it and the kernel. The
// messages are described in docs/embed.md of the repository.

/** How long the page may take to start before that is said, in milliseconds. */
const PATIENCE = 20_000;

function render({ model, el }) {
  const address = new URL(model.get("_page"), document.baseURI);
  const chooser = document.createElement("select");
  const frame = document.createElement("iframe");
  const status = document.createElement("p");
  chooser.setAttribute("aria-label", "Episode");
  status.setAttribute("role", "status");
  frame.title = "Episode in Volary";
  frame.style.height = `${model.get("_height")}px`;

  let isReady = false;
  // The steps that the kernel asked for and the frame has not reported yet.
  const asked = new Set();
  const send = (message) => isReady && frame.contentWindow?.postMessage(message, address.origin);
  const change = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };

  const select = () => {
    asked.add(model.get("step"));
    send({ volary: "step", step: model.get("step") });
  };
  const annotate = () => {
    const index = model.get("index");
    const notes = model.get("notes").filter(({ episode }) => episode === index);
    send({ volary: "notes", notes });
  };
  const load = () => {
    asked.clear();
    const { episode, index } = model.get("_load");
    // An episode without a name has that of its file.
    send({ volary: "load", episode, name: `${model.get("_names")[index]}.json`, step: model.get("step") });
    annotate();
  };
  const choose = () => {
    chooser.value = String(model.get("index"));
  };
  const colour = () => {
    // JupyterLab and VS Code say their theme at the body.
    const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
    const isDark = vscodeThemeKind ? /dark|^vscode-high-contrast$/.test(vscodeThemeKind) : jpThemeLight === "false";
    const isKnown = vscodeThemeKind || jpThemeLight;
    send({ volary: "theme", theme: isKnown ? (isDark ? "dark" : "light") : "system" });
  };

  const hear = ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== address.origin) return;
    switch (data?.volary) {
      // Also after the frame was moved, which loads it again.
      case "ready":
        isReady = true;
        status.textContent = "";
        colour();
        return load();
      case "loaded":
        status.textContent = "";
        return change({ title: data.title, steps: data.steps, error: "" });
      case "step":
        if (asked.delete(data.step)) return;
        return change({ step: data.step, steps: data.steps });
      case "selection":
        return change({ selection: { step: data.step, text: data.text } });
      case "note": {
        const { id, step, text, label, deleted } = data;
        const episode = model.get("index");
        const others = model.get("notes").filter((note) => note.episode !== episode || note.id !== id);
        return change({ notes: deleted ? others : [...others, { episode, id, step, text, label }] });
      }
      case "error":
        status.textContent = data.message;
        return change({ error: data.message });
    }
  };

  const unreachable = () => {
    if (isReady) return;
    const isHere = /^(127\.|localhost$|\[::1\]$)/.test(address.hostname);
    const port = address.port || "80";
    status.textContent = isHere
      ? `The page at ${address.origin} does not answer. After a restart of the kernel, run the cell again. If the kernel is on ` +
        `another machine, forward its port to yours (ssh -L ${port}:127.0.0.1:${port} …; show(…, port=…) chooses it), or pass ` +
        "page_url= with the address of a page that this browser reaches."
      : `The page at ${address.origin} does not answer, or is none of Volary.`;
  };
  // Any response will do: it cannot be read. A frame does not say whether it was loaded.
  fetch(address, { mode: "no-cors", cache: "no-store", credentials: "omit" }).catch(unreachable);
  const timer = setTimeout(unreachable, PATIENCE);

  model.get("_names").forEach((name, index) => {
    const option = document.createElement("option");
    option.value = String(index);
    option.textContent = `${index + 1}. ${name}`;
    chooser.append(option);
  });
  chooser.hidden = chooser.options.length < 2;
  choose();
  chooser.addEventListener("change", () => change({ index: Number(chooser.value) }));

  // From the kernel. What the reader wrote comes back as a change too, and is the same then.
  const reported = (name, act) => {
    const changed = () => act();
    model.on(`change:${name}`, changed);
    return () => model.off(`change:${name}`, changed);
  };
  let isOwn = false;
  const ends = [
    reported("step", () => isOwn || select()),
    reported("notes", () => isOwn || annotate()),
    reported("_load", load),
    reported("index", choose),
  ];
  const themes = new MutationObserver(colour);
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });

  const listen = (event) => {
    // Changes that this frame reports need not be sent to it.
    isOwn = true;
    try {
      hear(event);
    } finally {
      isOwn = false;
    }
  };
  addEventListener("message", listen);
  el.classList.add("volary");
  el.append(chooser, frame, status);
  frame.src = address.href;

  return () => {
    removeEventListener("message", listen);
    clearTimeout(timer);
    themes.disconnect();
    for (const end of ends) end();
  };
}

export default { render };
