import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { bytes } from "../format.ts";
import { useLoad } from "../load.ts";
import { Failed, Waiting } from "../parts/states.tsx";
import type { Result } from "../result.ts";
import { hexText } from "./hex-text.ts";

const hexBytesMax = 64 * 1024;

interface HexViewProps {
  /** Identifies the content: another one is loaded if it changes. */
  readonly of: string;
  readonly length: number;
  readonly read: (bytesMax: number, signal: AbortSignal) => Promise<Result<Uint8Array>>;
}

/** The first 64 KiB of a content in hexadecimal. */
export function HexView({ of, length, read }: HexViewProps): JSX.Element {
  const loaded = useLoad((signal) => read(hexBytesMax, signal), [of]);
  const text = useMemo(() => hexText(loaded.value ?? new Uint8Array()), [loaded.value]);
  if (loaded.failure !== undefined) {
    return <Failed what="content" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  return (
    <>
      {length > hexBytesMax && (
        <p class="soft">
          First {bytes(hexBytesMax)} of {bytes(length)}.
        </p>
      )}
      <pre class="preview-text hex" tabIndex={0} aria-label="Bytes">
        {text}
      </pre>
    </>
  );
}
