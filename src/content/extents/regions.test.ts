import { expect, it } from "vitest";
import { InvariantBroken } from "../../protocol/result.ts";
import { RegionAllocator } from "./regions.ts";

it("never frees bytes twice, which two bodies would get", () => {
  const regions = new RegionAllocator(1000);
  const [first, second] = [regions.allocate(100)!, regions.allocate(100)!];
  regions.allocate(100);
  regions.free(first);
  expect(() => regions.free({ offset: 50, length: 20 })).toThrow(InvariantBroken);
  expect(() => regions.free({ offset: 280, length: 50 })).toThrow(InvariantBroken);
  regions.free(second);
  expect(regions.allocate(200)).toEqual({ offset: 0, length: 200 });
});
