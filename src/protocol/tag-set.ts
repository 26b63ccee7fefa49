import { invalidHeader } from "./faults.ts";
import { fail, ok, type Result } from "./result.ts";
import type { Tags } from "./tags.ts";

// Limits of the service per blob; lengths are in UTF-16 code units.
export const tagsMax = 10;
export const tagNameUnitsMax = 128;
export const tagValueUnitsMax = 256;

const invalidCharacterPattern = /[^A-Za-z0-9 +\-./:=_]/u;

/** The first character that is allowed neither in names nor in values; undefined if there is
 *  none. */
export function invalidCharacter(text: string): string | undefined {
  return invalidCharacterPattern.exec(text)?.[0];
}

/** Validates the tags of one blob, from a header or from XML. */
export function checkTags(pairs: readonly (readonly [string, string])[]): Result<Tags> {
  if (pairs.length > tagsMax) return fail("TagsTooLarge");
  const names = new Set<string>();
  for (const [name, value] of pairs) {
    if (name === "") return fail("EmptyTagName");
    if (name.length > tagNameUnitsMax || value.length > tagValueUnitsMax) {
      return fail("TagsTooLarge");
    }
    if (invalidCharacterPattern.test(name) || invalidCharacterPattern.test(value))
      return fail("InvalidTags");
    if (names.has(name)) return fail("DuplicateTagNames");
    names.add(name);
  }
  // `fromEntries` defines own properties, so that a tag may have the name `__proto__`.
  return ok(Object.fromEntries(pairs));
}

/** Parses `x-ms-tags`: `name=value&name=value`, both URL-encoded. An empty text is an empty set,
 *  which removes all tags. */
export function parseTagsHeader(text: string, headerName = "x-ms-tags"): Result<Tags> {
  if (text === "") return ok({});
  const pairs: (readonly [string, string])[] = [];
  for (const part of text.split("&")) {
    const equals = part.indexOf("=");
    const name = decodeUrlText(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? "" : decodeUrlText(part.slice(equals + 1));
    if (name === undefined || value === undefined) return invalidHeader(headerName, text);
    pairs.push([name, value]);
  }
  return checkTags(pairs);
}

function decodeUrlText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
