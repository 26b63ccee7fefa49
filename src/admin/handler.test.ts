import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { accountsOf } from "../account/settings.ts";
import { MemoryBudget } from "../base/memory-budget.ts";
import { simWorld } from "../../tests/harness/sim-world.ts";
import { SnapshotTooOld } from "../store/open-views.ts";
import { StoreBusy, StoreClosed, StoreUnavailable } from "../store/store.ts";
import type { AdminContext } from "./admin-context.ts";
import { adminHandler } from "./handler.ts";

/** The response of the list of leases while the store fails with `trouble`, and the log. */
async function answerTo(trouble: Error) {
  const { clock, random, log } = simWorld(1);
  const runtime = { store: { snapshot: () => Promise.reject(trouble) } };
  const figures = { sample: () => undefined };
  const observer = {};
  const security = { isLoginRequired: () => false, isMetricsLoginRequired: false };
  const settings = { accounts: accountsOf([]), httpServices: {}, security, pageFolder: "." };
  const fake = { clock, random, log, runtime, figures, observer, ...settings };
  const admin = adminHandler(fake as unknown as AdminContext);
  const server = createServer(admin.handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/leases`, {
    headers: { "x-etagere-admin": "1" },
  });
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  admin.close();
  server.close();
  server.closeAllConnections();
  const logged = log.lines.map(({ message }) => message);
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), error, logged };
}

it.each([
  new StoreClosed("the store was closed"),
  new StoreBusy("too many wait"),
  new StoreUnavailable("the disk is full"),
  new SnapshotTooOld("a view was kept for too long"),
])("responds 503 ServerBusy and logs no error: %s", async (trouble) => {
  expect(await answerTo(trouble)).toEqual({
    status: 503,
    retryAfter: "1",
    error: { code: "ServerBusy", message: trouble.message },
    logged: [],
  });
});

it("logs an unexpected error", async () => {
  expect(await answerTo(new Error("a mistake"))).toEqual({
    status: 500,
    retryAfter: null,
    error: { code: "InternalError", message: "a mistake" },
    logged: ["admin request failed"],
  });
});

/** The response to a login with a body of this length, if bodies may take 10,000 bytes. */
async function logInWith(bytes: number) {
  const { clock, random, log } = simWorld(1);
  const memory = new MemoryBudget(10_000);
  const figures = { sample: () => undefined };
  const security = { isLoginRequired: () => true, isMetricsLoginRequired: true };
  const settings = { accounts: accountsOf([]), httpServices: {}, security, pageFolder: "." };
  const fake = { clock, random, log, memory, figures, observer: {}, ...settings };
  const admin = adminHandler(fake as unknown as AdminContext);
  const server = createServer(admin.handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/session`, {
    method: "POST",
    headers: { "x-etagere-admin": "1", "content-type": "application/json" },
    body: JSON.stringify({ token: "x".repeat(bytes) }),
  });
  admin.close();
  server.close();
  server.closeAllConnections();
  return { status: answer.status, usedBytes: memory.usedBytes };
}

it("bodies count against the memory budget of the process", async () => {
  expect(await logInWith(20_000)).toEqual({ status: 503, usedBytes: 0 });
  expect(await logInWith(100)).toEqual({ status: 401, usedBytes: 0 });
});
