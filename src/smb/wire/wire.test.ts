import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitCompound } from "../compound-elements.ts";
import { parsePath } from "../files/path.ts";
import { mergeDescriptor } from "../files/security.ts";
import { decodeBasic, decodeRename } from "../files/set-classes.ts";
import { matches } from "../files/wildcard.ts";
import { claimsMic, decodeAuthenticate, hasValidPairs } from "../ntlm/messages.ts";
import { handlePdu } from "../pipe/rpc.ts";
import { callShareService } from "../pipe/share-service.ts";
import { decodeClientToken, encodeOffer } from "../spnego/tokens.ts";
import { Framer, framePrefix } from "../framing.ts";
import { decodeContexts, decodeLease, encodeContexts } from "./create-contexts.ts";
import { decodeCreate } from "./create.ts";
import { decodeDurable } from "./durable-contexts.ts";
import { decodeClose, decodeFlush, decodeRead, decodeWrite } from "./io.ts";
import { decodeIoctl } from "./ioctl.ts";
import { decodeLock } from "./lock.ts";
import { decodeAlgorithms, decodeNegotiate, decodeSmb1Negotiate } from "./negotiate.ts";
import { decodeBreak } from "./oplock-break.ts";
import {
  decodeChangeNotify,
  decodeQueryDirectory,
  decodeQueryInfo,
  decodeSetInfo,
} from "./query.ts";
import { Reader } from "./reader.ts";
import { decodeSessionSetup } from "./session-setup.ts";
import { decodeTreeConnect } from "./tree-connect.ts";

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
      { seed: 11, numRuns: 2000 },
    );
  });

  it("handlePdu does not throw on arbitrary PDUs", async () => {
    const shares = async () => [{ name: "share", comment: "" }];
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
      { seed: 13, numRuns: 2000 },
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
