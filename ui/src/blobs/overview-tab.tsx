import type { JSX } from "preact";
import { bytes, count, moment } from "../format.ts";
import { pairsToText, textToPairs } from "../edit/pairs.ts";
import { PairsEditor } from "../edit/pairs-editor.tsx";
import { headersProblem } from "../edit/pair-rules.ts";
import { useOptimistic } from "../edit/use-optimistic.tsx";
import { Facts, Section } from "../parts/detail.tsx";
import { Choice } from "../parts/field.tsx";
import { report } from "../parts/notices.tsx";
import { setTier } from "../rest/blob-actions.ts";
import {
  contentHeaders,
  getProperties,
  setProperties,
  type BlobAddress,
  type BlobState,
} from "../rest/blob.ts";

interface OverviewTabProps {
  readonly address: BlobAddress;
  readonly state: BlobState;
  readonly isEditable: boolean;
  readonly onChanged: () => void;
}

const tiers = ["Hot", "Cool", "Cold", "Archive"].map((tier) => [tier, tier] as const);

function contentPairs({ headers }: BlobState): Readonly<Record<string, string>> {
  const names = Object.keys(contentHeaders);
  return Object.fromEntries(names.flatMap((name) => [[name, headers.get(name) ?? ""]]));
}

/** Properties of a blob, with its tier and content headers to edit. */
export function OverviewTab({
  address,
  state,
  isEditable,
  onChanged,
}: OverviewTabProps): JSX.Element {
  const began = { text: pairsToText(contentPairs(state)), etag: state.etag };
  const properties = useOptimistic({
    what: "Properties",
    write: (text, ifMatch) => setProperties(address, filled(textToPairs(text)), { ifMatch }),
    read: async () => {
      const found = await getProperties(address);
      if (!found.ok) return found;
      const text = pairsToText(contentPairs(found.value));
      return { ok: true, value: { text, etag: found.value.etag } };
    },
    onSaved: onChanged,
    onDiscarded: onChanged,
  });
  const changeTier = async (wanted: string): Promise<void> => {
    if (report(await setTier(address, wanted), `Access tier set to ${wanted}`)) onChanged();
  };
  const tier = state.headers.get("x-ms-access-tier");
  return (
    <>
      <StateSection address={address} state={state} />
      {tier !== null && isEditable && (
        <Section title="Access tier">
          <Choice
            label="Tier"
            value={tier}
            options={tiers}
            onChange={(wanted) => void changeTier(wanted)}
          />
        </Section>
      )}
      <Section title="Content headers">
        <PairsEditor
          key={properties.formKey}
          label="Header"
          pairs={filled(contentPairs(state))}
          isEditable={isEditable}
          findProblem={(pairs) => headersProblem(pairs, Object.keys(contentHeaders))}
          problem={properties.problem}
          onSave={(pairs) => properties.save(pairsToText(pairs), began)}
        />
      </Section>
      {properties.dialog}
    </>
  );
}

function StateSection({
  address,
  state,
}: Pick<OverviewTabProps, "address" | "state">): JSX.Element {
  const header = (name: string): string | undefined => state.headers.get(name) ?? undefined;
  return (
    <Section title="State">
      <Facts
        facts={[
          ["ETag", <code>{state.etag}</code>],
          ["Modified", moment(state.lastModified)],
          ["Created", moment(header("x-ms-creation-time"))],
          ["Size", `${bytes(state.length)} (${count(state.length)} bytes)`],
          ["Type", header("x-ms-blob-type")],
          ["MD5", header("content-md5") && <code>{header("content-md5")}</code>],
          ["Version", address.version ?? header("x-ms-version-id")],
          ["Snapshot", address.snapshot],
          ["Lease", `${header("x-ms-lease-state") ?? ""} ${header("x-ms-lease-duration") ?? ""}`],
          ["Copied from", header("x-ms-copy-source")],
          ["Copy", header("x-ms-copy-status")],
          ["Archive", header("x-ms-archive-status")],
        ]}
      />
    </Section>
  );
}

function filled(pairs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== ""));
}
