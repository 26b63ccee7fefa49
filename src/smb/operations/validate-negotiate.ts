import { disconnect } from "../response.ts";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import type { IoctlRequest } from "../wire/ioctl.ts";
import { Dialect } from "../wire/protocol.ts";
import { Reader } from "../wire/reader.ts";
import { Writer } from "../wire/writer.ts";
import type { ControlResult } from "./ioctl.ts";

const dialectsMax = 64;
const answerBytes = 24;

/** FSCTL_VALIDATE_NEGOTIATE_INFO: the client repeats its NEGOTIATE in a signed message. If the two
 *  differ, an attacker changed the first, and the connection is closed. */
export function validateNegotiate(
  { connection }: TreeRequest,
  { input, outputBytesMax }: IoctlRequest,
): ControlResult {
  const { negotiated, server } = connection;
  if (negotiated === undefined || negotiated.dialect === Dialect.v311) return disconnect;
  const reader = new Reader(input);
  const capabilities = reader.u32();
  const guid = reader.bytes(16);
  const securityMode = reader.u16();
  const count = reader.u16();
  if (count > dialectsMax) return disconnect;
  const dialects = Array.from({ length: count }, () => reader.u16());
  if (!reader.intact) return disconnect;
  if (outputBytesMax < answerBytes) return Status.invalidParameter;
  const isSame =
    capabilities === negotiated.clientCapabilities &&
    guid.equals(negotiated.clientGuid) &&
    securityMode === negotiated.clientSecurityMode &&
    dialects.join() === negotiated.clientDialects.join();
  if (!isSame) return disconnect;
  return new Writer(answerBytes)
    .u32(negotiated.capabilities)
    .bytes(server.guid)
    .u16(server.securityMode)
    .u16(negotiated.dialect)
    .finish();
}
