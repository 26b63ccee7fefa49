import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitCompound } from "../compound-request.ts";
import { parsePath } from "../files/file-handle.ts";
import { mergeDescriptor } from "../files/security.ts";
import { decodeBasic, decodeRename } from "../files/information-classes.ts";
import { matches } from "../operations/directory.ts";
import { claimsMic, decodeAuthenticate, hasValidPairs } from "../ntlm/login.ts";
import { handlePdu, callShareService } from "../pipe/rpc.ts";
import { decodeClientToken, encodeOffer } from "../spnego/tokens.ts";
import { Framer, framePrefix } from "../framing.ts";
import {
  decodeContexts,
  decodeCreate,
  decodeDurable,
  decodeLease,
  encodeContexts,
} from "./create.ts";
import {
  decodeClose,
  decodeFlush,
  decodeRead,
  decodeWrite,
  decodeIoctl,
  decodeBreak,
  decodeLock,
  decodeChangeNotify,
  decodeQueryDirectory,
  decodeQueryInfo,
  decodeSetInfo,
} from "./io.ts";
import { decodeAlgorithms, decodeNegotiate, decodeSmb1Negotiate } from "./session.ts";
import { Reader } from "./buffers.ts";
import { decodeSessionSetup, decodeTreeConnect } from "./session.ts";
import { inForm } from "../../../tests/harness/long-form.ts";

const decoders = {
  decodeNegotiate,
  decodeSmb1Negotiate,
  decodeSessionSetup,
  decodeTreeConnect,
  decodeCreate,
  decodeClose,
  decodeFlush,
  decodeRead,
  decodeWrite,
  decodeLock,
  decodeIoctl,
  decodeQueryDirectory,
  decodeChangeNotify,
  decodeQueryInfo,
  decodeSetInfo,
  decodeBreak,
  decodeClientToken,
  decodeAuthenticate,
  decodeContexts,
  decodeLease,
  decodeChoices: (bytes: Buffer) => decodeAlgorithms(bytes, true),
  claimsMic,
  hasValidPairs,
  decodeBasic: (bytes: Buffer) => decodeBasic(bytes, false),
  decodeRename,
  mergeDescriptor: (bytes: Buffer) => mergeDescriptor("O:SYG:SYD:", bytes, 0xf),
  parsePath: (bytes: Buffer) => parsePath(bytes.toString("utf16le")),
  matches: (bytes: Buffer) => matches(bytes.toString("utf16le"), "a name.with.dots"),
  splitCompound,
};

/** The size with which each body begins, so that random bytes pass the first check. */
const sizes = [4, 9, 24, 25, 32, 33, 36, 41, 48, 49, 57];

