import type { Answer } from "./answer.ts";
import type { Checks } from "./inputs.ts";
import type { AdminRequest, CheckedRequest } from "./request.ts";

export type PathValues = Readonly<Record<string, string>>;

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** A segment such as `:name` stands for any one. */
  readonly path: string;
  /** Open to those who have not logged in. */
  readonly open?: true;
  /** The parameters of its address; without it, whatever is there is passed over. */
  readonly query?: Checks;
  /** The fields of its body; without it, the route looks at them itself. */
  readonly body?: Checks;
  readonly answer: (request: CheckedRequest, values: PathValues) => Promise<Answer> | Answer;
}

export type Matched =
  | { readonly route: Route; readonly values: PathValues }
  /** The path exists, but not with this method. */
  | { readonly allow: string }
  | undefined;

export function matchRoute(
  routes: readonly Route[],
  { method, path }: Pick<AdminRequest, "method" | "path">,
): Matched {
  const wanted = method === "HEAD" ? "GET" : method;
  const allowed: string[] = [];
  for (const route of routes) {
    const values = valuesOf(route.path, path);
    if (values === undefined) continue;
    if (route.method === wanted) return { route, values };
    allowed.push(...(route.method === "GET" ? ["GET", "HEAD"] : [route.method]));
  }
  return allowed.length === 0 ? undefined : { allow: allowed.join(", ") };
}

function valuesOf(pattern: string, path: string): PathValues | undefined {
  const parts = pattern.split("/");
  const given = path.split("/");
  if (parts.length !== given.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = given[index] ?? "";
    if (part.startsWith(":")) values[part.slice(1)] = decoded(segment);
    else if (part !== segment) return undefined;
  }
  return values;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
