import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `etagere tour`: needs the client libraries, which a checkout has and the package has not. */
export async function tourCommand(): Promise<number> {
  const script = new URL("../../scripts/tour.mjs", import.meta.url);
  if (!existsSync(fileURLToPath(script))) {
    process.stderr.write(
      "etagere: the tour is part of the checkout: git clone, then npm run tour\n",
    );
    return 1;
  }
  await import(script.href);
  return 0;
}
