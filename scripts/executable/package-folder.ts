// Replaces `src/host/package-folder.ts` in the executable.
export { extractedFolder as packageFolder } from "./embedded-files.ts";
