import { invalidHeader, missingHeader } from "../protocol/faults.ts";
import { fail, ok, type Failure, type Result } from "../protocol/result.ts";
import { readStructured, InvalidStructuredBody } from "../content/read-structured.ts";
import { isStructuredForm } from "../content/structured-form.ts";
import type { WireRequest } from "./wire.ts";

export const structuredHeader = "x-ms-structured-body";
const lengthHeader = "x-ms-structured-content-length";

/** Replaces a body with `x-ms-structured-body` by its plain bytes, and verifies its checksums while
 *  it is read. */
export function unwrapStructured(request: WireRequest): Result<WireRequest> {
  const form = request.headers[structuredHeader];
  const sends = request.method === "PUT" || request.method === "POST";
  if (form === undefined || form === "" || !sends) return ok(request);
  if (!isStructuredForm(form)) return invalidHeader(structuredHeader, form);
  const length = request.headers[lengthHeader];
  if (length === undefined) return missingHeader(lengthHeader);
  if (!/^\d{1,16}$/.test(length)) return invalidHeader(lengthHeader, length);
  return ok({
    ...request,
    headers: { ...request.headers, "content-length": length },
    body: readStructured(request.body),
  });
}

/** The fault of a malformed structured body. Rethrows any other error. */
export function structuredFault(error: unknown): Failure {
  if (!(error instanceof InvalidStructuredBody)) throw error;
  return error.checksum ? fail("Crc64Mismatch") : fail("InvalidInput", { message: error.message });
}
