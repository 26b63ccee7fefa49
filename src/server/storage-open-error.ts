import { withoutPassword } from "../store/postgres/addresses.ts";
import { messageOf, StartRefused, systemErrorCode } from "./start-refused.ts";

interface ChosenLocations {
  readonly location: string | undefined;
  readonly storeUrl: string | undefined;
  readonly contentUrl: string | undefined;
}

/** A start-up error that names the location. Messages of the engines, for example about a newer
 *  format, are meant for the user and are kept. */
export function storageOpenError(
  { location, storeUrl, contentUrl }: ChosenLocations,
  error: unknown,
): unknown {
  if (location === undefined) return error;
  const places = [
    ...(storeUrl === undefined ? [] : [`store: ${withoutPassword(storeUrl)}`]),
    ...(contentUrl === undefined ? [] : [`content: ${contentUrl}`]),
  ];
  const place = places.length === 0 ? `location: ${location}` : places.join(", ");
  return new StartRefused([`${place} cannot be used: ${explain(error)}`], error);
}

function explain(error: unknown): string {
  switch (systemErrorCode(error)) {
    case "EACCES":
    case "EPERM":
      return "no permission to read and write";
    case "ENOTDIR":
    case "EEXIST":
      return "it is not a folder";
    case "ENOSPC":
      return "the disk is full";
    case "EMFILE":
    case "ENFILE":
      return "too many open files; raise the limit, for example with `ulimit -n 4096`";
    case "EROFS":
      return "the disk is read-only";
    default:
      return messageOf(error);
  }
}
