import { expect, it } from "vitest";

import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { checkReadersRegularly } from "./open-lmdb-store.ts";

it("continues to check for killed readers after a check has failed", () => {
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const clock = manualClock();
  const trouble = new Error("the lock file cannot be read");
  let checks = 0;
  const checkReaders = (): void => {
    checks += 1;
    if (checks === 1) throw trouble;
  };
  const stop = checkReadersRegularly({ checkReaders }, clock, log);
  clock.advance(60_000);
  expect(checks).toBe(2);
  expect(warnings).toEqual([{ err: trouble }]);
  stop();
  clock.advance(60_000);
  expect(checks).toBe(2);
});
