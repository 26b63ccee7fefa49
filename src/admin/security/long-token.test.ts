import { expect, it } from "vitest";
import { simWorld } from "../../../tests/harness/sim-world.ts";
import { accountsOf } from "../../account/settings.ts";
import { AdminAuth } from "./admin-auth.ts";

const localToken = "c".repeat(64);
const failuresMax = 10;

/** The statuses of requests with these tokens, after as many failures as an address may have. */
function statusesAfterFailures(token: string | undefined, given: readonly string[]) {
  const { clock, random } = simWorld(1);
  const security = {
    isLoginRequired: () => true,
    isMetricsLoginRequired: true,
    token,
    localToken,
  };
  const auth = new AdminAuth({ accounts: accountsOf([]), clock, random, security });
  const statusOf = (bearer: string): number => {
    const headers = { authorization: `Bearer ${bearer}` };
    const { refusal } = auth.authenticate({ headers, remoteAddress: "10.0.0.1" }, "server");
    return refusal?.status ?? 200;
  };
  for (let count = 0; count < failuresMax; count += 1) expect(statusOf("wrong")).toBe(401);
  return given.map(statusOf);
}

it("an address that must wait may use tokens that cannot be guessed, and no others", () => {
  const long = "0123456789abcdef0123456789abcdef";
  const wrong = [`${long}0`, long.slice(1), `${localToken}c`, ""];
  expect(statusesAfterFailures(long, [long, localToken, ...wrong])).toEqual([
    200, 200, 429, 429, 429, 429,
  ]);
  const short = long.slice(1);
  expect(statusesAfterFailures(short, [short, localToken])).toEqual([429, 200]);
  expect(statusesAfterFailures(undefined, ["", localToken])).toEqual([429, 200]);
});
