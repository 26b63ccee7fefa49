import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { pairsToText, textToPairs } from "../edit/pairs.ts";
import { PairsEditor } from "../edit/pairs-editor.tsx";
import { metadataProblem, tagsProblem } from "../edit/pair-rules.ts";
import { useOptimistic } from "../edit/use-optimistic.tsx";
import { useLoad } from "../load.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Section } from "../parts/detail.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Failed } from "../parts/states.tsx";
import {
  getProperties,
  getTags,
  setMetadata,
  setTags,
  type BlobAddress,
  type BlobState,
} from "../rest/blob.ts";

interface MetadataTabProps {
  readonly address: BlobAddress;
  readonly state: BlobState;
  readonly isEditable: boolean;
  readonly onChanged: () => void;
}

export function MetadataTab(props: MetadataTabProps): JSX.Element {
  const { address, state, isEditable, onChanged } = props;
  // Tags are not supported in hierarchical accounts.
  const isHierarchical = useHierarchical(address.account);
  const abilities = useAbilities();
  const metadata = useOptimistic({
    what: "Metadata",
    write: (text, ifMatch) => setMetadata(address, textToPairs(text), { ifMatch }),
    read: async () => {
      const found = await getProperties(address);
      if (!found.ok) return found;
      const { metadata: pairs, etag } = found.value;
      return { ok: true, value: { text: pairsToText(pairs), etag } };
    },
    onSaved: onChanged,
    onDiscarded: onChanged,
  });
  const began = { text: pairsToText(state.metadata), etag: state.etag };
  return (
    <>
      <Section title="Metadata">
        <PairsEditor
          key={metadata.formKey}
          label="Metadata"
          pairs={state.metadata}
          isEditable={isEditable}
          findProblem={metadataProblem}
          problem={metadata.problem}
          onSave={(pairs) => metadata.save(pairsToText(pairs), began)}
        />
      </Section>
      {!isHierarchical && (
        <TagsSection address={address} isEditable={isEditable && abilities.tag} />
      )}
      {metadata.dialog}
    </>
  );
}

function TagsSection({
  address,
  isEditable,
}: {
  readonly address: BlobAddress;
  readonly isEditable: boolean;
}): JSX.Element | null {
  const loaded = useLoad((signal) => getTags(address, signal), [address.name, address.container]);
  const [problem, setProblem] = useState<string>();
  const before = loaded.value ?? {};
  // Roles that permit to read blobs do not always permit to read their tags.
  if (loaded.failure?.status === 403) return null;
  if (loaded.failure !== undefined) {
    return (
      <Section title="Tags">
        <Failed what="tags" failure={loaded.failure} onRetry={loaded.reload} />
      </Section>
    );
  }
  return (
    <Section title="Tags">
      <PairsEditor
        label="Tags"
        pairs={before}
        isEditable={isEditable}
        findProblem={tagsProblem}
        problem={problem}
        onSave={async (pairs) => {
          const result = await setTags(address, pairs, { before });
          setProblem(result.ok ? undefined : describeFailure(result.failure));
          if (!result.ok) return false;
          notify("good", "Tags saved");
          loaded.reload();
          return true;
        }}
      />
    </Section>
  );
}
