import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { useLoad } from "../load.ts";
import { Failed, Waiting } from "../parts/states.tsx";
import { HexView } from "../preview/hex-view.tsx";
import { previewKind, type PreviewKind } from "../preview/kind.ts";
import { Media } from "../preview/media.tsx";
import { ShowAs } from "../preview/show-as.tsx";
import { TextPreview } from "../preview/text-preview.tsx";
import { mapped } from "../result.ts";
import { readContent, type FileAddress } from "../rest/file.ts";
import { fileUrl } from "./download-file.ts";

const textBytesMax = 1024 * 1024;

interface FilePreviewProps {
  readonly address: FileAddress;
  readonly headers: Headers;
}

export function FilePreview({ address, headers }: FilePreviewProps): JSX.Element {
  const [chosen, setChosen] = useState<PreviewKind>();
  const name = address.path.split("/").at(-1) ?? address.path;
  const type = headers.get("content-type") ?? "";
  const length = Number(headers.get("content-length") ?? 0);
  const kind = chosen ?? previewKind(type, { name, length });
  return (
    <>
      <ShowAs chosen={chosen} onChange={setChosen} />
      {kind === "text" && <Text address={address} name={name} type={type} length={length} />}
      {kind === "hex" && (
        <HexView
          of={address.path}
          length={length}
          read={(bytesMax, signal) => readContent(address, { bytesMax, signal })}
        />
      )}
      {kind !== "text" && kind !== "hex" && (
        <Media name={name} kind={kind} length={length} getUrl={() => fileUrl(address)} />
      )}
    </>
  );
}

interface TextProps {
  readonly address: FileAddress;
  readonly name: string;
  readonly type: string;
  readonly length: number;
}

function Text({ address, name, type, length }: TextProps): JSX.Element {
  const loaded = useLoad(
    async (signal) =>
      mapped(await readContent(address, { bytesMax: textBytesMax, signal }), (content) =>
        new TextDecoder().decode(content),
      ),
    [address.path],
  );
  if (loaded.failure !== undefined) {
    return <Failed what="content" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  return (
    <>
      {length > textBytesMax && (
        <p class="soft">
          First {bytes(textBytesMax)} of {bytes(length)}.
        </p>
      )}
      <TextPreview name={name} type={type} text={loaded.value} />
    </>
  );
}
