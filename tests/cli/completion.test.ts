import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { serverOptions } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/commands.ts";

function etagere(...words: readonly string[]): string {
  const program = [resolve("bin/etagere"), ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

/** What bash offers for the last of the words. */
function completed(script: string, words: readonly string[]): readonly string[] {
  const call =
    `COMP_WORDS=("$@"); COMP_CWORD=${words.length - 1}; _etagere; ` +
    `printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = ["-c", `${script}\n${call}`, "bash", ...words];
  const { status, stdout } = spawnSync("bash", run, { encoding: "utf8" });
  expect(status).toBe(0);
  return stdout.split("\n").filter((line) => line !== "");
}

it("bash completes commands, actions, options and their values", () => {
  const script = etagere("completion", "bash");
  expect(completed(script, ["etagere", "snap"])).toEqual(["snapshot"]);
  expect(completed(script, ["etagere", ""])).toEqual(expect.arrayContaining([...commands.keys()]));
  expect(completed(script, ["etagere", "snapshot", "s"])).toEqual(["save"]);
  expect(completed(script, ["etagere", "--blobP"])).toEqual(["--blobPort"]);
  expect(completed(script, ["etagere", "blob", "--blobP"])).toEqual(["--blobPort"]);
  expect(completed(script, ["etagere", "env", "--shell", "p"])).toEqual(["powershell"]);
  expect(completed(script, ["etagere", "check", "src/cl"])).toEqual(["src/cli"]);
});

it("zsh and fish have the same words", () => {
  for (const shell of ["zsh", "fish"]) {
    const script = etagere("completion", shell);
    for (const name of commands.keys()) expect(script).toContain(name);
    for (const name of Object.keys(serverOptions)) expect(script).toContain(name);
  }
});

it("the manual page describes every command and every option of the server", () => {
  const page = etagere("manual");
  expect(page.startsWith(".TH ETAGERE 1")).toBe(true);
  for (const { summary } of commands.values()) {
    expect(page).toContain(summary.replaceAll("-", "\\-"));
  }
  for (const name of Object.keys(serverOptions)) expect(page).toContain(`\\-\\-${name}`);
  // No line is taken for a request of roff unless it is one of those that the page uses.
  const requests = page.split("\n").filter((line) => /^[.']/.test(line));
  expect(requests.filter((line) => !/^\.(TH|SH|SS|TP|PP|B|br)\b/.test(line))).toEqual([]);
});
