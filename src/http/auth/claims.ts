/** Reads the claims of JSON Web Tokens. `tokens/token-verifier.ts` verifies their signatures. */

/** The claims of a JSON Web Token: what its issuer states about the caller. A field is undefined if
 *  the token lacks the claim. */
export interface Claims {
  readonly aud: string | undefined;
  readonly iss: string | undefined;
  readonly oid: string | undefined;
  readonly tid: string | undefined;
  readonly groups: readonly string[] | undefined;
  /** `nbf` and `exp` are in seconds since 1970-01-01. */
  readonly nbf: number | undefined;
  readonly exp: number | undefined;
}

const tokenForm = /^[\w-]+\.([\w-]+)\.[\w-]*$/;

/** Whether a text has the form of a JSON Web Token: three parts in Base64url. */
export function isTokenForm(text: string): boolean {
  return tokenForm.test(text);
}

/** Reads the claims without verifying the signature; undefined if the text is no JSON Web Token. */
export function readClaims(token: string): Claims | undefined {
  const payload = tokenForm.exec(token)?.[1];
  if (payload === undefined) return undefined;
  const claims = parseTokenPart(payload);
  if (claims === undefined) return undefined;
  return {
    aud: textOf(claims, "aud"),
    iss: textOf(claims, "iss"),
    oid: textOf(claims, "oid"),
    tid: textOf(claims, "tid"),
    groups: textsOf(claims, "groups"),
    nbf: numberOf(claims, "nbf"),
    exp: numberOf(claims, "exp"),
  };
}

/** Decodes the header or the claims of a token; undefined if it is no JSON object. */
export function parseTokenPart(part: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? new Map(Object.entries(value)) : undefined;
  } catch {
    // Text that is not JSON is no token.
    return undefined;
  }
}

function textOf(claims: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = claims.get(name);
  return typeof value === "string" ? value : undefined;
}

/** Most texts of a list, such as the groups of a user, which bounds the memory for one token. Entra
 *  ID lists at most 200 groups. */
const textsMax = 256;

function textsOf(claims: ReadonlyMap<string, unknown>, name: string) {
  const value = claims.get(name);
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, textsMax).filter((each): each is string => typeof each === "string");
}

function numberOf(claims: ReadonlyMap<string, unknown>, name: string): number | undefined {
  const value = claims.get(name);
  return typeof value === "number" ? value : undefined;
}
