import { crc64Bytes, crc64Of } from "../../src/content/body/checksums.ts";

export const structuredForm = "XSM/1.0; properties=crc64";

/** A structured body, written from the specification, independently of the code under test. */
export function frame(segments: readonly Buffer[], damage?: "segment" | "message"): Buffer {
  const number = (value: bigint | number, bytes: number) => {
    const buffer = Buffer.alloc(bytes);
    let rest = BigInt(value);
    for (let at = 0; at < bytes; at += 1, rest >>= 8n) buffer[at] = Number(rest & 0xffn);
    return buffer;
  };
  const sum = (bytes: Buffer, damaged: boolean) => {
    const crc = Buffer.from(crc64Bytes(crc64Of(bytes)));
    if (damaged) crc[0]! ^= 1;
    return crc;
  };
  const whole = Buffer.concat(segments);
  const parts = segments.flatMap((segment, index) => [
    number(index + 1, 2),
    number(segment.length, 8),
    segment,
    sum(segment, damage === "segment"),
  ]);
  const rest = Buffer.concat([...parts, sum(whole, damage === "message")]);
  const head = [
    number(1, 1),
    number(13 + rest.length, 8),
    number(1, 2),
    number(segments.length, 2),
  ];
  return Buffer.concat([...head, rest]);
}

/** The headers of a request with such a body of `length` bytes of data. */
export function structuredHeaders(length: number) {
  return {
    "x-ms-structured-body": structuredForm,
    "x-ms-structured-content-length": String(length),
  };
}
