import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { makeCertificate } from "../../../tests/https/certificate.ts";
import { simWorld } from "../../../tests/harness/sim-world.ts";
import { ticksPerDay } from "../../base/ticks.ts";
import { realClock } from "../../host/world.ts";
import { resolveOptions } from "../options.ts";
import { certificateEnd } from "./certificate-end.ts";
import { ServedCertificate } from "./served-certificate.ts";

const daysValid = 30n;
const { folder, cert, key } = makeCertificate(Number(daysValid));
const now = realClock().wall();
const passphrase = "a password";

it("is known for pem and pfx files", () => {
  const path = join(folder, "both.pfx");
  const from = ["-inkey", key, "-in", cert, "-out", path, "-passout", `pass:${passphrase}`];
  execFileSync("openssl", ["pkcs12", "-export", ...from]);
  const pem = certificateEnd({ cert: readFileSync(cert), key: readFileSync(key) }) ?? 0n;
  expect((pem - now) / ticksPerDay).toBeGreaterThanOrEqual(daysValid - 1n);
  expect((pem - now) / ticksPerDay).toBeLessThanOrEqual(daysValid);
  expect(certificateEnd({ pfx: readFileSync(path), passphrase })).toBe(pem);
});

it("is logged at the start and after SIGHUP, if it has come or is near", async () => {
  const options = resolveOptions({ cert, key });
  if (!options.ok) throw new Error(options.problems.join());
  const messagesAfter = async (days: bigint, worker?: { readonly isMain: boolean }) => {
    const { clock, random, log } = simWorld(1);
    const warn = vi.fn();
    const given = {
      options: options.value,
      location: undefined,
      clock: { ...clock, wall: () => now + days * ticksPerDay },
      random,
      log: { ...log, warn },
      worker,
    };
    const served = await ServedCertificate.open(given);
    await served?.reload();
    served?.close();
    return warn.mock.calls.map(([, message]) => message as string);
  };
  const expired = "certificate has expired; renew it and send SIGHUP";
  const near = "certificate expires soon; renew it and send SIGHUP";
  expect(await messagesAfter(daysValid - 6n)).toEqual([]);
  expect(await messagesAfter(daysValid - 4n)).toEqual([near, near]);
  expect(await messagesAfter(daysValid + 1n)).toEqual([expired, expired]);
  expect(await messagesAfter(daysValid + 1n, { isMain: false })).toEqual([]);
});
