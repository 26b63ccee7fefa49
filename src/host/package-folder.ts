import { fileURLToPath } from "node:url";

/** The folder of the package, two folders above `dist/host`: it has `package.json` and the
 *  explorer's page. The single executable replaces this module (`scripts/release`). */
export function packageFolder(): string {
  return fileURLToPath(new URL("../../", import.meta.url));
}
