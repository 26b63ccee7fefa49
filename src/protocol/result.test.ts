import { expect, it } from "vitest";
import { ensure, InvariantBroken } from "./result.ts";

it("describes a condition only if it does not hold", () => {
  ensure(true, () => expect.unreachable());
  expect(() => ensure(false, () => "freed twice")).toThrow(new InvariantBroken("freed twice"));
});
