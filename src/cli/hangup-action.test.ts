import { expect, it } from "vitest";
import { hangupAction } from "./run-command-line.ts";

it.each([
  ["linux", "reload"],
  ["darwin", "reload"],
  ["win32", "stop"],
] as const)("on %s SIGHUP makes the server %s", (platform, action) => {
  expect(hangupAction(platform)).toBe(action);
});