describe("decoders", () => {
  it.each(Object.entries(decoders))("%s does not throw on arbitrary bytes", (_, decode) => {
    const bytes = fc.record({
      size: fc.constantFrom(...sizes),
      body: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(bytes, ({ size, body }) => {
        const message = Buffer.concat([Buffer.alloc(64), Buffer.from([size, 0]), body]);
        expect(() => decode(message)).not.toThrow();
        expect(() => decode(Buffer.from(body))).not.toThrow();
      }),
      { seed: 11, numRuns: inForm(400, 2000) },
    );
  });

  it("handlePdu does not throw on arbitrary PDUs", async () => {
    const shares = async () => ["share"];
    const call = (operation: number, input: Buffer) =>
      callShareService(operation, input, shares, "server");
    const calls = fc.record({
      type: fc.constantFrom(0, 11),
      operation: fc.constantFrom(15, 16, 21, 99),
      body: fc.uint8Array({ maxLength: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(calls, async ({ type, operation, body }) => {
        const head = Buffer.alloc(24);
        head.writeUInt16LE(5, 0);
        head[2] = type;
        head.writeUInt16LE(head.length + body.length, 8);
        head.writeUInt16LE(operation, 22);
        const reply = await handlePdu(Buffer.concat([head, body]), "srvsvc", call);
        expect(reply === undefined || reply.length > 0).toBe(true);
        await handlePdu(Buffer.from(body), "srvsvc", call);
      }),
      { seed: 13, numRuns: inForm(400, 2000) },
    );
  });

  it("returns zeros and clears intact beyond the end of the message", () => {
    const reader = new Reader(Buffer.from([1, 2, 3]));
    expect([reader.u16(), reader.u32(), reader.intact]).toEqual([0x0201, 0, false]);
    expect(new Reader(Buffer.alloc(4)).bytesAt(2, 10)).toHaveLength(0);
  });
});

describe("create contexts", () => {
  it("decode to what was encoded", () => {
    const contexts = [
      { name: "DHnQ", data: Buffer.alloc(16) },
      { name: "MxAc", data: Buffer.alloc(0) },
      { name: "QFid", data: Buffer.from([1, 2, 3]) },
    ];
    expect(decodeContexts(encodeContexts(contexts))).toEqual(contexts);
    expect(decodeDurable(contexts)).toEqual({ kind: "request", version: 1 });
  });
});

describe("Framer", () => {
  it("emits the same frames for every chunk size", () => {
    const frames = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 6 });
    fc.assert(
      fc.property(frames, fc.integer({ min: 1, max: 20 }), (bodies, step) => {
        const stream = Buffer.concat(
          bodies.flatMap((body) => [framePrefix(body.length), Buffer.from(body)]),
        );
        const got: string[] = [];
        const framer = new Framer(
          () => 100,
          (frame) => got.push(frame.toString("hex")),
        );
        for (let at = 0; at < stream.length; at += step) {
          expect(framer.push(stream.subarray(at, at + step))).toBe(true);
        }
        expect(got).toEqual(bodies.map((body) => Buffer.from(body).toString("hex")));
      }),
      { seed: 12 },
    );
  });

  it("rejects a frame that is too long or of an unknown kind", () => {
    expect(
      new Framer(
        () => 100,
        () => {},
      ).push(framePrefix(101)),
    ).toBe(false);
    expect(
      new Framer(
        () => 100,
        () => {},
      ).push(Buffer.from([0x47, 0x45, 0x54, 0x20])),
    ).toBe(false);
  });
});

describe("encodeOffer", () => {
  it("contains the NTLM mechanism id", () => {
    expect(encodeOffer().toString("hex")).toContain("2b06010401823702020a");
  });
});

/** A request whose buffer is named by an offset and a length: where these are in the message, their
 *  sizes, and the end of its fixed part. */
const buffers = [
  { name: "WRITE", decode: decodeWrite, size: 49, offset: [2, 2], length: [4, 4], end: 112 },
  {
    name: "QUERY_INFO",
    decode: decodeQueryInfo,
    size: 41,
    offset: [8, 2],
    length: [12, 4],
    end: 104,
  },
  { name: "SET_INFO", decode: decodeSetInfo, size: 33, offset: [8, 2], length: [4, 4], end: 96 },
  {
    name: "QUERY_DIRECTORY",
    decode: decodeQueryDirectory,
    size: 33,
    offset: [24, 2],
    length: [26, 2],
    end: 96,
  },
  { name: "IOCTL", decode: decodeIoctl, size: 57, offset: [24, 4], length: [28, 4], end: 116 },
  {
    name: "CREATE (name)",
    decode: decodeCreate,
    size: 57,
    offset: [44, 2],
    length: [46, 2],
    end: 120,
  },
  {
    name: "SESSION_SETUP",
    decode: decodeSessionSetup,
    size: 25,
    offset: [12, 2],
    length: [14, 2],
    end: 88,
  },
  {
    name: "TREE_CONNECT",
    decode: decodeTreeConnect,
    size: 9,
    offset: [4, 2],
    length: [6, 2],
    end: 72,
  },
] as const;

describe("the buffer of a request", () => {
  it.each(buffers)("$name: is after its fixed part", ({ decode, size, offset, length, end }) => {
    const headerBytes = 64;
    const decodeAt = (at: number, count: number): unknown => {
      const message = Buffer.alloc(256);
      message.writeUInt16LE(size, headerBytes);
      message.writeUIntLE(at, headerBytes + offset[0], offset[1]);
      message.writeUIntLE(count, headerBytes + length[0], length[1]);
      return decode(message);
    };
    for (const at of [0, 1, headerBytes, end - 1]) expect(decodeAt(at, 8)).toBeUndefined();
    expect(decodeAt(256 - 4, 8)).toBeUndefined();
    expect(decodeAt(end, 8)).toBeDefined();
    expect(decodeAt(0, 0)).toBeDefined();
  });

  it("NEGOTIATE: has its contexts after the dialects", () => {
    const decodeAt = (at: number): unknown => {
      const message = Buffer.alloc(256);
      message.writeUInt16LE(36, 64);
      message.writeUInt16LE(1, 66);
      message.writeUInt32LE(at, 92);
      message.writeUInt16LE(0x0311, 100);
      return decodeNegotiate(message);
    };
    for (const at of [0, 64, 101]) expect(decodeAt(at)).toBeUndefined();
    expect(decodeAt(104)).toBeDefined();
  });
});
