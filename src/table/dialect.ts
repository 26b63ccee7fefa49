import type { RequestInfo, Dialect, RenderedFault } from "../operation/dialect.ts";
import { formatIso } from "../base/dates.ts";
import { faultMessage, type Fault, type FaultCode } from "../protocol/faults.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { escapeText, xmlDeclaration } from "../encoding/xml-writer.ts";
import { transaction } from "./account/transaction.ts";
import { formatEntityETag, readMatch } from "./etag.ts";
import { jsonType } from "./representation.ts";

const tunnelled: ReadonlySet<string> = new Set(["PUT", "DELETE", "MERGE", "PATCH"]);

/** `X-HTTP-Method` gives a POST the meaning of another method. */
function method(sent: string, rawHeaders: readonly string[]): Result<string> {
  const asked: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === "x-http-method") asked.push(rawHeaders[at + 1]!);
  }
  const [first] = asked;
  if (first === undefined) return ok(sent);
  if (asked.length > 1) return fail("XMethodIncorrectCount");
  if (sent !== "POST") return fail("XMethodNotUsingPost");
  const meant = first.trim().toUpperCase();
  return tunnelled.has(meant) ? ok(meant) : fail("XMethodIncorrectValue");
}

/** Refused in front of the service: recorded without version and client's request id. */
const refusedEarly: ReadonlySet<FaultCode> = new Set([
  "AuthenticationFailed",
  "InvalidAuthenticationInfo",
  "NoAuthenticationInformation",
  "InvalidQueryParameterValue",
]);

/** Recorded without a word about caching. */
const uncached: ReadonlySet<FaultCode> = new Set(["InvalidInput", "TableNotFound"]);

/** OData JSON without the code in a header; but XML with it for whatever has `comp` in its query,
 *  and for clients that read Atom. */
function renderFault(fault: Fault, asked: RequestInfo): RenderedFault {
  const { requestId, wallNow } = asked;
  const text = `${faultMessage(fault)}\nRequestId:${requestId}\nTime:${formatIso(wallNow)}`;
  const bare = refusedEarly.has(fault.code);
  const coded = { "x-ms-error-code": fault.code };
  if (/[?&]comp=/i.test(asked.target)) {
    return { headers: coded, type: "application/xml", text: xmlText(fault.code, text), bare };
  }
  const isAtom = asked.header("accept")?.includes("atom") === true;
  const type = isAtom ? "application/xml" : jsonType("minimalmetadata");
  const body = isAtom ? xmlText(fault.code, text) : jsonText(fault.code, text);
  if (bare) return { headers: coded, type: isAtom ? type : "application/json", text: body, bare };
  return { headers: odataFaultHeaders(fault, asked), type, text: body, bare };
}

function odataFaultHeaders({ code, detail }: Fault, { operation, header }: RequestInfo) {
  const headers: Record<string, string> = { "X-Content-Type-Options": "nosniff" };
  const isCached = operation === undefined || uncached.has(code);
  if (isCached && detail?.headers?.["Cache-Control"] === undefined) return headers;
  headers["Cache-Control"] = "no-cache";
  const prefer = header("prefer");
  const prefers = prefer !== undefined && operation !== undefined && "prefer" in operation.params;
  if (prefers) headers["Preference-Applied"] = prefer;
  return headers;
}

function jsonText(code: FaultCode, value: string): string {
  return JSON.stringify({ "odata.error": { code, message: { lang: "en-US", value } } });
}

const metadataNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";

function xmlText(code: FaultCode, text: string): string {
  return (
    `${xmlDeclaration}<m:error xmlns:m="${metadataNamespace}"><m:code>${code}</m:code>` +
    `<m:message xml:lang="en-US">${escapeText(text)}</m:message></m:error>`
  );
}

export const dialect: Dialect = {
  method,
  readMatch,
  etagHeaders: (newETag) => ({ ETag: formatEntityETag(newETag) }),
  renderFault,
  transaction,
};
