import { messageOf, StartRefused, systemErrorCode } from "./start-refused.ts";

/** The engines' own refusals (a newer format, another machine) already speak to the user. */
export function locationRefused(location: string, error: unknown): StartRefused {
  return new StartRefused([`location: ${location} cannot be used: ${explain(error)}`], error);
}

function explain(error: unknown): string {
  switch (systemErrorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "this process may not read and write there";
    case "ENOTDIR":
    case "EEXIST":
      return "it is not a folder";
    case "ENOSPC":
      return "the disk is full";
    case "EROFS":
      return "the disk is read-only";
    default:
      return messageOf(error);
  }
}
