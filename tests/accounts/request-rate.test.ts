import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { adminToken, callAccounts, clientOf, keyOf } from "./account-servers.ts";

const limit = 1;
const requests = 20;

it("answers 503 ServerBusy to the requests of an account beyond its limit", async () => {
  const accounts = { other: { keys: [keyOf(1)] } };
  const server = await start({ ...freePorts, inMemoryPersistence: true, adminToken, accounts });
  try {
    await callAccounts(server, "POST", "", { name: "limited", keys: [keyOf(1)] });
    const count = async (name: string, status: number) => {
      const client = clientOf(server, name, keyOf(1));
      const all = Array.from({ length: requests }, () =>
        client.getProperties().then(
          () => 200,
          (error: { readonly statusCode: number; readonly code: string }) => {
            expect([error.statusCode, error.code]).toEqual([503, "ServerBusy"]);
            return error.statusCode;
          },
        ),
      );
      return (await Promise.all(all)).filter((each) => each === status).length;
    };
    expect(await count("limited", 503)).toBe(0);
    const settings = { requestsPerSecondMax: limit };
    expect((await callAccounts(server, "POST", "/limited/settings", settings)).status).toBe(200);
    // The requests take a while, in which the account may send further ones.
    expect(await count("limited", 503)).toBeGreaterThan(0);
    expect(await count("other", 503)).toBe(0);
  } finally {
    await server.stop();
  }
});
