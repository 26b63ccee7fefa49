import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** Runs a program that uses the helpers, and returns the last line of its output. */
function run(program: string): string {
  const names = "executeInBackground, inWorkFolder, Missing, suiteOptions";
  const whole = `import { ${names} } from "./tests/clients/commands.mjs";\n${program}`;
  const words = ["--input-type=module", "-e", whole];
  const output = execFileSync(process.execPath, words, { encoding: "utf8", stdio: "pipe" });
  return output.trim().split("\n").at(-1) ?? "";
}

/** Prints the folder that the suite got. */
function folderOf(end: string): string {
  return run(`let folder;
    await inWorkFolder(undefined, async (work) => { folder = work; ${end} }).catch(() => {});
    console.log(folder);`);
}

describe("the folder of a suite", () => {
  it("is deleted if the results are as expected, or if a tool is missing", () => {
    expect(existsSync(folderOf("return true;"))).toBe(false);
    expect(existsSync(folderOf(`throw new Missing("go");`))).toBe(false);
  });

  it.each(["return false;", `throw new Error("broken");`])("stays after %s", (end) => {
    const folder = folderOf(end);
    expect(existsSync(folder)).toBe(true);
    rmSync(folder, { recursive: true });
  });
});

describe("a process of a suite", () => {
  it("reports its exit code or signal", () => {
    const program = `const ended = ["exit 3", "kill -TERM $$"].map((text) =>
        executeInBackground("sh", ["-c", text]));
      console.log((await Promise.all(ended)).join(" "));`;
    expect(run(program)).toBe("3 SIGTERM");
  });

  it("ends when the script is ended by a signal", async () => {
    const pid = run(`process.once("SIGTERM", () => process.exit(0));
      const text = "echo $$; kill -TERM $PPID; exec sleep 100 >/dev/null";
      await executeInBackground("sh", ["-c", text], { stdio: ["ignore", "inherit", "ignore"] });`);
    expect(pid).toMatch(/^\d+$/);
    const words = ["-o", "stat=", "-p", pid];
    // Until it is reaped it is a zombie.
    const isThere = () => /^[^Z]/.test(spawnSync("ps", words, { encoding: "utf8" }).stdout.trim());
    await expect.poll(isThere, { timeout: 20_000 }).toBe(false);
  });
});

describe("the options of a suite", () => {
  const parsed = (...words: readonly string[]) =>
    run(`try { console.log(JSON.stringify(suiteOptions(["a", "b"], ${JSON.stringify(words)}))) }
      catch (error) { console.log(error.message) }`);

  it("are names, a pattern and a folder", () => {
    expect(JSON.parse(parsed("b", "--test", "x", "--work", "/tmp/w"))).toEqual({
      names: ["b"],
      pattern: "x",
      folder: "/tmp/w",
    });
    expect(JSON.parse(parsed())).toEqual({ names: ["a", "b"], pattern: "" });
  });

  it("are rejected if a value is missing or a name is unknown", () => {
    expect(parsed("--work")).toBe("--work: the value is missing");
    expect(parsed("c")).toBe('"c" is unknown; there are a, b');
  });
});
