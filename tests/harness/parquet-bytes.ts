/** Parts of Parquet files for tests. */

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return [...bytes, rest];
}

/** One run that repeats a number of up to eight bits. */
export function runsOf({ repeat, number }: { repeat: number; number: number }): Uint8Array {
  return Uint8Array.from([...varint(repeat * 2), number]);
}

/** The header of a data page with the encoding PLAIN. */
export function pageHeaderOf({ pageBytes = 4, valueCount = 1 }): Uint8Array {
  const i32 = 0x15;
  const struct = 0x2c;
  const zigzag = (value: number) => varint(value * 2);
  const page = [i32, ...zigzag(0), i32, ...zigzag(pageBytes), i32, ...zigzag(4)];
  const data = [struct, i32, ...zigzag(valueCount), i32, ...zigzag(0), 0];
  return Uint8Array.from([...page, ...data, 0]);
}
