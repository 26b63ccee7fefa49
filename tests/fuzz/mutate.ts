import type { Random } from "../verify/random.ts";

const boundaryBytes = [0, 1, 0x0a, 0x22, 0x27, 0x28, 0x3c, 0x7f, 0x80, 0xff];

/** A few changes of a valid input: bytes, truncation, repetition, parts of another input. */
export function mutate(samples: readonly Uint8Array[], random: Random): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(samples));
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    bytes = mutateOnce(bytes, samples, random);
  }
  return bytes;
}

function mutateOnce(bytes: Buffer, samples: readonly Uint8Array[], random: Random): Buffer {
  const from = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, from + 1 + random.below(random.chance(0.8) ? 8 : 200));
  const before = bytes.subarray(0, from);
  const middle = bytes.subarray(from, to);
  const after = bytes.subarray(to);
  switch (random.below(7)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, ...Array<Buffer>(1 + random.below(20)).fill(middle), after]);
    case 3: {
      const other = random.pick(samples);
      const start = random.below(other.length + 1);
      return Buffer.concat([before, other.subarray(start, start + random.below(60)), after]);
    }
    case 4:
      return Buffer.concat([before, Buffer.from([random.pick(boundaryBytes)]), after]);
    default: {
      const changed = Buffer.from(bytes);
      if (from < changed.length) {
        changed[from] = random.chance(0.5) ? random.pick(boundaryBytes) : random.below(256);
      }
      return changed;
    }
  }
}
