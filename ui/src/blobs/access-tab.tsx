import type { JSX } from "preact";
import { Section } from "../parts/detail.tsx";
import { LeaseBox } from "../parts/lease-box.tsx";
import { SasForm } from "../parts/sas-form.tsx";
import { pathOf, type BlobAddress, type BlobState } from "../rest/blob.ts";

interface AccessTabProps {
  readonly address: BlobAddress;
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
export function AccessTab({ address, state, onChanged }: AccessTabProps): JSX.Element {
  const isBase = address.snapshot === undefined && address.version === undefined;
  return (
    <>
      {isBase && (
        <Section title="Lease">
          <LeaseBox
            leased={{ service: "blob", path: pathOf(address) }}
            state={state.headers.get("x-ms-lease-state") ?? "available"}
            onChanged={onChanged}
          />
        </Section>
      )}
      <SasForm
        target={{
          account: address.account,
          service: "blob",
          container: address.container,
          path: address.name,
          snapshot: address.snapshot,
          versionId: address.version,
        }}
        permissions={permissions}
      />
    </>
  );
}
