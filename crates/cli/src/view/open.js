// In the page of `volary view`: opens the library, and removes a token from the address of a browser that is in already.
"use strict";

if (!location.hash.startsWith("#/")) history.replaceState(null, "", `${location.pathname}#/review`);
