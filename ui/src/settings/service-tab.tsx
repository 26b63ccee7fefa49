import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ServiceName } from "../admin/server.ts";
import { useUnsavedForm } from "../edit/unsaved-form.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Failed, Problem, Waiting } from "../parts/states.tsx";
import {
  getServiceProperties,
  setServiceProperties,
  type CorsRule,
  type ServiceProperties,
  type Website,
} from "../rest/service-properties.ts";
import { CorsRules } from "./cors-rules.tsx";

interface ServiceTabProps {
  readonly account: string;
  readonly service: ServiceName;
}

/** CORS rules of a service; of blobs also soft delete and the static website. */
export function ServiceTab({ account, service }: ServiceTabProps): JSX.Element {
  const loaded = useLoad(
    (signal) => getServiceProperties(account, service, signal),
    [account, service],
  );
  const { value, failure } = loaded;
  if (failure !== undefined) {
    return <Failed what="service settings" failure={failure} onRetry={loaded.reload} />;
  }
  if (value === undefined) return <Waiting />;
  return <ServiceForm account={account} service={service} properties={value} />;
}

interface ServiceFormProps extends ServiceTabProps {
  readonly properties: ServiceProperties;
}

function ServiceForm({ account, service, properties }: ServiceFormProps): JSX.Element {
  const [cors, setCors] = useState<readonly CorsRule[]>(properties.cors);
  const [hasRetention, setRetention] = useState(properties.retentionDays !== undefined);
  const [hasWebsite, setWebsite] = useState(properties.website !== undefined);
  const [problem, setProblem] = useState<string>();
  const { onSaved, ...guarded } = useUnsavedForm();
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const result = await setServiceProperties(account, service, {
      cors,
      retentionDays: hasRetention ? Number(textIn(values, "days")) : undefined,
      allowsPermanentDelete: hasRetention && properties.allowsPermanentDelete,
      website: hasWebsite
        ? {
            indexDocument: textIn(values, "indexDocument").trim(),
            errorDocument: textIn(values, "errorDocument").trim(),
            defaultIndexPath: textIn(values, "defaultIndexPath").trim(),
          }
        : undefined,
    });
    setProblem(result.ok ? undefined : describeFailure(result.failure));
    if (!result.ok) return;
    onSaved();
    notify("good", "Service settings saved");
  };
  return (
    <form class="form" {...guarded} onSubmit={(event) => void save(event)}>
      {service === "blob" && (
        <>
          <SoftDelete days={properties.retentionDays} isOn={hasRetention} onChange={setRetention} />
          <StaticWebsite website={properties.website} isOn={hasWebsite} onChange={setWebsite} />
        </>
      )}
      <CorsRules
        rules={cors}
        onChange={(rules) => {
          setCors(rules);
          guarded.onInput();
        }}
      />
      <Problem text={problem} />
      <div class="row">
        <Button type="submit" kind="main">
          Save settings
        </Button>
      </div>
    </form>
  );
}

interface SwitchedProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function SoftDelete({
  days,
  isOn,
  onChange,
}: SwitchedProps & { readonly days: number | undefined }): JSX.Element {
  return (
    <fieldset class="section">
      <legend>Soft delete of blobs</legend>
      <Check checked={isOn} onChange={onChange}>
        Keep deleted blobs
      </Check>
      {isOn && <Field label="Days" name="days" type="number" required value={String(days ?? 7)} />}
    </fieldset>
  );
}

function StaticWebsite({
  website,
  isOn,
  onChange,
}: SwitchedProps & { readonly website: Website | undefined }): JSX.Element {
  const { indexDocument = "index.html", defaultIndexPath = "", errorDocument = "" } = website ?? {};
  return (
    <fieldset class="section">
      <legend>Static website</legend>
      <Check checked={isOn} onChange={onChange}>
        Serve the container $web
      </Check>
      {isOn && (
        <div class="row">
          <Field label="Index document" name="indexDocument" value={indexDocument} />
          <Field label="Default page" name="defaultIndexPath" value={defaultIndexPath} />
          <Field label="Error document" name="errorDocument" value={errorDocument} />
        </div>
      )}
    </fieldset>
  );
}
