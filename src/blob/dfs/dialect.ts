import { formatHttpDate, formatIso } from "../../base/dates.ts";
import type { Dialect, RenderedFault, RequestInfo } from "../../operation/dialect.ts";
import { formatETag } from "../../protocol/conditions.ts";
import { faultMessage, type Fault, type FaultCode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { AnyDecisionContext, Operation } from "../../operation/operation.ts";
import type { ReplyHeaders } from "../../operation/reply.ts";

/** How the Data Lake API differs from the Blob API in HTTP: methods, fault codes, JSON. `http/`
 *  translates requests and faults by it. */

const overrideHeader = "x-http-method-override";

/** Returns the method that selects the operation. Hadoop sends most PATCH requests as PUT with this
 *  header, because some proxies reject PATCH. */
function method(sentMethod: string, rawHeaders: readonly string[]): Result<string> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== overrideHeader) continue;
    const overriding = rawHeaders[at + 1]!.trim().toUpperCase();
    if (overriding === "PATCH" && (sentMethod === "PUT" || sentMethod === "POST"))
      return ok(overriding);
    if (overriding !== "" && overriding !== sentMethod) return fail("UnsupportedHttpVerb");
  }
  return ok(sentMethod);
}

/** Fault codes of the Data Lake API by the codes that the Blob API has for the same faults. */
const codes: Partial<Readonly<Record<FaultCode, FaultCode>>> = {
  BlobNotFound: "PathNotFound",
  ContainerNotFound: "FilesystemNotFound",
  ContainerAlreadyExists: "FilesystemAlreadyExists",
  ContainerBeingDeleted: "FilesystemBeingDeleted",
  BlobAlreadyExists: "PathAlreadyExists",
  LeaseNotPresentWithBlobOperation: "LeaseNotPresent",
  LeaseNotPresentWithContainerOperation: "LeaseNotPresent",
  // Recorded from Azure: the code for a flush with `If-None-Match: *`.
  UnsatisfiableCondition: "ConditionNotMet",
  InvalidMetadata: "InvalidPropertyName",
  EmptyMetadataKey: "InvalidPropertyName",
  // Recorded from Azure: the response has no challenge, unlike the 401 of the Blob API.
  NoAuthenticationInformation: "AuthenticationFailed",
};

/** Messages of the Data Lake API for codes that both APIs have. Hadoop compares these messages. */
const messages: Partial<Readonly<Record<FaultCode, string>>> = {
  LeaseIdMissing:
    "There is currently a lease on the resource and no lease ID was specified in the request.",
  LeaseIdMismatchWithBlobOperation:
    "The lease ID specified did not match the lease ID for the resource.",
  LeaseIdMismatchWithLeaseOperation:
    "The lease ID specified did not match the lease ID for the resource with the specified lease " +
    "operation.",
  LeaseNotPresentWithLeaseOperation:
    "The lease ID is not present with the specified lease operation.",
  LeaseLost: "A lease ID was specified, but the lease for the resource has expired.",
};

/** Translates a fault of an operation that both APIs share: replaces the Blob API's code and
 *  message by those of the Data Lake API; details stay. */
function translate(fault: Fault): Fault {
  const code = codes[fault.code];
  const message = messages[fault.code];
  if (message !== undefined) return { ...fault, detail: { ...fault.detail, message } };
  if (code === undefined) return fault;
  const { elements, headers, subject, failedCondition } = fault.detail ?? {};
  const detail = {
    ...(elements && { elements }),
    ...(headers && { headers }),
    ...(subject && { subject }),
    ...(failedCondition && { failedCondition }),
  };
  return { code, detail };
}

const jsonType = "application/json; charset=utf-8";

/** The body of a listing: a JSON object with one list, rendered in pieces (`ReplyBody`): a long
 *  list is never one text in memory. */
export function jsonListBody<T>(name: string, items: readonly T[], describe: (item: T) => object) {
  return { type: jsonType, pieces: jsonList(name, items, describe) };
}

function* jsonList<T>(
  name: string,
  items: readonly T[],
  describe: (item: T) => object,
): Generator<string> {
  yield `{"${name}":[`;
  for (const [index, item] of items.entries()) {
    yield `${index === 0 ? "" : ","}${JSON.stringify(describe(item))}`;
  }
  yield "]}";
}

/** Renders a fault as JSON. Its details have the names of the elements of the Blob API. */
function renderFault(fault: Fault, { requestId, wallNow }: RequestInfo): RenderedFault {
  const { code } = fault;
  const message = `${faultMessage(fault)}\nRequestId:${requestId}\nTime:${formatIso(wallNow)}`;
  const detail = fault.detail?.elements;
  const text = JSON.stringify({ error: { code, message, ...(detail && { detail }) } });
  const headers = { "x-ms-error-code": code };
  return { headers, type: jsonType, text, reason: faultMessage(fault), bare: false };
}

export const dialect: Dialect = {
  method,
  etagHeaders: (etag) => ({ ETag: formatETag(etag), "Last-Modified": formatHttpDate(etag) }),
  renderFault,
  translate,
};

/** Adds headers to the reply of an operation that this API takes over from the Blob API. */
export function withHeaders(
  decide: Operation["decide"],
  headersOf: (context: AnyDecisionContext) => ReplyHeaders,
): Operation["decide"] {
  return (context) => {
    const decision = decide(context);
    if ("fault" in decision || "wait" in decision) return decision;
    const groups = [decision.headers ?? []].flat();
    return { ...decision, headers: [...groups, headersOf(context)] };
  };
}
