import type { ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import { appendEvents, startEventLog } from "../../../tests/harness/event-log.ts";
import { simBlob, type SimBlob } from "../../../tests/harness/sim-blob.ts";
import { developmentAccountName as account } from "../../account/settings.ts";
import type { ViewContext } from "../admin-context.ts";
import { EventStreams } from "./event-stream.ts";

const streamsMax = 32;
const eventCount = 2000;

/** A client that reads nothing: writes never end. */
class StuckResponse extends Writable {
  constructor() {
    super({ write: () => undefined });
  }

  writeHead(): this {
    return this;
  }
}

let sim: SimBlob;
let streams: EventStreams;

beforeEach(async () => {
  sim = await simBlob();
  await startEventLog(sim.store);
  await appendEvents(sim.store, eventCount);
  const { runtime, clock, log } = sim;
  const facts = () => ({ urls: {} });
  streams = new EventStreams({ runtime, clock, log, facts } as unknown as ViewContext);
});

type Serve = Parameters<ReturnType<EventStreams["route"]>["serve"]>[0];

function open(response: StuckResponse): Promise<unknown> {
  const request = {
    query: new URLSearchParams({ account, after: "0-0" }),
    headers: {},
    accounts: sim.http.accounts,
    isValid: () => true,
    sees: () => true,
  } as unknown as Serve["request"];
  const answered = response as unknown as ServerResponse;
  return Promise.resolve(streams.route().serve({ request, response: answered } as Serve));
}

test("a client that reads nothing gets a bounded part, and its place is free later", async () => {
  const responses = Array.from({ length: streamsMax }, () => new StuckResponse());
  for (const response of responses) expect(await open(response)).toBeUndefined();
  const least = (): number => Math.min(...responses.map((each) => each.writableLength));
  await expect.poll(least).toBeGreaterThan(256 * 1024);
  expect(await open(new StuckResponse())).toMatchObject({ status: 503 });
  for (const { writableLength } of responses) expect(writableLength).toBeLessThan(1024 * 1024);
  for (const response of responses) response.destroy();
  const later = async (): Promise<unknown> => {
    const response = new StuckResponse();
    const refusal = await open(response);
    response.destroy();
    return refusal;
  };
  await expect.poll(later).toBeUndefined();
});
