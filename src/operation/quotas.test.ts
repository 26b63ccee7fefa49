import { expect, it } from "vitest";
import { ticksPerSecond } from "../base/ticks.ts";
import { encodeCounter } from "../store/store.ts";
import type { Transaction } from "../store/store.ts";
import { QuotaExceeded, Quotas, settleUsage, UsageChange } from "./quotas.ts";

const account = 7n;
const mebibyte = 1024 * 1024;

/** A transaction that has only the counter of an account. */
class FakeTransaction {
  now = 0n;
  used = 0;
  readonly calls: string[] = [];

  peek(): Uint8Array {
    this.calls.push("peek");
    return encodeCounter(BigInt(this.used));
  }

  get(): Uint8Array {
    this.calls.push("get");
    return encodeCounter(BigInt(this.used));
  }

  add(_: Uint8Array, delta: bigint): void {
    this.calls.push(`add ${delta}`);
  }
}

function changeOf(bytes: number, quotaBytes: number, isCounted = true): UsageChange {
  const change = new UsageChange(account, { quotaBytes, isCounted });
  change.bytes = bytes;
  return change;
}

const asTransaction = (fake: FakeTransaction): Transaction => fake as unknown as Transaction;

it("reads the counter once for many small writes, and never with validation", async () => {
  const quotas = new Quotas();
  const fake = new FakeTransaction();
  for (let count = 0; count < 100; count += 1) {
    const request = {};
    await quotas.admit(asTransaction(fake), changeOf(1000, 1024 * mebibyte), request);
    quotas.release(request);
  }
  expect(fake.calls).toEqual(["peek"]);
});

it("reads the counter again after a second, and after 8 MiB", async () => {
  const quotas = new Quotas();
  const fake = new FakeTransaction();
  const admit = async (bytes: number): Promise<void> => {
    const request = {};
    await quotas.admit(asTransaction(fake), changeOf(bytes, 1024 * mebibyte), request);
    quotas.release(request);
  };
  await admit(1);
  fake.now += ticksPerSecond + 1n;
  await admit(1);
  expect(fake.calls).toEqual(["peek", "peek"]);
  await admit(5 * mebibyte);
  await admit(5 * mebibyte);
  expect(fake.calls).toEqual(["peek", "peek", "peek"]);
});

it("decides exactly if the free bytes are few", async () => {
  const quotas = new Quotas();
  const fake = new FakeTransaction();
  fake.used = 900;
  await quotas.admit(asTransaction(fake), changeOf(100, 1000), {});
  expect(fake.calls).toEqual(["peek", "get"]);
  await expect(quotas.admit(asTransaction(fake), changeOf(101, 1000), {})).rejects.toThrow(
    QuotaExceeded,
  );
});

it("counts the writes in flight, so that they do not exceed the quota together", async () => {
  const quotas = new Quotas();
  const fake = new FakeTransaction();
  const calls = async (bytes: number): Promise<number> => {
    fake.calls.length = 0;
    await quotas.admit(asTransaction(fake), changeOf(bytes, 1600), {});
    return fake.calls.filter((call) => call === "get").length;
  };
  const validated = [await calls(60), await calls(40), await calls(1)];
  expect(validated).toEqual([0, 0, 1]);
});

it("replaces what an earlier attempt of the same transaction has admitted", async () => {
  const quotas = new Quotas();
  const fake = new FakeTransaction();
  const request = {};
  for (let attempt = 0; attempt < 20; attempt += 1) {
    fake.now += 2n * ticksPerSecond;
    await quotas.admit(asTransaction(fake), changeOf(60, 1600), request);
  }
  expect(fake.calls).not.toContain("get");
});

it("adds to the counter, and rejects nothing that frees bytes, is exempt or not counted yet", async () => {
  const quotas = new Quotas();
  const fake = new FakeTransaction();
  fake.used = 5000;
  const settle = (change: UsageChange, isExempt = false): Promise<void> =>
    settleUsage(quotas, asTransaction(fake), change, { request: {}, isExempt });
  await settle(changeOf(-10, 1000));
  await settle(changeOf(10, 1000), true);
  await settle(changeOf(10, 1000, false));
  await settle(changeOf(0, 1000));
  expect(fake.calls).toEqual(["add -10", "add 10", "add 10"]);
  await expect(settle(changeOf(10, 1000))).rejects.toThrow(QuotaExceeded);
});
