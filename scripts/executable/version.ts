// Replaces `src/host/version.ts` in the executable: `--version` needs no extracted files.
import { embeddedText } from "./embedded-files.ts";

export function readVersion(): string {
  const { version = "" } = JSON.parse(embeddedText("package.json")) as { version?: string };
  return version;
}
