import { describe, expect, test } from "vitest";
import {
  bodyTooLarge,
  faultMessage,
  faults,
  faultStatus,
  invalidHeader,
  invalidQuery,
  missingHeader,
  missingQuery,
  outOfRangeQuery,
  sourceIpMismatch,
} from "./faults.ts";
import type { FaultCode } from "./faults.ts";
import type { Failure } from "./result.ts";

test.each(Object.entries(faults))("%s has an error status and a message", (_code, entry) => {
  expect(entry.status).toBeGreaterThanOrEqual(400);
  expect(entry.status).toBeLessThan(600);
  expect(entry.message).toMatch(/^[A-Zx].*[^ ]$/);
  expect(entry.message).not.toMatch(/ {2}|\n|[{}<>]/);
});

/** Recorded texts with misspellings or one of several forms, which a correction would lose. */
test.each<[FaultCode, number, string]>([
  ["InvalidResourceName", 400, "The specifed resource name contains invalid characters."],
  ["ConditionNotMet", 412, "The condition specified using HTTP conditional header(s) is not met."],
  ["BlobAlreadyExists", 409, "The specified blob already exists."],
  ["TableNotFound", 404, "The table specified does not exist."],
  [
    "LeaseIdMismatchWithBlobOperation",
    412,
    "The lease ID specified did not match the lease ID for the blob.",
  ],
  ["InvalidPageRange", 416, "The page range specified is invalid."],
  ["OutOfRangeInput", 400, "One of the request inputs is out of range."],
  [
    "Crc64Mismatch",
    400,
    "The CRC64 value specified in the request did not match with the CRC64 value calculated by " +
      "the server.",
  ],
])("%s %d", (code, status, message) => {
  expect(faultStatus({ code })).toBe(status);
  expect(faultMessage({ code })).toBe(message);
});

test("a detail takes precedence over the table", () => {
  const fault = { code: "ConditionNotMet", detail: { status: 304, message: "Other." } } as const;
  expect([faultStatus(fault), faultMessage(fault)]).toEqual([304, "Other."]);
});

describe("elements keep the order the service writes them in", () => {
  test.each<[Failure, FaultCode, readonly (readonly [string, string])[]]>([
    [
      invalidHeader("h", "v"),
      "InvalidHeaderValue",
      [
        ["HeaderName", "h"],
        ["HeaderValue", "v"],
      ],
    ],
    [missingHeader("h"), "MissingRequiredHeader", [["HeaderName", "h"]]],
    [missingQuery("q"), "MissingRequiredQueryParameter", [["QueryParameterName", "q"]]],
    [
      invalidQuery("q", "v"),
      "InvalidQueryParameterValue",
      [
        ["QueryParameterName", "q"],
        ["QueryParameterValue", "v"],
      ],
    ],
    [
      invalidQuery("q", "v", "why"),
      "InvalidQueryParameterValue",
      [
        ["QueryParameterName", "q"],
        ["QueryParameterValue", "v"],
        ["Reason", "why"],
      ],
    ],
    [
      outOfRangeQuery("q", "0", 1, 32),
      "OutOfRangeQueryParameterValue",
      [
        ["QueryParameterName", "q"],
        ["QueryParameterValue", "0"],
        ["MinimumAllowed", "1"],
        ["MaximumAllowed", "32"],
      ],
    ],
    [bodyTooLarge(65_536), "RequestBodyTooLarge", [["MaxLimit", "65536"]]],
  ])("%j", ({ fault }, code, elements) => {
    expect(fault.code).toBe(code);
    expect(Object.entries(fault.detail?.elements ?? {})).toEqual(elements);
  });
});

test("a rejected client address is part of the message", () => {
  const { fault } = sourceIpMismatch("10.0.0.1");
  expect(faultMessage(fault)).toBe(
    "This request is not authorized to perform this operation using this source IP 10.0.0.1.",
  );
});
