import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { explainSignature, type Mistake } from "./signature-checks.ts";

const key = Buffer.from("a key").toString("base64");

function sign(text: string): string {
  return createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
}

it("signs a bounded amount of text, however many headers a request has", () => {
  let tried = 0;
  function* mistakes(): Iterable<Mistake> {
    for (tried = 0; tried < 1000; tried += 1) yield ["one of many", "x".repeat(16 * 1024)];
  }
  const signature = sign("something else");
  const report = explainSignature("text", mistakes(), { keys: [key], signature });
  expect(report.difference).toContain("no common mistake explains");
  expect(tried).toBeLessThan(40);
});

it("finds the mistake of a typical request", () => {
  const others = Array.from({ length: 300 }, (_, at): Mistake => [`mistake ${at}`, `text ${at}`]);
  const mistakes: readonly Mistake[] = [...others, ["the last one", "found"]];
  const report = explainSignature("text", mistakes, { keys: [key], signature: sign("found") });
  expect(report).toEqual({ stringToSign: "text", difference: "the last one" });
});
