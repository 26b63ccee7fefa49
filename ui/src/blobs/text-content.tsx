import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { StaleBadge } from "../edit/stale-badge.tsx";
import { leaveEditor, useUnsaved } from "../edit/unsaved.ts";
import { useOptimistic, type Read } from "../edit/use-optimistic.tsx";
import { bytes, shortEtag } from "../format.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Failed, Problem, Waiting } from "../parts/states.tsx";
import type { Result } from "../result.ts";
import {
  getContent,
  getKeptTags,
  keptHeaders,
  putBlob,
  type BlobAddress,
  type BlobState,
} from "../rest/blob.ts";
import { TextPreview } from "../preview/text-preview.tsx";

const textBytesMax = 1024 * 1024;

export interface TextContentProps {
  readonly address: BlobAddress;
  readonly state: BlobState;
  readonly isEditable: boolean;
  readonly onChanged: () => void;
  readonly onEditing?: (isEditing: boolean) => void;
}

function tooLong(length: number, shown: number): string | undefined {
  if (length <= shown) return undefined;
  return `First ${bytes(shown)} of ${bytes(length)}; too large to edit here.`;
}

interface Content extends Read {
  readonly state: BlobState;
}

async function readText(
  address: BlobAddress,
  signal: AbortSignal | undefined,
): Promise<Result<Content>> {
  const found = await getContent(address, { bytesMax: textBytesMax, signal });
  if (!found.ok) return found;
  const { state, bytes: read } = found.value;
  const text = new TextDecoder().decode(read);
  return { ok: true, value: { text, etag: state.etag, state } };
}

export function TextContent(props: TextContentProps): JSX.Element {
  const { address, isEditable, onChanged, onEditing } = props;
  const loaded = useLoad((signal) => readText(address, signal), [address.name, address.container]);
  if (loaded.failure !== undefined) {
    return <Failed what="content" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  return (
    <TextEditor
      key={loaded.value.etag}
      address={address}
      began={loaded.value}
      isEditable={isEditable}
      onEditing={onEditing}
      onSaved={() => {
        loaded.reload();
        onChanged();
      }}
    />
  );
}

interface TextEditorProps {
  readonly address: BlobAddress;
  readonly began: Content;
  readonly isEditable: boolean;
  readonly onSaved: () => void;
  readonly onEditing: ((isEditing: boolean) => void) | undefined;
}

/** Saves the text with If-Match on the version that was loaded. */
function useSavedText({ address, began, onSaved }: TextEditorProps) {
  const [isSaved, setSaved] = useState(false);
  // Saving keeps the headers and metadata of the state that is replaced, which is found by its
  // ETag.
  const states = useMemo(() => new Map([[began.etag, began.state]]), [began]);
  const saving = useOptimistic({
    what: address.name.split("/").at(-1) ?? address.name,
    write: (next, ifMatch) => replaceText(address, { text: next, over: states.get(ifMatch) }),
    read: async () => {
      const found = await readText(address, undefined);
      if (found.ok) states.set(found.value.etag, found.value.state);
      return found;
    },
    onSaved: () => {
      setSaved(true);
      onSaved();
    },
    onDiscarded: () => {
      setSaved(true);
      onSaved();
    },
  });
  return { saving, isSaved };
}

function TextEditor(props: TextEditorProps): JSX.Element {
  const { address, began, isEditable } = props;
  const [text, setText] = useState(began.text);
  const [isEditing, setEditing] = useState(false);
  useEffect(() => setText(began.text), [began]);
  useEffect(() => props.onEditing?.(isEditing), [isEditing]);
  const limit = tooLong(began.state.length, textBytesMax);
  const { saving, isSaved } = useSavedText(props);
  const isBlock = began.state.headers.get("x-ms-blob-type") === "BlockBlob";
  const isChanged = text !== began.text;
  const save = (): void => void saving.save(text, began);
  const editor = useUnsaved(isEditing && isChanged && !isSaved, save);
  const close = (): void => {
    setText(began.text);
    setEditing(false);
  };
  if (!isEditing) {
    return (
      <div class="editor">
        <div class="editor-bar">
          <span class="grow soft">{limit}</span>
          {isEditable && isBlock && limit === undefined && (
            <Button icon="edit" needs="write" onClick={() => setEditing(true)}>
              Edit
            </Button>
          )}
        </div>
        <TextPreview
          name={address.name}
          type={began.state.headers.get("content-type") ?? ""}
          text={began.text}
        />
      </div>
    );
  }
  return (
    <div class="editor">
      <div class="editor-bar">
        <span class="grow soft">
          Editing <code>{shortEtag(began.etag)}</code>{" "}
          <StaleBadge address={address} etag={began.etag} />
        </span>
        <Button onClick={() => leaveEditor(close, { editor })}>Close</Button>
        <Button kind="main" disabled={!isChanged} onClick={save}>
          Save
        </Button>
      </div>
      <textarea
        aria-label={`Text of ${address.name}`}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Problem text={saving.problem} />
      {saving.dialog}
    </div>
  );
}

async function replaceText(
  address: BlobAddress,
  { text, over }: { readonly text: string; readonly over: BlobState | undefined },
): Promise<Result<string>> {
  assertKnown(over);
  const tags = await getKeptTags(address);
  if (!tags.ok) return tags;
  const kept: Record<string, string> = { ...keptHeaders(over) };
  if (Object.keys(tags.value).length > 0) {
    kept["x-ms-tags"] = new URLSearchParams(tags.value).toString();
  }
  return putBlob(address, { body: text, headers: kept, condition: { ifMatch: over.etag } });
}

function assertKnown(state: BlobState | undefined): asserts state is BlobState {
  if (state === undefined) throw new Error("no state was read for this ETag");
}
