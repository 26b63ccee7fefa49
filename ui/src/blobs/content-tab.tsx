import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { BlobPlace } from "../rest/blob.ts";
import { Empty, Waiting } from "../parts/states.tsx";
import { readUrl } from "./download.ts";
import { TextContent, type TextContentProps } from "./text-content.tsx";

const textTypes = /^text\/|json|xml|javascript|yaml|csv|toml|x-sh|sql/;
const textNames = /\.(txt|md|json|csv|tsv|xml|ya?ml|js|ts|css|html?|log|ini|toml|sh|sql|svg)$/i;

export function ContentTab(props: TextContentProps): JSX.Element {
  const { place, state } = props;
  const type = (state.headers.get("content-type") ?? "").toLowerCase();
  if (/^(image|video|audio)\//.test(type)) return <Media place={place} type={type} />;
  if (textTypes.test(type) || textNames.test(place.name) || state.length === 0) {
    return <TextContent {...props} />;
  }
  return <Empty>No preview for {type || "this type"}. Download the blob to view it.</Empty>;
}

/** Shows an image, audio or video. Its element fetches the bytes itself, for video in ranges. */
function Media({ place, type }: { readonly place: BlobPlace; readonly type: string }): JSX.Element {
  const [url, setUrl] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => void readUrl(place).then(setUrl), [place.name, place.container]);
  if (url === undefined) return <Waiting />;
  if (isBroken) return <Empty>The browser cannot display this. Download it to view it.</Empty>;
  const fail = (): void => setBroken(true);
  if (type.startsWith("image/")) {
    return <img class="preview-image" src={url} alt={place.name} onError={fail} />;
  }
  if (type.startsWith("audio/")) return <audio controls src={url} onError={fail} />;
  return (
    <video class="preview-image" controls preload="metadata" src={url} onError={fail}>
      <track kind="captions" />
    </video>
  );
}
