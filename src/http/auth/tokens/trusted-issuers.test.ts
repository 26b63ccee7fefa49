import { expect, it } from "vitest";
import { defaultClaims, noIdentity } from "../../../account/identity.ts";
import type { Clock } from "../../../base/world.ts";
import { TrustedIssuers } from "./token-verifier.ts";
import { KeySet } from "./verification-keys.ts";
import { silentLog as log } from "../../../../tests/harness/silent-log.ts";

const issuer = "https://login.microsoftonline.com/11111111-1111-1111-1111-111111111111/v2.0";
const clock: Clock = {
  bootId: "",
  wall: () => 0n,
  monotonic: () => 0n,
  after: () => () => {},
  nextIteration: () => {},
};

it("a configured issuer comes before the local one, whose addresses have the same form", () => {
  const settings = {
    issuer,
    audiences: ["one"],
    jwks: issuer,
    accounts: undefined,
    claims: defaultClaims,
  };
  const set = new KeySet();
  const keys = {
    find: () => set.find(undefined),
    has: () => false,
    refresh: () => Promise.resolve(),
    close: () => {},
  };
  const identity = { ...noIdentity, issuers: [settings] };
  const fetchDocument = () => Promise.resolve({ keys: [] });
  const local = { keys, isIssuer: () => true };
  const trusted = new TrustedIssuers({
    identity: () => identity,
    local,
    clock,
    log,
    fetchDocument,
  });
  expect(trusted.find(issuer)?.audiences).toEqual(["one"]);
  expect(trusted.find("http://127.0.0.1:1/another/v2.0")?.keys).toBe(keys);
});
