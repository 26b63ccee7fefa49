import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { ScopeKeys } from "./scope-keys.ts";

const random = { bytes: (count: number) => new Uint8Array(randomBytes(count)) };
const dataKey = random.bytes(32);
const scope = { account: 7n, name: "first" };
const hex = (key: Uint8Array): string => Buffer.from(key).toString("hex");

it("derives one key for each account and scope, which a later process finds by the reference", () => {
  const keys = new ScopeKeys(dataKey, random);
  const bodies = [scope, { ...scope, account: 8n }, { ...scope, name: "other" }].map((each) =>
    keys.begin(each),
  );
  expect(new Set(bodies.map(({ key }) => hex(key))).size).toBe(3);
  const later = new ScopeKeys(dataKey, random);
  for (const { key, scope: reference } of bodies) {
    expect(hex(later.keyOf(reference))).toBe(hex(key));
  }
  const other = new ScopeKeys(random.bytes(32), random);
  expect(hex(other.keyOf(bodies[0]?.scope ?? ""))).not.toBe(hex(bodies[0]?.key ?? dataKey));
});

it("never uses a nonce twice with a key: not after kills, not when a session ends", () => {
  const used = new Set<string>();
  const processes = 30;
  const bodies = 20;
  for (let process = 0; process < processes; process += 1) {
    const keys = new ScopeKeys(dataKey, random, 8n);
    for (let body = 0; body < bodies; body += 1) {
      const { key, nonce } = keys.begin(scope);
      used.add(`${hex(key)} ${nonce}`);
    }
  }
  expect(used.size).toBe(processes * bodies);
});
