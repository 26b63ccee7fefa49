import type { JSX } from "preact";
import { Section } from "../parts/detail.tsx";
import { LeaseBox } from "../parts/lease-box.tsx";
import { SasForm } from "../parts/sas-form.tsx";
import { pathOf, type BlobPlace, type BlobState } from "../rest/blob.ts";

export interface AccessTabProps {
  readonly place: BlobPlace;
  readonly state: BlobState;
  readonly onChanged: () => void;
}

const permissions = [
  ["r", "Read"],
  ["a", "Add"],
  ["c", "Create"],
  ["w", "Write"],
  ["d", "Delete"],
  ["t", "Tags"],
  ["i", "Immutability"],
] as const;

/** Lease and SAS of a blob. Snapshots and versions have no lease. */
export function AccessTab({ place, state, onChanged }: AccessTabProps): JSX.Element {
  const isBase = place.snapshot === undefined && place.version === undefined;
  return (
    <>
      {isBase && (
        <Section title="Lease">
          <LeaseBox
            leased={{ service: "blob", path: pathOf(place) }}
            state={state.headers.get("x-ms-lease-state") ?? "available"}
            onChanged={onChanged}
          />
        </Section>
      )}
      <SasForm
        target={{
          account: place.account,
          service: "blob",
          container: place.container,
          path: place.name,
          snapshot: place.snapshot,
          versionId: place.version,
        }}
        permissions={permissions}
      />
    </>
  );
}
