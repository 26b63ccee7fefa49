import { expect, it } from "vitest";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { AuditDelivery, type AuditTarget } from "./audit-delivery.ts";

/** A target that takes lines only while `isUp`. */
function newTarget() {
  const target = {
    isUp: false,
    lines: [] as string[],
    attempts: 0,
    name: "webhook" as const,
    async send(lines: readonly string[]) {
      target.attempts += 1;
      if (!target.isUp) throw new Error("down");
      target.lines.push(...lines);
    },
    close() {},
  };
  return target satisfies AuditTarget;
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await settled();
}

it("keeps lines for a target that is down, in order, and drops and reports those beyond", async () => {
  const target = newTarget();
  const clock = manualClock();
  const delivery = new AuditDelivery({ target, clock, log: silentLog });
  const megabyte = (letter: string): string => letter.repeat(1024 * 1024);
  for (const letter of ["a", "b", "c", "d", "e", "f"]) delivery.append(megabyte(letter));
  await until(() => target.attempts === 1);
  expect(delivery.lostLines).toBe(2);
  target.isUp = true;
  while (target.lines.length === 0) {
    clock.advance(250);
    await settled();
  }
  const [notice, ...kept] = target.lines;
  expect(notice).toMatch(/^\{"time":"20[^"]+Z","event":"dropped","lines":2\}$/);
  expect(kept.map((line) => line[0])).toEqual(["a", "b", "c", "d"]);
  delivery.append("after");
  await until(() => target.lines.length === 6);
  expect(target.lines.at(-1)).toBe("after");
  expect(delivery.lostLines).toBe(2);
  await delivery.close();
});

it("counts what is left as lost when it is closed while the target is down", async () => {
  const target = newTarget();
  const delivery = new AuditDelivery({ target, clock: manualClock(), log: silentLog });
  delivery.append("first");
  delivery.append("second");
  await delivery.close();
  expect(delivery.lostLines).toBe(2);
});
