import { expect, it } from "vitest";
import { serviceModeOfProgram } from "./run-command-line.ts";

it.each([
  ["/usr/local/bin/azurite-blob", "blob"],
  ["/usr/local/bin/azurite-queue", "queue"],
  ["azurite-table.js", "table"],
  ["/usr/local/bin/azurite", undefined],
  ["/usr/local/bin/azurite-file", undefined],
  ["/opt/azurite-blob/bin/etagere", undefined],
  ["", undefined],
])("the program %s serves %s", (path, mode) => {
  expect(serviceModeOfProgram(path)).toBe(mode);
});
