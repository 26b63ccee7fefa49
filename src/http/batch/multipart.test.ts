import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEmbeddedRequest, renderEmbeddedReply } from "./embedded-http.ts";
import { TextBytes } from "../../encoding/text-bytes.ts";
import { boundaryOf, parseMultipart, Part, partHeadersMax, writeMultipart } from "./multipart.ts";

const parse = (text: string, partsMax = 10) => parseMultipart(Buffer.from(text), "b", { partsMax });

describe("boundaryOf", () => {
  it.each([
    ["multipart/mixed; boundary=batch_1", "batch_1"],
    ['Multipart/Mixed;boundary="a b"', "a b"],
    ["multipart/mixed; charset=utf-8; boundary=x", "x"],
    ["multipart/form-data; boundary=x", undefined],
    ["multipart/mixed", undefined],
    [`multipart/mixed; boundary=${"x".repeat(71)}`, undefined],
  ])("reads %s", (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });
});

describe("parseMultipart", () => {
  it("parses what was rendered, for any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), (bodies) => {
        const parts = bodies.map((body) => ({ headers: { "Content-ID": "1" }, body }));
        const out = new TextBytes();
        writeMultipart(out, "b_3f", parts);
        const rendered = out.bytes();
        const parsed = parseMultipart(rendered, "b_3f", { partsMax: 8 });
        expect(parsed.ok && parsed.value.map(({ body }) => [...body])).toEqual(
          bodies.map((body) => [...body]),
        );
      }),
    );
  });

  it("removes blanks around a header's value", () => {
    const parsed = parse("--b\r\nA: \t x \t y \t\r\nB:\r\n\r\n--b--");
    expect(parsed).toMatchObject({ value: [{ headers: { a: "x \t y", b: "" } }] });
  });

  it("stops at partsMax on request", () => {
    const limits = { partsMax: 2, stopsAtMax: true } as const;
    const parsed = parseMultipart(Buffer.from("--b\n\n".repeat(9)), "b", limits);
    expect(parsed).toMatchObject({ ok: true, value: { length: 2 } });
  });

  it("accepts bare line feeds, a preamble and text that looks like a boundary", () => {
    const parsed = parse("hello\n--b\nA: 1\n\nx --b\n--bee\n--b--");
    expect(parsed).toMatchObject({ ok: true });
    expect(parsed.ok && Buffer.from(parsed.value[0]!.body).toString()).toBe("x --b\n--bee");
  });

  it.each([
    ["the same headers again", "A: 1\r\n\r\nx", "A: 1\r\n\r\ny", [{ a: "1" }, { a: "1" }]],
    ["more headers", "A: 1\r\n\r\nx", "A: 1\r\nB: 2\r\n\r\ny", [{ a: "1" }, { a: "1", b: "2" }]],
    [
      "headers that nothing ended before",
      "A: 1\n",
      "A: 1\nB: 2\n\ny",
      [{ a: "1" }, { a: "1", b: "2" }],
    ],
    ["fewer headers", "A: 1\nB: 2\n\nx", "A: 1\n\ny", [{ a: "1", b: "2" }, { a: "1" }]],
    ["no headers after none", "\nx", "\ny", [{}, {}]],
  ])("reads %s", (_, first, second, headers) => {
    const parsed = parse(`--b\r\n${first}\r\n--b\r\n${second}\r\n--b--`);
    expect(parsed.ok && parsed.value.map((part) => ({ ...part.headers }))).toEqual(headers);
    expect(parsed.ok && parsed.value[1]!.body.toString()).toBe("y");
  });

  it("accepts a body without parts", () => {
    expect(parse("--b--\r\n")).toEqual({ ok: true, value: [] });
  });

  it.each([
    ["nothing at all", ""],
    ["no closing boundary", "--b\r\n\r\nx\r\n"],
    ["a header without a name", "--b\r\n: x\r\n\r\n\r\n--b--"],
    ["too many headers", `--b\r\n${"a: b\r\n".repeat(partHeadersMax + 1)}\r\n\r\n--b--`],
    ["too many parts", "--b\r\n\r\n".repeat(12) + "--b--"],
  ])("refuses %s", (_, text) => {
    expect(parse(text)).toMatchObject({ ok: false, fault: { code: "InvalidInput" } });
  });
});

describe("embedded requests", () => {
  const embedded = (text: string) =>
    parseEmbeddedRequest(new Part({ headers: {}, rawHeaders: [] }, Buffer.from(text)));

  it("has method, target, headers and a body of its Content-Length", () => {
    const request = embedded(
      "POST /t?x=1 HTTP/1.1\r\nContent-Length: 2\r\nIf-Match: *\r\n\r\n{}\r\n",
    );
    expect(request).toMatchObject({
      ok: true,
      value: { method: "POST", target: "/t?x=1", headers: { "if-match": "*" } },
    });
    expect(request.ok && Buffer.from(request.value.body).toString()).toBe("{}");
  });

  it.each(["", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx", "x y z\r\n\r\n"])(
    "rejects %j",
    (text) => {
      expect(embedded(text)).toMatchObject({ ok: false });
    },
  );

  it("accepts headers without an empty line at the end", () => {
    const request = embedded("DELETE /c/b HTTP/1.1\r\nA: 1\r\nB: 2\r\n");
    expect(request).toMatchObject({ ok: true, value: { headers: { a: "1", b: "2" } } });
  });

  it("renders a status line, headers and body", () => {
    const reply = {
      status: 404,
      headers: { A: "b" },
      body: { kind: "bytes", bytes: "x" },
    } as const;
    expect(renderEmbeddedReply(reply, {}).body).toBe("HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nx");
  });
});
