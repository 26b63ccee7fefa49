import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { Empty, Waiting } from "../parts/states.tsx";
import type { PreviewKind } from "./kind.ts";

/** Images are decoded as a whole; audio and video are read in ranges. */
const imageBytesMax = 32 * 1024 * 1024;

interface MediaProps {
  readonly name: string;
  readonly kind: PreviewKind;
  readonly length: number;
  readonly getUrl: () => Promise<string | undefined>;
}

/** Shows an image, audio or video. Its element fetches the bytes itself. */
export function Media({ name, kind, length, getUrl }: MediaProps): JSX.Element {
  const [url, setUrl] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  const isTooLarge = kind === "image" && length > imageBytesMax;
  useEffect(() => {
    if (!isTooLarge) void getUrl().then(setUrl);
  }, [name]);
  if (isTooLarge) {
    return <Empty>Images are shown up to {bytes(imageBytesMax)}. Download it to view it.</Empty>;
  }
  if (url === undefined) return <Waiting />;
  if (isBroken) return <Empty>The browser cannot display this. Download it to view it.</Empty>;
  const fail = (): void => setBroken(true);
  if (kind === "image") return <img class="preview-image" src={url} alt={name} onError={fail} />;
  if (kind === "audio") return <audio controls src={url} onError={fail} />;
  return (
    <video class="preview-image" controls preload="metadata" src={url} onError={fail}>
      <track kind="captions" />
    </video>
  );
}
