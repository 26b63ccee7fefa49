import { formatHttpDate, formatIso } from "../../base/dates.ts";
import type { Dialect, RenderedFault, RequestInfo } from "../../operation/dialect.ts";
import { formatETag } from "../../protocol/etag.ts";
import { faultMessage, type Fault, type FaultCode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";

const overrideHeader = "x-http-method-override";

/** Proxies that let no PATCH through: Hadoop sends most of them as PUT with this header. */
function method(sent: string, rawHeaders: readonly string[]): Result<string> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== overrideHeader) continue;
    const meant = rawHeaders[at + 1]!.trim().toUpperCase();
    if (meant === "PATCH" && (sent === "PUT" || sent === "POST")) return ok(meant);
    if (meant !== "" && meant !== sent) return fail("UnsupportedHttpVerb");
  }
  return ok(sent);
}

/** The Data Lake API's own codes for facts that the Blob API names differently. */
const codes: Partial<Readonly<Record<FaultCode, FaultCode>>> = {
  BlobNotFound: "PathNotFound",
  ContainerNotFound: "FilesystemNotFound",
  ContainerAlreadyExists: "FilesystemAlreadyExists",
  ContainerBeingDeleted: "FilesystemBeingDeleted",
  BlobAlreadyExists: "PathAlreadyExists",
  LeaseNotPresentWithBlobOperation: "LeaseNotPresent",
  LeaseNotPresentWithContainerOperation: "LeaseNotPresent",
  // Recorded for a flush with `If-None-Match: *`.
  UnsatisfiableCondition: "ConditionNotMet",
  InvalidMetadata: "InvalidPropertyName",
  EmptyMetadataKey: "InvalidPropertyName",
  // Recorded: no challenge, although the Blob API answers 401 with one.
  NoAuthenticationInformation: "AuthenticationFailed",
};

function translate(fault: Fault): Fault {
  const code = codes[fault.code];
  if (code === undefined) return fault;
  const { elements, subject, failedCondition } = fault.detail ?? {};
  const detail = {
    ...(elements && { elements }),
    ...(subject && { subject }),
    ...(failedCondition && { failedCondition }),
  };
  return { code, detail };
}

export const jsonType = "application/json; charset=utf-8";

/** Details have the names that the Blob API gives to elements. */
function renderFault(fault: Fault, { requestId, wallNow }: RequestInfo): RenderedFault {
  const { code } = fault;
  const message = `${faultMessage(fault)}\nRequestId:${requestId}\nTime:${formatIso(wallNow)}`;
  const detail = fault.detail?.elements;
  const text = JSON.stringify({ error: { code, message, ...(detail && { detail }) } });
  return { headers: { "x-ms-error-code": code }, type: jsonType, text, bare: false };
}

export const dialect: Dialect = {
  method,
  etagHeaders: (etag) => ({ ETag: formatETag(etag), "Last-Modified": formatHttpDate(etag) }),
  renderFault,
  translate,
};
