// The examples of docs/CLIENTS.md, with the addresses of the server under test.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/prepare.mjs";

const page = readFileSync(join(root, "docs", "CLIENTS.md"), "utf8");

/** The first code block under a heading. */
export function exampleOf(heading, { blob, queue, dfs }) {
  const section = page.split(/^### /m).find((text) => text.startsWith(`${heading}\n`));
  const code = /^```\w+\n([^]*?)^```$/m.exec(section ?? "")?.[1];
  if (code === undefined) throw new Error(`docs/CLIENTS.md has no example "${heading}"`);
  return code
    .replaceAll("127.0.0.1:10000", blob)
    .replaceAll("127.0.0.1:10001", queue)
    .replaceAll("127.0.0.1:10004", dfs);
}
