import type { RequestInfo, Dialect, RenderedFault } from "../operation/dialect.ts";
import { formatIso } from "../base/dates.ts";
import { faultMessage, type Fault, type FaultCode } from "../protocol/faults.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { escapeText, xmlDeclaration } from "../encoding/xml-writer.ts";
import { transaction } from "./service/transaction.ts";
import { formatEntityETag, readMatch } from "./key-text.ts";
import { jsonType, type MetadataLevel } from "./representation.ts";

/** How the Table service differs from other services in HTTP: method override, ETags, and faults in
 *  OData format. `http` calls these functions (`operation/dialect.ts`). */

const tunnelledMethods: ReadonlySet<string> = new Set(["PUT", "DELETE", "MERGE", "PATCH"]);

/** The method of a request. Clients whose proxy allows only POST send it in `X-HTTP-Method`. */
function method(sentMethod: string, rawHeaders: readonly string[]): Result<string> {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === "x-http-method") values.push(rawHeaders[at + 1]!);
  }
  const [first] = values;
  if (first === undefined) return ok(sentMethod);
  if (values.length > 1) return fail("XMethodIncorrectCount");
  if (sentMethod !== "POST") return fail("XMethodNotUsingPost");
  const tunnelled = first.trim().toUpperCase();
  return tunnelledMethods.has(tunnelled) ? ok(tunnelled) : fail("XMethodIncorrectValue");
}

/** Faults that Azure sends from the gateway in front of the service: in its recorded responses they
 *  have neither x-ms-version nor x-ms-client-request-id. */
const gatewayFaults: ReadonlySet<FaultCode> = new Set([
  "AuthenticationFailed",
  "InvalidAuthenticationInfo",
  "NoAuthenticationInformation",
  "InvalidQueryParameterValue",
]);

/** Faults whose responses, recorded from Azure, have no Cache-Control. */
const withoutCacheControl: ReadonlySet<FaultCode> = new Set(["InvalidInput", "TableNotFound"]);

/** Renders a fault as OData JSON without `x-ms-error-code`. Requests with `comp` in the query get
 *  XML and the header; clients that accept Atom get XML. */
function renderFault(fault: Fault, request: RequestInfo): RenderedFault {
  const { requestId, wallNow } = request;
  const text = `${faultMessage(fault)}\nRequestId:${requestId}\nTime:${formatIso(wallNow)}`;
  const bare = gatewayFaults.has(fault.code);
  const codeHeader = { "x-ms-error-code": fault.code };
  if (/[?&]comp=/i.test(request.target)) {
    return { headers: codeHeader, type: "application/xml", text: xmlText(fault.code, text), bare };
  }
  const isAtom = request.header("accept")?.includes("atom") === true;
  const type = isAtom ? "application/xml" : jsonType(levelOf(request.header("accept") ?? ""));
  const body = isAtom ? xmlText(fault.code, text) : jsonText(fault.code, text);
  if (bare)
    return { headers: codeHeader, type: isAtom ? type : "application/json", text: body, bare };
  return { headers: odataFaultHeaders(fault, request), type, text: body, bare };
}

/** The level of OData metadata in the Content-Type of a fault. Recorded from Azure: it is the one
 *  in `Accept`, even if that header names it for another media type than JSON. */
function levelOf(accept: string): MetadataLevel {
  const level = /odata=(\w+)/i.exec(accept)?.[1]?.toLowerCase();
  return level === "nometadata" || level === "fullmetadata" ? level : "minimalmetadata";
}

function odataFaultHeaders({ code, detail }: Fault, { operation, header }: RequestInfo) {
  const headers: Record<string, string> = { "X-Content-Type-Options": "nosniff" };
  const omitsCacheControl = operation === undefined || withoutCacheControl.has(code);
  if (omitsCacheControl && detail?.headers?.["Cache-Control"] === undefined) return headers;
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
  // Recorded from Azure: a request without credentials gets 404, even if its path is invalid.
  rejectsAnonymousFirst: true,
  transaction,
};
