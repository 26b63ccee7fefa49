import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { pack } from "../package/packed-package.ts";
import { docker, work } from "./docker.ts";

const workflows = ".github/workflows";
let actionlint = "";

beforeAll(() => {
  const program = `import { goTool } from "./scripts/deploy/go-tools.mjs";
    process.stdout.write(goTool("actionlint"));`;
  const words = ["--input-type=module", "--eval", program];
  actionlint = execFileSync(process.execPath, words, { encoding: "utf8" });
});

function lint(path: string) {
  const { status, stdout } = spawnSync(actionlint, ["-no-color", path], { encoding: "utf8" });
  return { status, stdout };
}

it.each(readdirSync(workflows))("actionlint accepts %s", (name) => {
  expect(lint(join(workflows, name))).toEqual({ status: 0, stdout: "" });
});

it("actionlint finds a job that does not exist", () => {
  const text = readFileSync(join(workflows, "release.yml"), "utf8");
  const path = join(work, "broken.yml");
  writeFileSync(path, text.replace("needs: [test, build, image]", "needs: [test, bild, image]"));
  expect(lint(path).stdout).toContain('needs job "bild" which does not exist');
});

it.each([".", "./packages/azurite-names"])("npm would publish %s", (folder) => {
  const { filename } = pack(folder, work);
  const words = ["publish", "--dry-run", "--access", "public", join(work, filename)];
  const { status, stderr } = spawnSync("npm", words, { cwd: work, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stderr).not.toContain("auto-corrected");
});

it("bake would build the image for both architectures, with attestations", () => {
  const printed = docker("buildx", "bake", "--print", "all");
  const { target } = JSON.parse(printed) as {
    readonly target: { readonly all: Readonly<Record<string, unknown>> };
  };
  expect(target.all).toMatchObject({
    platforms: ["linux/amd64", "linux/arm64"],
    attest: ["type=provenance,mode=max", "type=sbom"],
  });
});
