import { afterAll, beforeAll } from "vitest";
import { start, type EtagereServer, type StartOptions } from "../../src/index.ts";
import { freePorts } from "./free-ports.ts";
import { rawClient, type RawClient } from "./raw-client.ts";
import { placeOf } from "./test-store.ts";

export { freePorts };

/** A server for one test file, in memory unless the options differ. */
export function testServer(options: StartOptions = {}): { server: EtagereServer; blob: RawClient } {
  const held = {} as { server: EtagereServer; blob: RawClient };
  beforeAll(async () => {
    held.server = await start({ ...freePorts, ...placeOf(options), ...options });
    held.blob = rawClient(held.server.urls.blob ?? "");
  });
  afterAll(async () => {
    await held.server.stop();
  });
  return held;
}

let names = 0;

/** A container name that no other test of this file uses. */
export function freshName(prefix = "c"): string {
  names += 1;
  return `${prefix}${names}x`;
}
