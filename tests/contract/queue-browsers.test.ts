import { beforeEach, describe, expect, it } from "vitest";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

const rules =
  "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>https://shop.example</AllowedOrigins>" +
  "<AllowedMethods>GET,POST</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders>" +
  "<ExposedHeaders>x-ms-request-id</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds>" +
  "</CorsRule></Cors></StorageServiceProperties>";

let sim: SimQueue;

beforeEach(async () => {
  sim = await simQueue();
  const path = "/?restype=service&comp=properties";
  expect((await sim.send({ method: "PUT", path, body: rules })).status).toBe(202);
});

const ask = (path: string, method: string, origin = "https://shop.example") =>
  sim.send({
    method: "OPTIONS",
    path,
    headers: { origin, "access-control-request-method": method },
  });

describe("queue preflight", () => {
  it.each(["/any/messages", "/any?comp=metadata", "/?restype=service&comp=properties"])(
    "answers for %s, whether it exists or not",
    async (path) => {
      const answer = await ask(path, "POST");
      expect(answer.status).toBe(200);
      expect(answer.headers["access-control-allow-origin"]).toBe("https://shop.example");
      expect(answer.headers["access-control-max-age"]).toBe("60");
    },
  );
  it("rejects requests that no rule allows", async () => {
    expect((await ask("/any/messages", "DELETE")).code).toBe("CorsPreflightFailure");
    expect((await ask("/any/messages", "GET", "https://else.example")).status).toBe(403);
  });
  it("the actual request gets the CORS headers", async () => {
    await sim.send({ method: "PUT", path: "/any" });
    const headers = { origin: "https://shop.example" };
    const answer = await sim.send({ method: "GET", path: "/any/messages", headers });
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "https://shop.example",
      vary: "Origin",
    });
  });
});
