import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { RemoteKeys } from "../../src/http/auth/tokens/token-verifier.ts";
import { simWorld } from "../harness/sim-world.ts";

it("closing aborts a fetch from an issuer that does not answer, without a warning", async () => {
  const provider = createServer();
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const { clock, log } = simWorld(1);
  const asked = once(provider, "request");
  const keys = new RemoteKeys({ issuer: { issuer, jwks: undefined }, clock, log });
  await asked;
  const running = keys.refresh();
  keys.close();
  await running;
  expect(log.lines).toEqual([]);
  expect(keys.find("any")).toBeUndefined();
  provider.closeAllConnections();
  provider.close();
});
