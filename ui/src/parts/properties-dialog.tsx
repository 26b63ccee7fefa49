import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { metadataProblem } from "../edit/pair-rules.ts";
import { PairsEditor } from "../edit/pairs-editor.tsx";
import { leaveEditor } from "../edit/unsaved.ts";
import { useLoad } from "../load.ts";
import { metadataIn } from "../rest/blob.ts";
import { getOwner, replaceMetadata, type MetadataOwner } from "../rest/metadata.ts";
import { Facts, Section } from "./detail.tsx";
import { Dialog } from "./dialog.tsx";
import { describeFailure, notify } from "./notices.tsx";
import { Failed, Waiting } from "./states.tsx";

interface MetadataSectionProps {
  readonly owner: MetadataOwner;
  /** The properties that are shown. */
  readonly headers: Headers;
  readonly isEditable: boolean;
  readonly onChanged: () => void;
}

/** Shows and edits the metadata of a queue, share, file or directory. */
export function MetadataSection(props: MetadataSectionProps): JSX.Element {
  const { owner, headers, isEditable, onChanged } = props;
  const [problem, setProblem] = useState<string>();
  const shown = metadataIn(headers);
  return (
    <Section title="Metadata">
      <PairsEditor
        label="Metadata"
        pairs={shown}
        isEditable={isEditable}
        findProblem={metadataProblem}
        problem={problem}
        onSave={async (next) => {
          const result = await replaceMetadata(owner, { shown, next });
          setProblem(result.ok ? undefined : describeFailure(result.failure));
          if (!result.ok) return false;
          notify("good", "Metadata saved");
          onChanged();
          return true;
        }}
      />
    </Section>
  );
}

interface PropertiesDialogProps {
  readonly title: string;
  readonly owner: MetadataOwner;
  readonly isEditable: boolean;
  readonly facts: (headers: Headers) => Parameters<typeof Facts>[0]["facts"];
  /** Further sections. */
  readonly more?: (headers: Headers, reload: () => void) => ComponentChildren;
  readonly onClose: () => void;
}

/** The properties and the metadata of a queue or share. */
export function PropertiesDialog(props: PropertiesDialogProps): JSX.Element {
  const { title, owner, isEditable, facts, more, onClose } = props;
  const loaded = useLoad((signal) => getOwner(owner, signal), [title]);
  const { value, failure } = loaded;
  return (
    <Dialog title={title} onClose={() => leaveEditor(onClose)}>
      <div class="form">
        {failure !== undefined && (
          <Failed what="properties" failure={failure} onRetry={loaded.reload} />
        )}
        {value === undefined && failure === undefined && <Waiting />}
        {value !== undefined && (
          <>
            <Facts facts={facts(value)} />
            {more?.(value, loaded.reload)}
            <MetadataSection
              owner={owner}
              headers={value}
              isEditable={isEditable}
              onChanged={loaded.reload}
            />
          </>
        )}
      </div>
    </Dialog>
  );
}
