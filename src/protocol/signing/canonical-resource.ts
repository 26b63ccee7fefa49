import type { SignableRequest } from "./request.ts";

/**
 * The account and the path as on the wire, then every query parameter on a line of its own. A
 * path-style URL names the account in its path, so that it stands there twice:
 * `/devstoreaccount1/devstoreaccount1/photos\ncomp:list\nrestype:container`.
 */
export function canonicalResource(request: SignableRequest): string {
  let text = `/${request.account}${request.rawPath === "" ? "/" : request.rawPath}`;
  const parameters = grouped(request.query);
  const names = [...parameters.keys()];
  if (names.length > 1) names.sort();
  for (const name of names) text += `\n${name}:${joined(parameters.get(name) ?? [])}`;
  return text;
}

/** The older and table form: of the query only `comp` counts. */
export function canonicalResourceLite(request: SignableRequest): string {
  const path = `/${request.account}${request.rawPath === "" ? "/" : request.rawPath}`;
  const comp = request.query.get("comp")?.[0];
  return comp === undefined ? path : `${path}?comp=${comp}`;
}

/** Names that differ in case only are one name; the common query has none and is not copied. */
function grouped(
  query: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  let lowerAlready = true;
  for (const name of query.keys()) if (name !== name.toLowerCase()) lowerAlready = false;
  if (lowerAlready) return query;
  const groups = new Map<string, readonly string[]>();
  for (const [name, values] of query) {
    const lower = name.toLowerCase();
    groups.set(lower, [...(groups.get(lower) ?? []), ...values]);
  }
  return groups;
}

function joined(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? "") : values.toSorted().join(",");
}
