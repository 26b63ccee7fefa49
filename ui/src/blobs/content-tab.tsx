import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { lazily } from "../parts/lazily.tsx";
import { HexView } from "../preview/hex-view.tsx";
import { previewKind, type PreviewKind } from "../preview/kind.ts";
import { Media } from "../preview/media.tsx";
import { ShowAs } from "../preview/show-as.tsx";
import { mapped } from "../result.ts";
import { getContent } from "../rest/blob.ts";
import { readUrl } from "./download.ts";
import { TextContent, type TextContentProps } from "./text-content.tsx";

const AvroView = lazily(async () => (await import("../preview/avro-view.tsx")).AvroView);

export function ContentTab(props: TextContentProps): JSX.Element {
  const { address, state } = props;
  const [chosen, setChosen] = useState<PreviewKind>();
  const [isEditing, setEditing] = useState(false);
  const type = state.headers.get("content-type") ?? "";
  const { name } = address;
  const { length, etag } = state;
  const kind = chosen ?? previewKind(type, { name, length });
  return (
    <>
      {!isEditing && <ShowAs chosen={chosen} onChange={setChosen} />}
      {kind === "text" && <TextContent {...props} onEditing={setEditing} />}
      {kind === "hex" && (
        <HexView
          of={`${name} ${etag}`}
          length={length}
          read={async (bytesMax, signal) =>
            mapped(await getContent(address, { bytesMax, signal }), ({ bytes }) => bytes)
          }
        />
      )}
      {kind === "avro" && (
        <AvroView
          of={`${name} ${etag}`}
          length={length}
          read={async (bytesMax, signal) =>
            mapped(await getContent(address, { bytesMax, signal }), ({ bytes }) => bytes)
          }
        />
      )}
      {kind !== "text" && kind !== "hex" && kind !== "avro" && (
        <Media name={name} kind={kind} length={length} getUrl={() => readUrl(address)} />
      )}
    </>
  );
}
