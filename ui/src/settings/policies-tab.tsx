import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  getPolicies,
  setPolicies,
  type PoliciesView,
  type Policy,
  type PolicyTarget,
} from "../admin/policies.ts";
import type { ServiceName } from "../admin/server.ts";
import { useUnsavedForm } from "../edit/unsaved-form.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { NamePicker } from "../parts/name-picker.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Empty, Failed, Problem, Waiting } from "../parts/states.tsx";
import { accessLevels } from "../rest/container.ts";
import { go } from "../route.ts";
import { policiesRoute } from "./policies-route.ts";
import { PolicyRows } from "./policy-rows.tsx";

const words: Readonly<Record<ServiceName, string>> = {
  blob: "Container",
  queue: "Queue",
  table: "Table",
  file: "Share",
};

/** Access level and stored access policies of one container, queue, table or share. */
export function PoliciesTab({ target }: { readonly target: PolicyTarget }): JSX.Element {
  const { account, service, container } = target;
  const open = (event: SubmitEvent): void => {
    event.preventDefault();
    const name = textIn(new FormData(event.currentTarget as HTMLFormElement), "container").trim();
    go(policiesRoute({ account, service, container: name }));
  };
  return (
    <>
      <form class="row section" onSubmit={open}>
        <NamePicker
          label={words[service]}
          name="container"
          account={account}
          service={service}
          value={container}
        />
        <Button type="submit">Show policies</Button>
      </form>
      {container === "" ? (
        <Empty>
          Stored access policies belong to one {words[service].toLowerCase()}. Enter its name.
        </Empty>
      ) : (
        <Policies target={target} />
      )}
    </>
  );
}

function Policies({ target }: { readonly target: PolicyTarget }): JSX.Element {
  const loaded = useLoad((signal) => getPolicies(target, signal), [JSON.stringify(target)]);
  const { value, failure } = loaded;
  if (failure !== undefined) {
    return <Failed what="access policies" failure={failure} onRetry={loaded.reload} />;
  }
  if (value === undefined) return <Waiting />;
  return <PoliciesForm target={target} view={value} onSaved={loaded.reload} />;
}

interface PoliciesFormProps {
  readonly target: PolicyTarget;
  readonly view: PoliciesView;
  readonly onSaved: () => void;
}

function PoliciesForm({ target, view, onSaved }: PoliciesFormProps): JSX.Element {
  const [policies, setRows] = useState<readonly Policy[]>(view.policies);
  const [level, setLevel] = useState(view.publicAccess ?? "none");
  const [problem, setProblem] = useState<string>();
  const guard = useUnsavedForm();
  const isBlob = target.service === "blob";
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    // The container must be the one that is shown: another client may have changed it.
    const own = isBlob ? { publicAccess: level, unmodifiedSince: view.lastModified } : {};
    const result = await setPolicies(target, { ...own, policies });
    setProblem(result.ok ? undefined : describeFailure(result.failure));
    if (!result.ok) return;
    notify("good", "Access policies saved");
    guard.onSaved();
    onSaved();
  };
  return (
    <form
      class="form"
      ref={guard.ref}
      onInput={guard.onInput}
      onSubmit={(event) => void save(event)}
    >
      {isBlob && (
        <Choice label="Access level" value={level} options={accessLevels} onChange={setLevel} />
      )}
      <PolicyRows
        policies={policies}
        onChange={(rows) => {
          setRows(rows);
          guard.onInput();
        }}
      />
      <Problem text={problem} />
      <div class="row">
        <Button type="submit" kind="main">
          Save policies
        </Button>
      </div>
    </form>
  );
}
