import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerReader } from "../../scripts/bench/answer-reader.ts";

const counted = 'HTTP/1.1 200 OK\r\nETag: "0x1"\r\nContent-Length: 5\r\n\r\nhello';
const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";

/** Splits the text at these positions and reads the chunks. */
function readInPieces(text: string, cuts: readonly number[], reader = new AnswerReader()) {
  const bounds = [0, ...cuts.toSorted((a, b) => a - b), text.length];
  const answers = bounds.slice(1).map((to, index) => {
    const piece = Buffer.from(text.slice(bounds[index], to), "latin1");
    return piece.length === 0 ? undefined : reader.take(piece, false);
  });
  return { reader, whole: answers.filter((answer) => answer !== undefined) };
}

describe("the response reader", () => {
  it.each([counted, chunked])(
    "completes a response with its last byte for every chunk boundary",
    (text) => {
      const cut = fc.integer({ min: 1, max: text.length - 1 });
      fc.assert(
        fc.property(fc.uniqueArray(cut, { maxLength: 6 }), (cuts) => {
          const first = readInPieces(text, cuts);
          const second = readInPieces(text, cuts, first.reader);
          for (const { whole } of [first, second]) {
            expect(whole).toHaveLength(1);
            expect(whole[0]?.status).toBe(200);
            expect(whole[0]?.body.toString()).toBe("hello");
          }
        }),
      );
    },
  );

  it("returns header names in lower case", () => {
    const [answer] = readInPieces(counted, []).whole;
    expect(answer?.header("etag")).toBe('"0x1"');
    expect(answer?.header("content-md5")).toBeUndefined();
  });

  it("ends a response without a body after its headers, whatever Content-Length says", () => {
    const head = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    expect(new AnswerReader().take(head, true)?.bodyBytes).toBe(0);
    const none = Buffer.from("HTTP/1.1 204 No Content\r\n\r\n");
    expect(new AnswerReader().take(none, false)?.status).toBe(204);
  });

  it("skips an interim response", () => {
    const { whole } = readInPieces(`HTTP/1.1 100 Continue\r\n\r\n${counted}`, []);
    expect(whole[0]?.status).toBe(200);
  });

  it("counts a body of several MiB without keeping it", () => {
    const length = 4 * 1024 * 1024;
    const reader = new AnswerReader();
    reader.take(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`), false);
    const answer = reader.take(Buffer.alloc(length), false);
    expect(answer?.bodyBytes).toBe(length);
    expect(answer?.body.length).toBe(0);
  });

  it("reports whether the connection is closed after the response", () => {
    const closing = "HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    expect(readInPieces(closing, []).reader.closes).toBe(true);
    expect(readInPieces(counted, []).reader.closes).toBe(false);
  });
});
