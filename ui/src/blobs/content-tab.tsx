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
const PdfView = lazily(async () => (await import("../preview/pdf-view.tsx")).PdfView);
const ParquetView = lazily(async () => (await import("../preview/parquet-view.tsx")).ParquetView);
/** Kinds whose elements fetch the content themselves. */
const mediaKinds: ReadonlySet<PreviewKind> = new Set(["image", "audio", "video"]);

export function ContentTab(props: TextContentProps): JSX.Element {
  const { address, state } = props;
  const [chosen, setChosen] = useState<PreviewKind>();
  const [isEditing, setEditing] = useState(false);
  const type = state.headers.get("content-type") ?? "";
  const { name } = address;
  const { length, etag } = state;
  const kind = chosen ?? previewKind(type, { name, length });
  const of = `${name} ${etag}`;
  const read = async (bytesMax: number, signal: AbortSignal) =>
    mapped(await getContent(address, { bytesMax, signal }), ({ bytes }) => bytes);
  return (
    <>
      {!isEditing && <ShowAs chosen={chosen} onChange={setChosen} />}
      {kind === "text" && <TextContent {...props} onEditing={setEditing} />}
      {kind === "hex" && <HexView of={of} length={length} read={read} />}
      {kind === "avro" && <AvroView of={of} length={length} read={read} />}
      {kind === "pdf" && <PdfView of={of} name={name} length={length} read={read} />}
      {kind === "parquet" && <ParquetView address={address} etag={etag} length={length} />}
      {mediaKinds.has(kind) && (
        <Media name={name} kind={kind} length={length} getUrl={() => readUrl(address)} />
      )}
    </>
  );
}
