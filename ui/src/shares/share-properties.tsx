import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { moment } from "../format.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import { PropertiesDialog } from "../parts/properties-dialog.tsx";
import { Problem } from "../parts/states.tsx";
import type { Share } from "../rest/file-list.ts";
import { setShareQuota, type MetadataOwner } from "../rest/metadata.ts";

interface SharePropertiesProps {
  readonly account: string;
  readonly share: Pick<Share, "name" | "snapshot">;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** Quota and metadata of a share; those of a snapshot are only shown. */
export function ShareProperties(props: SharePropertiesProps): JSX.Element {
  const { account, share, onClose, onChanged } = props;
  const { name, snapshot } = share;
  const { manage } = useAbilities();
  const isEditable = manage && snapshot === undefined;
  const path = [account, name] as const;
  const owner: MetadataOwner = { service: "file", path, restype: "share", snapshot };
  return (
    <PropertiesDialog
      title={`Properties of ${name}`}
      owner={owner}
      isEditable={isEditable}
      facts={(headers) => [
        ["ETag", <code>{headers.get("etag")}</code>],
        ["Modified", moment(headers.get("last-modified") ?? "")],
        ["Tier", headers.get("x-ms-access-tier")],
        ["Lease", headers.get("x-ms-lease-state")],
        ...(isEditable ? [] : [["Quota", `${headers.get("x-ms-share-quota")} GiB`] as const]),
      ]}
      more={(headers, reload) =>
        isEditable && (
          <Quota
            path={path}
            gibibytes={headers.get("x-ms-share-quota") ?? ""}
            onChanged={() => {
              reload();
              onChanged();
            }}
          />
        )
      }
      onClose={onClose}
    />
  );
}

interface QuotaProps {
  readonly path: MetadataOwner["path"];
  readonly gibibytes: string;
  readonly onChanged: () => void;
}

function Quota({ path, gibibytes, onChanged }: QuotaProps): JSX.Element {
  const [problem, setProblem] = useState<string>();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const result = await setShareQuota(path, textIn(values, "quota"));
    setProblem(result.ok ? undefined : describeFailure(result.failure));
    if (!result.ok) return;
    notify("good", "Quota saved");
    onChanged();
  };
  return (
    <form class="row" onSubmit={(event) => void submit(event)}>
      <Field label="Quota (GiB)" name="quota" type="number" value={gibibytes} required />
      <Button type="submit">Save quota</Button>
      <Problem text={problem} />
    </form>
  );
}
