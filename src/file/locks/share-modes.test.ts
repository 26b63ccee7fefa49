import { describe, expect, it } from "vitest";
import { Right } from "./access.ts";
import { noLocks, type Open } from "./lock-state.ts";
import { decideOpen } from "./opens.ts";

const letters = ["r", "w", "d"] as const;
const modes = [...Array(8).keys()].map((bits) =>
  letters.filter((_, index) => (bits & (1 << index)) !== 0).join(""),
);

function open(access: string, share: string, id: bigint): Open {
  const masks = { r: Right.readData, w: Right.writeData, d: Right.delete };
  const bits = { r: 1, w: 2, d: 4 };
  let mask = access === "" ? Right.readAttributes : 0;
  let shared = 0;
  for (const letter of letters) {
    if (access.includes(letter)) mask |= masks[letter];
    if (share.includes(letter)) shared |= bits[letter];
  }
  return {
    id,
    owner: "test",
    access: mask,
    share: shared,
    deleteOnClose: false,
    session: 1n,
    client: "",
    openedAt: 0n,
  };
}

/** The rule as documented, without bit operations. */
function mayCoexist(
  first: { access: string; share: string },
  second: { access: string; share: string },
) {
  if (first.access === "" || second.access === "") return true;
  for (const letter of first.access) if (!second.share.includes(letter)) return false;
  for (const letter of second.access) if (!first.share.includes(letter)) return false;
  return true;
}

describe("share modes", () => {
  it("agree with the documented rule in all 4,096 combinations", () => {
    let combinations = 0;
    for (const firstAccess of modes) {
      for (const firstShare of modes) {
        const held = { ...noLocks, opens: [open(firstAccess, firstShare, 1n)] };
        for (const access of modes) {
          for (const share of modes) {
            const asked = { open: open(access, share, 2n), overwrites: false, now: 0n };
            const outcome = decideOpen(held, asked);
            const expected = mayCoexist(
              { access: firstAccess, share: firstShare },
              { access, share },
            );
            const what = `${firstAccess}/${firstShare} then ${access}/${share}`;
            expect(outcome.kind, what).toBe(expected ? "granted" : "refused");
            combinations += 1;
          }
        }
      }
    }
    expect(combinations).toBe(4096);
  });

  it("of a delete-pending file allow no open", () => {
    const held = { ...noLocks, deletePending: true };
    const asked = { open: open("r", "rwd", 2n), overwrites: false, now: 0n };
    expect(decideOpen(held, asked)).toEqual({ kind: "refused", refusal: "delete-pending" });
  });
});
