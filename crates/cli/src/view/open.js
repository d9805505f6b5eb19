// In the page of `volary view`: opens the library, or the place in it that the address names, and removes a token from the
// address of a browser that is in already.
"use strict";

if (!location.hash.startsWith("#/")) {
  const to = new URLSearchParams(location.hash.slice(1)).get("to");
  history.replaceState(null, "", `${location.pathname}#${to?.startsWith("/review") ? to : "/review"}`);
}
