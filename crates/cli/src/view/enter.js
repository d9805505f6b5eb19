// The first page of `volary view`: exchanges the token, which the fragment of the address holds, for a cookie.
"use strict";

const HOME = "#/review";
const byId = (id) => document.getElementById(id);

/** Returns why the token was refused; if it was not, the library opens. */
async function enter(token, hash) {
  try {
    const response = await fetch("/api/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (!response.ok) return response.status === 403 ? "That token is wrong." : `The server answered ${response.status}.`;
  } catch {
    return "The server does not answer. Is `volary view` running?";
  }
  // The token must not stay in the address or in the history.
  history.replaceState(null, "", location.pathname + hash);
  location.reload();
  return "";
}

function ask(why) {
  byId("opening").hidden = true;
  byId("ask").hidden = false;
  byId("wrong").textContent = why;
  byId("token").focus();
}

byId("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const hash = location.hash.startsWith("#/") ? location.hash : HOME;
  byId("wrong").textContent = await enter(byId("token").value, hash);
});

const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  history.replaceState(null, "", location.pathname);
  enter(token, HOME).then((why) => why && ask(why));
} else {
  ask("");
}
