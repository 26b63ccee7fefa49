import type { JSX } from "preact";
import { bytes, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Failed } from "../parts/states.tsx";
import { listRanges, type FileAddress } from "../rest/file.ts";

const drawnMax = 2000;
const listedMax = 50;

/** The written ranges of a sparse file as a bar. */
export function RangesMap({
  address,
  length,
}: {
  readonly address: FileAddress;
  readonly length: number;
}): JSX.Element | null {
  const loaded = useLoad((signal) => listRanges(address, signal), [address.path]);
  if (loaded.failure !== undefined) {
    return <Failed what="written ranges" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return null;
  const ranges = loaded.value;
  const held = ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
  const scale = 1000 / Math.max(1, length);
  return (
    <>
      <svg class="ranges" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
        {ranges.slice(0, drawnMax).map(({ start, end }) => (
          <rect
            key={start}
            x={start * scale}
            width={Math.max(1, (end - start + 1) * scale)}
            y={0}
            height={20}
          />
        ))}
      </svg>
      <p class="soft">
        {plural(ranges.length, "range")}, {bytes(held)} of {bytes(length)}
      </p>
      <ul class="states">
        {ranges.slice(0, listedMax).map(({ start, end }) => (
          <li key={start} class="state">
            <code>
              {start}–{end}
            </code>
            <span class="soft">{bytes(end - start + 1)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
