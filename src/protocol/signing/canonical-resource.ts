import type { SignableRequest } from "./request.ts";

/** The part of a string to sign with account, path and query: the path as sent, then every query
 *  parameter in a line. A path-style URL contains the account, which therefore occurs twice:
 *  `/devstoreaccount1/devstoreaccount1/photos\ncomp:list\nrestype:container`. */
export function canonicalResource(request: SignableRequest): string {
  let text = `/${request.account}${request.rawPath === "" ? "/" : request.rawPath}`;
  const parameters = grouped(request.query);
  const names = [...parameters.keys()];
  if (names.length > 1) names.sort();
  for (const name of names) text += `\n${name}:${joined(parameters.get(name) ?? [])}`;
  return text;
}

/** As `canonicalResource`, in the older format, which tables use too: of the query only `comp` is
 *  signed. */
export function canonicalResourceLite(request: SignableRequest): string {
  const path = `/${request.account}${request.rawPath === "" ? "/" : request.rawPath}`;
  const comp = request.query.get("comp")?.[0];
  return comp === undefined ? path : `${path}?comp=${comp}`;
}

/** Merges names that differ only in case. A query without such names is not copied. */
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
