import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { realClock } from "../host/world.ts";
import { boundPipelining, pipelinedMax } from "./limits/connections.ts";

const clock = realClock();
const requests = 5000;
/** Node reads so much at a time, and all requests in it. */
const readBytes = 64 * 1024;

it("serves pipelined requests in groups, and in order", async () => {
  let inFlight = 0;
  let inFlightMax = 0;
  const server = createServer((request, response: ServerResponse) => {
    boundPipelining(request, response, clock);
    inFlight += 1;
    inFlightMax = Math.max(inFlightMax, inFlight);
    response.on("finish", () => {
      inFlight -= 1;
    });
    setImmediate(() => response.end(`<${request.url}>`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const one = (at: number): string =>
    `GET /${at} HTTP/1.1\r\nHost: a\r\nX-Pad: ${"x".repeat(400)}\r\n\r\n`;
  client.write(Array.from({ length: requests }, (_, at) => one(at)).join(""));
  let text = "";
  for await (const chunk of client) {
    text += String(chunk);
    if (text.includes(`</${requests - 1}>`)) break;
  }
  const answered = [...text.matchAll(/<\/(\d+)>/g)].map(([, at]) => Number(at));
  expect(answered).toEqual(Array.from({ length: requests }, (_, at) => at));
  expect(inFlightMax).toBeLessThan(pipelinedMax + 3 * Math.ceil(readBytes / one(0).length));
  server.close();
  server.closeAllConnections();
});
