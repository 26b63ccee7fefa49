import type { ServiceName } from "../../protocol/names.ts";
import {
  canonicalResource,
  sharedKeyText,
  stringToSignVariants,
  type SharedKeyScheme,
} from "../../protocol/signing/shared-key.ts";
import { knownVersions, latestVersion, oldestVersion } from "../../protocol/versions.ts";
import type { AuthRequest } from "../auth/request.ts";
import { decoded, type Mistake } from "./signature-checks.ts";

/** The strings to sign of Shared Key after common mistakes of clients. `diagnose.ts` finds the one
 *  that the client has signed. */

const documentedVariant = stringToSignVariants[0]!;
const signedHeader = /^(x-ms-.*|content-.*|date|if-.*|range)$/;
/** Number of lines before the canonical headers in the string to sign. */
const headLines = 12;
const dateLine = 6;

type Text = (request: AuthRequest) => string;

/** The string to sign, and the strings that clients sign by mistake. */
export function sharedKeyMistakes(request: AuthRequest, scheme: SharedKeyScheme) {
  const text: Text = (changed) =>
    sharedKeyText(changed, request.service, scheme, documentedVariant);
  return { text: text(request), mistakes: mistakesIn(request, scheme, text) };
}

function* mistakesIn(request: AuthRequest, scheme: SharedKeyScheme, text: Text): Iterable<Mistake> {
  yield* headerMistakes(request, text);
  yield* pathMistakes(request, text);
  yield* queryMistakes(request, text);
  yield* formMistakes(request, scheme);
  yield* lineMistakes(request, text(request));
}

function* headerMistakes(request: AuthRequest, text: Text): Iterable<Mistake> {
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
  for (const name of new Set(names.map((each) => each.toLowerCase()))) {
    if (!signedHeader.test(name)) continue;
    yield [`the client did not sign the header ${name}`, text(withHeader(request, name))];
  }
  const type = request.header("content-type") ?? "";
  const bare = type.split(";", 1)[0] ?? "";
  yield [
    `the client signed content-type: ${bare}`,
    text(withHeader(request, "content-type", bare)),
  ];
  yield ["the client signed a length of 0", text({ ...request, version: oldestVersion })];
  yield ["the client did not sign a length of 0", text({ ...request, version: latestVersion })];
  for (const version of knownVersions) {
    const changed = { ...withHeader(request, "x-ms-version", version), version };
    yield [`the client signed x-ms-version: ${version}`, text(changed)];
  }
}

function* pathMistakes(request: AuthRequest, text: Text): Iterable<Mistake> {
  const { rawPath, account } = request;
  const at = (path: string) => text({ ...request, rawPath: path });
  yield ["the client signed the decoded path", at(decoded(rawPath))];
  yield ["the client signed the path encoded twice", at(encodeURI(rawPath))];
  const ownPath = `/${account}`;
  if (rawPath === ownPath || rawPath.startsWith(`${ownPath}/`)) {
    const below = rawPath.slice(ownPath.length);
    yield ["the client signed the account once; the path names it as well", at(below)];
  }
  yield ["the client signed the account twice; the path does not name it", at(ownPath + rawPath)];
  yield ["the client signed a slash at the end of the path", at(`${rawPath}/`)];
  yield [
    "the client did not sign the slash at the end of the path",
    at(rawPath.replace(/\/$/, "")),
  ];
}

function* queryMistakes(request: AuthRequest, text: Text): Iterable<Mistake> {
  const { query } = request;
  const using = (pairs: Iterable<readonly [string, readonly string[]]>) =>
    text({ ...request, query: new Map(pairs) });
  yield ["the client signed no query parameters", using([])];
  for (const name of query.keys()) {
    const others = [...query].filter(([each]) => each !== name);
    yield [`the client did not sign the query parameter ${name}`, using(others)];
  }
  const encoded = [...query].map(
    ([name, values]) => [name, values.map(encodeURIComponent)] as const,
  );
  yield ["the client signed query values percent-encoded", using(encoded)];
  const unsorted = [...query].map(([name, values]) => `\n${name}:${values.join(",")}`).join("");
  const resource = `/${request.account}${request.rawPath}${unsorted}`;
  const whole = text(request);
  yield [
    "the client did not sort the query parameters",
    whole.replace(canonicalResource(request), () => resource),
  ];
}

function* formMistakes(request: AuthRequest, scheme: SharedKeyScheme): Iterable<Mistake> {
  const form = (service: ServiceName, other: SharedKeyScheme) =>
    sharedKeyText(request, service, other, documentedVariant);
  const otherScheme = scheme === "SharedKey" ? "SharedKeyLite" : "SharedKey";
  yield [`the client signed the text of ${otherScheme}`, form(request.service, otherScheme)];
  const isTable = request.service === "table";
  const other = isTable ? "blob" : "table";
  yield [`the client signed the text of the ${other} service`, form(other, scheme)];
  const asSent = { order: () => 0, languageFirst: false };
  const unsorted = sharedKeyText(request, request.service, scheme, asSent);
  yield ["the client did not sort the x-ms- headers", unsorted];
}

function* lineMistakes(request: AuthRequest, text: string): Iterable<Mistake> {
  const lines = text.split("\n");
  yield ["the client's text ends in a newline", `${text}\n`];
  yield ["the client's lines end in CR LF", text.replaceAll("\n", "\r\n")];
  const date = request.header("x-ms-date") ?? "";
  const dated = lines.with(Math.min(dateLine, lines.length - 1), date).join("\n");
  yield ["the client signed x-ms-date in the line of Date as well", dated];
  for (let index = 1; index < Math.min(headLines, lines.length); index += 1) {
    if (lines[index] !== "") continue;
    const fewer = lines.toSpliced(index, 1).join("\n");
    yield [`the client's text has a newline too few at line ${index + 1}`, fewer];
    const more = lines.toSpliced(index, 0, "").join("\n");
    yield [`the client's text has a newline too many at line ${index + 1}`, more];
  }
}

/** A copy of the request with another value of one header, or without it if `value` is
 *  undefined. */
function withHeader(request: AuthRequest, name: string, value?: string): AuthRequest {
  const rawHeaders: string[] = [];
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    const rawName = request.rawHeaders[index]!;
    const isNamed = rawName.toLowerCase() === name;
    if (isNamed && value === undefined) continue;
    rawHeaders.push(rawName, isNamed ? value! : request.rawHeaders[index + 1]!);
  }
  const header = (wanted: string) => (wanted === name ? value : request.header(wanted));
  return { ...request, rawHeaders, header };
}
