import type { Request } from "./request.ts";
import { Dialect } from "./wire/protocol.ts";

/** Payload that one credit pays for ([MS-SMB2] 3.1.5.2). */
export const bytesPerCredit = 65_536;

/** Whether the request's CreditCharge covers its payload ([MS-SMB2] 3.3.5.2.5). */
export function coversBytes({ header, connection }: Request, bytes: number): boolean {
  if (connection.dialect === Dialect.v202) return bytes <= bytesPerCredit;
  return bytes <= Math.max(1, header.creditCharge) * bytesPerCredit;
}
