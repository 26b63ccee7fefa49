import { expect, it } from "vitest";

import { ticksMax } from "../../base/ticks.ts";
import { expiries, visibilityIndex, messages } from "../records.ts";
import { removeMessage } from "./stored-messages.ts";

const id = "11111111-1111-4111-8111-111111111111";

it.each([
  [50n, true],
  [ticksMax, false],
])("a message that expires at %s has an expiry entry to remove: %s", (expires, hasEntry) => {
  const effects = removeMessage(7n, { id, visibleAt: 20n, expires });
  const removed = new Set<object | undefined>(
    effects.map((effect) => ("table" in effect ? effect.table : undefined)),
  );
  expect(removed.has(messages)).toBe(true);
  expect(removed.has(visibilityIndex)).toBe(true);
  expect(removed.has(expiries)).toBe(hasEntry);
});
