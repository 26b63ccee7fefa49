import { expect, it } from "vitest";
import { isStartedByNpx } from "./npx-parent.ts";

it.each([
  ["npx", "etagere", true],
  ["npx", "'etagere' --silent", true],
  ["npx", '"azurite-blob" "--silent"', true],
  ["npx", "etagere-runner", false],
  ["npx", "start-server-and-test etagere", false],
  ["start", "etagere --silent", false],
  [undefined, undefined, false],
])("npm's event %s with the script %s is npx of this program: %s", (event, script, expected) => {
  const variables = new Map([
    ["npm_lifecycle_event", event],
    ["npm_lifecycle_script", script],
  ]);
  expect(isStartedByNpx((name) => variables.get(name))).toBe(expected);
});
