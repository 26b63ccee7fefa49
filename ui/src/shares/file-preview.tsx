import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { leaveEditor, useUnsaved } from "../edit/unsaved.ts";
import { useOptimistic, type Read } from "../edit/use-optimistic.tsx";
import { bytes } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { lazily } from "../parts/lazily.tsx";
import { Failed, Problem, Waiting } from "../parts/states.tsx";
import { HexView } from "../preview/hex-view.tsx";
import { previewKind, type PreviewKind } from "../preview/kind.ts";
import { Media } from "../preview/media.tsx";
import { ShowAs } from "../preview/show-as.tsx";
import { TextPreview } from "../preview/text-preview.tsx";
import { mapped, type Result } from "../result.ts";
import { replaceContent } from "../rest/file-write.ts";
import { getFileProperties, readContent, type FileAddress } from "../rest/file.ts";
import { fileUrl } from "./download-file.ts";

const AvroView = lazily(async () => (await import("../preview/avro-view.tsx")).AvroView);
const PdfView = lazily(async () => (await import("../preview/pdf-view.tsx")).PdfView);
/** Kinds whose elements fetch the content themselves. */
const mediaKinds: ReadonlySet<PreviewKind> = new Set(["image", "audio", "video"]);
const textBytesMax = 1024 * 1024;

interface FilePreviewProps {
  readonly address: FileAddress;
  readonly headers: Headers;
  readonly onChanged: () => void;
}

export function FilePreview({ address, headers, onChanged }: FilePreviewProps): JSX.Element {
  const [chosen, setChosen] = useState<PreviewKind>();
  const name = address.path.split("/").at(-1) ?? address.path;
  const type = headers.get("content-type") ?? "";
  const length = Number(headers.get("content-length") ?? 0);
  const found = chosen ?? previewKind(type, { name, length });
  // The file service has no queries, with which the server decodes Parquet.
  const kind = found === "parquet" ? "hex" : found;
  const read = (bytesMax: number, signal: AbortSignal) =>
    readContent(address, { bytesMax, signal });
  return (
    <>
      <ShowAs chosen={chosen} onChange={setChosen} />
      {kind === "text" && (
        <Text {...{ address, name, type, length, onChanged }} etag={headers.get("etag") ?? ""} />
      )}
      {kind === "hex" && <HexView of={address.path} length={length} read={read} />}
      {kind === "avro" && <AvroView of={address.path} length={length} read={read} />}
      {kind === "pdf" && <PdfView of={address.path} name={name} length={length} read={read} />}
      {mediaKinds.has(kind) && (
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
  readonly etag: string;
  readonly onChanged: () => void;
}

async function readText(
  address: FileAddress,
  etag: string,
  signal?: AbortSignal,
): Promise<Result<Read>> {
  const read = await readContent(address, { bytesMax: textBytesMax, ...(signal && { signal }) });
  return mapped(read, (content) => ({ text: new TextDecoder().decode(content), etag }));
}

/** The present text with its ETag: the file must not change while it is read. */
async function readPresent(address: FileAddress): Promise<Result<Read>> {
  const before = await getFileProperties(address);
  return before.ok ? readText(address, before.value.get("etag") ?? "") : before;
}

function Text(props: TextProps): JSX.Element {
  const { address, length, etag } = props;
  const loaded = useLoad((signal) => readText(address, etag, signal), [address.path, etag]);
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
      <TextEditor key={etag} {...props} began={loaded.value} />
    </>
  );
}

interface TextEditorProps extends TextProps {
  readonly began: Read;
}

/** A text that can be edited; it is saved only over the state that was loaded. */
function TextEditor(props: TextEditorProps): JSX.Element {
  const { address, name, type, length, began, onChanged } = props;
  const [text, setText] = useState(began.text);
  const [isEditing, setEditing] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const finish = (): void => {
    setSaved(true);
    setEditing(false);
    onChanged();
  };
  const saving = useOptimistic({
    what: name,
    write: (next, ifMatch) => replaceContent(address, new TextEncoder().encode(next), ifMatch),
    read: () => readPresent(address),
    onSaved: finish,
    onDiscarded: finish,
  });
  const save = (): void => void saving.save(text, began);
  const isChanged = text !== began.text;
  const editor = useUnsaved(isEditing && isChanged && !isSaved, save);
  const isEditable = address.snapshot === undefined && length <= textBytesMax;
  if (!isEditing) {
    return (
      <div class="editor">
        {isEditable && (
          <div class="editor-bar">
            <span class="grow" />
            <Button icon="edit" needs="write" onClick={() => setEditing(true)}>
              Edit
            </Button>
          </div>
        )}
        <TextPreview name={name} type={type} text={began.text} />
        {saving.dialog}
      </div>
    );
  }
  return (
    <div class="editor">
      <div class="editor-bar">
        <span class="grow soft">The file is leased while it is saved</span>
        <Button onClick={() => leaveEditor(() => setEditing(false), { editor })}>Close</Button>
        <Button kind="main" disabled={!isChanged} onClick={save}>
          Save
        </Button>
      </div>
      <textarea
        aria-label={`Text of ${name}`}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Problem text={saving.problem} />
      {saving.dialog}
    </div>
  );
}
