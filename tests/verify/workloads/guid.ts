import { createHash } from "node:crypto";

/** The same text gives the same id, so that a seed is reproducible. */
export function guidFrom(text: string): string {
  const hex = createHash("md5").update(text).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
