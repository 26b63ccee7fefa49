import { beforeEach, describe, expect, it } from "vitest";
import { messageBody, QueueCalls } from "../harness/queue-messages.ts";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

let sim: SimQueue;
let queue: QueueCalls;

beforeEach(async () => {
  sim = await simQueue();
  queue = new QueueCalls(sim, "orders");
  await queue.create();
});

const post = (body: string | Uint8Array) =>
  sim.send({ method: "POST", path: "/orders/messages", body });

describe("message texts", () => {
  it.each([
    ["line\nfeed", "line\nfeed"],
    ["a &amp; b &lt; c &gt; d", "a &amp; b &lt; c &gt; d"],
    ["return&#xD;kept", "return&#xD;kept"],
    ["a raw return\r\nis a line feed to XML", "a raw return\nis a line feed to XML"],
    ["<![CDATA[<raw>]]>", "&lt;raw&gt;"],
    ["aGVsbG8=", "aGVsbG8="],
    ["  ", "  "],
  ])("%j is returned as %j", async (sent, shown) => {
    expect((await queue.put(sent)).status).toBe(201);
    expect((await queue.peek())[0]?.text).toBe(shown);
  });
  it("an empty text is accepted", async () => {
    expect((await post("<QueueMessage><MessageText /></QueueMessage>")).status).toBe(201);
    const { body } = await queue.getAnswer();
    expect(body).toContain("<MessageText /></QueueMessage>");
  });
  it.each([
    ["nothing", "", "InvalidXmlDocument"],
    ["no XML", "hello", "InvalidXmlDocument"],
    ["another root", "<Message />", "InvalidXmlDocument"],
    ["no text", "<QueueMessage />", "MissingRequiredXmlNode"],
    ["a control character", messageBody("\u0001"), "InvalidXmlDocument"],
    ["an escaped one", messageBody("&#x1;"), "InvalidXmlDocument"],
    ["a lone entity", messageBody("&nbsp;"), "InvalidXmlDocument"],
    ["a cut tag", "<QueueMessage><MessageText>a", "InvalidXmlDocument"],
    ["bytes that are no UTF-8", Buffer.from([0x3c, 0xff, 0xfe]), "InvalidXmlDocument"],
  ])("%s is rejected and stores nothing", async (_what, body, code) => {
    expect(await post(body)).toMatchObject({ status: 400, code });
    expect(await queue.count()).toBe(0);
  });
  it("the limit of 64 KiB applies to UTF-8 after unescaping", async () => {
    expect((await queue.put("&amp;".repeat(65_536))).status).toBe(201);
    expect((await queue.put("é".repeat(32_768))).status).toBe(201);
    const answer = await queue.put("é".repeat(32_769));
    expect(answer).toMatchObject({ status: 413, code: "RequestBodyTooLarge" });
    expect(answer.body).toContain("<MaxLimit>65536</MaxLimit>");
    expect(await queue.count()).toBe(2);
  });
});

describe("queue URLs", () => {
  it.each([
    ["GET", "/orders/other", 400, "InvalidUri"],
    ["GET", "/orders/messages/a/b", 400, "InvalidUri"],
    ["PUT", "/Orders", 400, "InvalidResourceName"],
    ["PUT", "/or", 400, "OutOfRangeInput"],
    ["PUT", "/or--ders", 400, "InvalidResourceName"],
    ["POST", "/orders", 405, "UnsupportedHttpVerb"],
    ["GET", "/orders?comp=nothing", 400, "InvalidQueryParameterValue"],
    ["DELETE", "/orders/messages/no-id?popreceipt=no-receipt", 400, "InvalidQueryParameterValue"],
    ["DELETE", "/orders/messages/no-id?popreceipt=AgAAAAMAAAAAAAAA", 404, "MessageNotFound"],
    ["DELETE", "/orders/messages/no-id", 400, "MissingRequiredQueryParameter"],
    ["DELETE", "/missing/messages/no-id?popreceipt=a", 404, "QueueNotFound"],
  ])("%s %s is %i %s", async (method, path, status, code) => {
    expect(await sim.send({ method, path })).toMatchObject({ status, code });
  });
});
