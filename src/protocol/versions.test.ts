import { expect, test } from "vitest";
import {
  isAtLeast,
  isKnownVersion,
  isVersionDate,
  knownVersions,
  latestVersion,
  oldestVersion,
} from "./versions.ts";

test("are listed in order, each once", () => {
  expect([...knownVersions].toSorted()).toEqual(knownVersions);
  expect(new Set(knownVersions).size).toBe(knownVersions.length);
  expect(knownVersions.at(-1)).toBe(latestVersion);
  expect(oldestVersion).toBe("2009-04-14");
});

test("compare as dates", () => {
  expect(isAtLeast("2019-12-12", "2019-12-12")).toBe(true);
  expect(isAtLeast("2019-12-12", "2019-07-07")).toBe(true);
  expect(isAtLeast("2019-07-07", "2019-12-12")).toBe(false);
});

test.each([
  ["2021-06-08", true, true],
  ["2021-06-09", false, true],
  ["2021-6-8", false, false],
  ["", false, false],
])("%j", (text, known, shaped) => {
  expect(isKnownVersion(text)).toBe(known);
  expect(isVersionDate(text)).toBe(shaped);
});
