import { isIPv4, isIPv6 } from "node:net";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import type { IoctlRequest } from "../wire/ioctl.ts";
import { isNoFile } from "../wire/file-id.ts";
import { Dialect } from "../wire/protocol.ts";
import { Writer } from "../wire/writer.ts";
import type { ControlResult } from "./ioctl.ts";

const entryBytes = 152;
const addressBytes = 128;
const interfaceIndex = 1;
/** The link speed that is reported; the real one is not known. */
const bitsPerSecond = 10_000_000_000n;
const internetFamily = 2;
const internet6Family = 0x17;
const mappedPrefix = "::ffff:";

/** FSCTL_QUERY_NETWORK_INTERFACE_INFO ([MS-SMB2] 2.2.32.5): lists only the address that the client
 *  is connected to, because the server may not listen on others. */
export function networkInterfaces(
  { connection: { dialect, localAddress } }: TreeRequest,
  { fileId, outputBytesMax }: IoctlRequest,
): ControlResult {
  if (dialect < Dialect.v300) return Status.notSupported;
  if (!isNoFile(fileId)) return Status.invalidParameter;
  if (outputBytesMax < entryBytes) return Status.bufferTooSmall;
  const head = new Writer(entryBytes).u32(0).u32(interfaceIndex).u32(0).u32(0).u64(bitsPerSecond);
  return head.bytes(socketAddress(localAddress)).finish();
}

function socketAddress(text: string): Buffer {
  const plain = text.startsWith(mappedPrefix) ? text.slice(mappedPrefix.length) : text;
  const writer = new Writer(addressBytes);
  if (isIPv4(plain)) {
    writer
      .u16(internetFamily)
      .u16(0)
      .bytes(Buffer.from(plain.split(".").map(Number)));
  } else {
    const address = isIPv6(plain) ? bytesOfIPv6(plain) : Buffer.alloc(16);
    writer.u16(internet6Family).u16(0).u32(0).bytes(address);
  }
  return writer.zeros(addressBytes - writer.length).finish();
}

const groupsMax = 8;

/** The 16 bytes of an IPv6 address. It comes from the system, so it is well-formed. A zone is left
 *  out, because it is valid only on this machine. */
function bytesOfIPv6(text: string): Buffer {
  const [left = "", right] = text.split("%", 1)[0]!.split("::");
  const groupsOf = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const head = groupsOf(left);
  const tail = right === undefined ? [] : groupsOf(right);
  const gap = Math.max(0, groupsMax - head.length - tail.length);
  const writer = new Writer(16);
  for (const group of [...head, ...Array<number>(gap).fill(0), ...tail]) {
    writer.u8(group >> 8).u8(group & 0xff);
  }
  return writer.finish();
}
