import { describe, expect, it } from "vitest";
import { optionWarnings, resolveOptions } from "./options.ts";
import type { StartOptions } from "./options.ts";

function problemsOf(input: StartOptions): readonly string[] {
  const resolved = resolveOptions(input, (name) => `--${name}`);
  return resolved.ok ? [] : resolved.problems;
}

describe("options", () => {
  it("default to Azurite's ports on the loopback address", () => {
    const resolved = resolveOptions({});
    expect(resolved).toMatchObject({
      ok: true,
      value: {
        blobHost: "127.0.0.1",
        blobPort: 10_000,
        queuePort: 10_001,
        tablePort: 10_002,
        filePort: 10_003,
        dfsPort: 10_004,
        adminPort: 10_010,
        smbPort: 10_445,
        blobKeepAliveTimeout: 5,
      },
    });
  });

  it("select free ports for all listeners but those given", () => {
    const resolved = resolveOptions({ port: 0, queuePort: 4711 });
    expect(resolved).toMatchObject({
      ok: true,
      value: { blobPort: 0, queuePort: 4711, adminPort: 0, smbPort: 0 },
    });
  });

  it("treat an explicit undefined as absent", () => {
    const input: object = { blobPort: undefined };
    expect(resolveOptions(input)).toMatchObject({ ok: true, value: { blobPort: 10_000 } });
  });

  it.each<[string, object, string]>([
    ["a port beyond the last", { blobPort: 65_536 }, "--blobPort: must be a port, 0 to 65535"],
    [
      "a port that is text",
      { blobPort: "http" },
      '--blobPort: must be a port, 0 to 65535, not "ht',
    ],
    ["half a port", { adminPort: 1.5 }, "--adminPort: must be a port, 0 to 65535, not 1.5"],
    ["an unknown option", { blobprot: 1 }, "--blobprot: no such option"],
    ["a switch with a value", { silent: "yes" }, "--silent: must be true or false"],
    ["an empty location", { location: "" }, "--location: needs a value"],
    [
      "another kind of OAuth",
      { oauth: "full" },
      '--oauth: must be "basic" or "verify", not "full"',
    ],
    [
      "an unknown signing mode",
      { smbSigning: "maybe" },
      '--smbSigning: must be "required" or "optional"',
    ],
    ["a certificate alone", { cert: "a.pem" }, "--cert: needs --key (pem) or --pwd (pfx)"],
    ["no worker", { workers: 0 }, "--workers: must be 1 to 64 or auto, not 0"],
    ["too many workers", { workers: 65 }, "--workers: must be 1 to 64 or auto, not 65"],
    ["half a worker", { workers: 1.5 }, "--workers: must be 1 to 64 or auto, not 1.5"],
    ["workers by another word", { workers: "all" }, "--workers: must be 1 to 64 or auto"],
    [
      "workers on a store in memory",
      { workers: "auto", inMemoryPersistence: true },
      "--workers: contradicts --inMemoryPersistence: processes share no memory",
    ],
    ["old audit logs without a log", { auditLogFiles: 3 }, "--auditLogFiles: needs --auditLog"],
    ["a size without a log", { auditLogMegabytes: 3 }, "--auditLogMegabytes: needs --auditLog"],
    ["a key alone", { key: "a.key" }, "--key: needs --cert"],
    ["a password alone", { pwd: "a" }, "--pwd: needs --cert"],
    ["a key and a password", { cert: "a", key: "b", pwd: "c" }, "--pwd: contradicts --key"],
    [
      "memory and a folder",
      { inMemoryPersistence: true, location: "a" },
      "--inMemoryPersistence: contradicts --location",
    ],
    ["a memory limit for a disk", { extentMemoryLimit: 5 }, "--extentMemoryLimit: needs --inMem"],
    [
      "a memory limit of 0",
      { extentMemoryLimit: 0, inMemoryPersistence: true },
      "--extentMemoryLim",
    ],
    ["an hour and a second", { blobKeepAliveTimeout: 3601 }, "--blobKeepAliveTimeout: must be wh"],
    [
      "versions both ways",
      { strictApiVersion: true, skipApiVersionCheck: true },
      "--strictApiVersion: contradicts --skipApiVersionCheck",
    ],
    ["accounts twice", { accounts: {}, config: "a.json" }, "--config: contradicts --accounts"],
    [
      "a port other than 0",
      { port: 80 },
      "--port: must be 0, for free ports, not 80; to choose one: --blobPort, ",
    ],
  ])("reject %s with one message", (_what, input, message) => {
    const problems = problemsOf(input);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });

  it("accept the OAuth level in any case", () => {
    expect(problemsOf({ oauth: "Basic" })).toEqual([]);
  });

  it("produce a warning if bearer tokens are enabled without HTTPS", () => {
    const warningsFor = (input: StartOptions): readonly string[] => {
      const resolved = resolveOptions(input);
      return resolved.ok ? optionWarnings(resolved.value, (name) => `--${name}`) : ["refused"];
    };
    expect(warningsFor({ oauth: "basic" })).toEqual([
      expect.stringContaining("--oauth: without --cert and --key every bearer token is rejected"),
    ]);
    expect(warningsFor({ oauth: "basic", cert: "a.pem", key: "a.key" })).toEqual([]);
    expect(warningsFor({})).toEqual([]);
  });

  it("report all problems at once", () => {
    expect(problemsOf({ blobPort: -1, queuePort: -1, key: "a" })).toHaveLength(3);
  });
});
