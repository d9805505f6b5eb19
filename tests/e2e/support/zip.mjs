// Zip files.

import { execFileSync } from "node:child_process";

/** A zip of files, each a name and a value that is written as JSON; made where names may be anything. */
export function zipped(files, packing = "DEFLATED") {
  return zippedTexts(files.map(([name, value]) => [name, JSON.stringify(value)]), packing);
}

/** A zip of files, each a name and a text. */
export function zippedTexts(files, packing = "DEFLATED") {
  const make = `
import io, json, sys, zipfile
made = io.BytesIO()
with zipfile.ZipFile(made, "w", zipfile.ZIP_${packing}) as file:
    for name, text in json.load(sys.stdin):
        file.writestr(name, text)
sys.stdout.buffer.write(made.getvalue())`;
  return execFileSync("python3", ["-c", make], { input: JSON.stringify(files), maxBuffer: 1 << 28 });
}
