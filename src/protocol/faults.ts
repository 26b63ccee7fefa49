import { faults } from "./fault-table.ts";
import type { Failure } from "./result.ts";

/** Faults: an error code of Azure with what one occurrence adds to it. Functions that build those
 *  with XML elements, which all services use; codes, statuses and texts are in `fault-table.ts`. */

export { faults };

export type FaultCode = keyof typeof faults;

/** What one occurrence of a fault overrides in, or adds to, its entry of the fault table. */
export interface FaultDetail {
  readonly status?: number;
  readonly message?: string;
  /** XML elements after the message, in this order, such as HeaderName and HeaderValue. */
  readonly elements?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The conditional header that failed; for the request feed, never sent to the client. */
  readonly failedCondition?: ConditionName;
  /** The property, header, parameter or element at fault; only for the debug log. */
  readonly subject?: string;
  /** The clients whose open handles caused the conflict; for the request feed. */
  readonly heldBy?: readonly HandleHolder[];
}

/** A client with an open handle, which the request feed shows as the cause of a conflict. */
export interface HandleHolder {
  readonly id: bigint;
  readonly client: string;
}

/** The conditional headers that can be named as the cause of a rejection. */
export type ConditionName =
  | "If-Match"
  | "If-None-Match"
  | "If-Modified-Since"
  | "If-Unmodified-Since"
  | "x-ms-if-tags"
  | "x-ms-access-tier-if-modified-since"
  | "x-ms-access-tier-if-unmodified-since";

/** An error response: the code, and what this occurrence adds to its entry of the table. */
export interface Fault {
  readonly code: FaultCode;
  readonly detail?: FaultDetail;
}

export function faultStatus(fault: Fault): number {
  return fault.detail?.status ?? faults[fault.code].status;
}

export function faultMessage(fault: Fault): string {
  return fault.detail?.message ?? faults[fault.code].message;
}

/** Adds to a fault which property, header or parameter caused it, for the debug log. A subject that
 *  the fault has already is kept. */
export function withSubject(failure: Failure, subject: string): Failure {
  const { code, detail } = failure.fault;
  if (detail?.subject !== undefined) return failure;
  return { ok: false, fault: { code, detail: { ...detail, subject } } };
}

/** The fault 400 InvalidHeaderValue, with the name and the value of the header. */
export function invalidHeader(name: string, value: string): Failure {
  return withElements("InvalidHeaderValue", { HeaderName: name, HeaderValue: value });
}

export function missingHeader(name: string): Failure {
  return withElements("MissingRequiredHeader", { HeaderName: name });
}

export function unsupportedHeader(name: string): Failure {
  return withElements("UnsupportedHeader", { HeaderName: name });
}

/** The fault 400 of a query parameter. Without `reason` the element `Reason` is omitted, as Azure
 *  does for a malformed `snapshot` parameter, for example. */
export function invalidQuery(name: string, value: string, reason?: string): Failure {
  const elements = { QueryParameterName: name, QueryParameterValue: value };
  return withElements("InvalidQueryParameterValue", elements, reason);
}

export function missingQuery(name: string): Failure {
  return withElements("MissingRequiredQueryParameter", { QueryParameterName: name });
}

export function outOfRangeQuery(
  name: string,
  value: string,
  minimum: number | bigint,
  maximum: number | bigint,
): Failure {
  return withElements("OutOfRangeQueryParameterValue", {
    QueryParameterName: name,
    QueryParameterValue: value,
    MinimumAllowed: String(minimum),
    MaximumAllowed: String(maximum),
  });
}

/** The fault 400 of an XML body. `position` counts from 1; for a fault of the whole document Azure
 *  sends line 0, position 0. */
export function invalidXml(line: number, position: number, reason: string): Failure {
  const elements = { LineNumber: String(line), LinePosition: String(position) };
  return withElements("InvalidXmlDocument", elements, reason);
}

export function invalidXmlNode(name: string, value: string, reason?: string): Failure {
  return withElements("InvalidXmlNodeValue", { XmlNodeName: name, XmlNodeValue: value }, reason);
}

export function missingXmlNode(name: string): Failure {
  return withElements("MissingRequiredXmlNode", { XmlNodeName: name });
}

export function bodyTooLarge(maxLimit: number): Failure {
  return withElements("RequestBodyTooLarge", { MaxLimit: String(maxLimit) });
}

/** The fault of a resource name that is too short or too long: OutOfRangeInput with the text that
 *  the service has for this case. */
export function nameLengthOutOfRange(): Failure {
  const message = "The specified resource name length is not within the permissible limits.";
  return { ok: false, fault: { code: "OutOfRangeInput", detail: { message } } };
}

/** The fault of a request with a SAS that is limited to other client addresses (`sip`). */
export function sourceIpMismatch(address: string): Failure {
  const message =
    "This request is not authorized to perform this operation using this source IP " +
    `${address}.`;
  return { ok: false, fault: { code: "AuthorizationSourceIPMismatch", detail: { message } } };
}

function withElements(
  code: FaultCode,
  named: Readonly<Record<string, string>>,
  reason?: string,
): Failure {
  const elements = reason === undefined ? named : { ...named, Reason: reason };
  return { ok: false, fault: { code, detail: { elements } } };
}
