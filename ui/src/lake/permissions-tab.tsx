import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useUnsavedForm } from "../edit/unsaved-form.ts";
import { useUnsaved } from "../edit/unsaved.ts";
import { useLoad } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Section } from "../parts/detail.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Failed, Waiting } from "../parts/states.tsx";
import { ownLease } from "../rest/own-leases.ts";
import {
  getAccessControl,
  setAccessControl,
  type AccessChange,
  type AccessControl,
  type PathAddress,
} from "../rest/path.ts";
import { AclRows } from "./acl-rows.tsx";
import { aclProblem, formatAcl, parseAcl, permissionsProblem, type AclEntry } from "./acl.ts";
import { ApplyBelow } from "./apply-below.tsx";

interface PermissionsTabProps {
  readonly address: PathAddress;
  readonly isDirectory: boolean;
}

/** Owner, group, permissions and access control list of a file or directory. */
export function PermissionsTab({ address, isDirectory }: PermissionsTabProps): JSX.Element {
  const { account, container, path } = address;
  const loaded = useLoad((signal) => getAccessControl(address, signal), [account, container, path]);
  if (loaded.failure !== undefined) {
    return <Failed what="permissions" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (loaded.value === undefined) return <Waiting />;
  const { owner, group, permissions } = loaded.value;
  const shared = { address, access: loaded.value, isDirectory, onChanged: loaded.reload };
  return (
    <>
      <OwnerForm key={`${owner} ${group} ${permissions}`} {...shared} />
      <AclForm {...shared} />
    </>
  );
}

interface FormProps extends PermissionsTabProps {
  readonly access: AccessControl;
  readonly onChanged: () => void;
}

/**
 * Changing access leaves the ETag as it is, so If-Match detects only another object of this name.
 * What another client changed meanwhile is detected by reading it again.
 */
async function save(
  { address, access }: FormProps,
  change: AccessChange,
): Promise<string | undefined> {
  const present = await getAccessControl(address);
  if (!present.ok) return describeFailure(present.failure);
  const isSame =
    present.value.acl === access.acl &&
    present.value.owner === access.owner &&
    present.value.group === access.group &&
    present.value.permissions === access.permissions;
  if (!isSame) return "Another client changed the permissions. Reload to see them.";
  const leaseId = ownLease("blob", [address.account, address.container, address.path]);
  const condition = { ifMatch: access.etag, leaseId };
  const result = await setAccessControl(address, change, condition);
  return result.ok ? undefined : describeFailure(result.failure);
}

function OwnerForm(props: FormProps): JSX.Element {
  const { access, onChanged } = props;
  const before = access.permissions.replace("+", "");
  const [owner, setOwner] = useState(access.owner);
  const [group, setGroup] = useState(access.group);
  const [permissions, setPermissions] = useState(before);
  const [problem, setProblem] = useState<string>();
  const { onSaved, ...guarded } = useUnsavedForm();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const isChanged = permissions !== before;
    const wrong =
      nameProblem("Owner", owner) ??
      nameProblem("Group", group) ??
      permissionsProblem(permissions) ??
      (await save(props, { owner, group, permissions: isChanged ? permissions : undefined }));
    setProblem(wrong);
    if (wrong !== undefined) return;
    onSaved();
    notify("good", "Permissions saved");
    onChanged();
  };
  const fields = [
    ["Owner", owner, setOwner],
    ["Group", group, setGroup],
    ["Permissions", permissions, setPermissions],
  ] as const;
  return (
    <Section title="Owner and permissions">
      <form class="pairs" {...guarded} onSubmit={(event) => void submit(event)}>
        <div class="row">
          {fields.map(([label, value, set]) => (
            <label class="field" key={label}>
              <span class="field-label">{label}</span>
              <input
                class={label === "Permissions" ? "mono" : ""}
                spellcheck={false}
                value={value}
                onInput={({ currentTarget }) => set(currentTarget.value)}
              />
            </label>
          ))}
        </div>
        <Problem text={problem} onReload={onChanged} />
        <div class="editor-bar">
          <Button type="submit" kind="main">
            Save permissions
          </Button>
        </div>
      </form>
    </Section>
  );
}

function nameProblem(label: string, text: string): string | undefined {
  return /^[\x21-\x7e]{1,256}$/.test(text)
    ? undefined
    : `${label}: must be 1 to 256 ASCII characters without spaces.`;
}

function AclForm(props: FormProps): JSX.Element {
  const { address, access, isDirectory, onChanged } = props;
  const [entries, setEntries] = useState(() => parseAcl(access.acl));
  const [problem, setProblem] = useState<string>();
  // Not by a key: the progress of a recursive change stays visible.
  useLayoutEffect(() => setEntries(parseAcl(access.acl)), [access.acl]);
  const submit = async (): Promise<void> => {
    const wrong =
      aclProblem(entries, { isDirectory, isWhole: true }) ??
      (await save(props, { acl: formatAcl(entries) }));
    setProblem(wrong);
    if (wrong !== undefined) return;
    notify("good", "Access control list saved");
    onChanged();
  };
  useUnsaved(formatAcl(entries) !== formatAcl(parseAcl(access.acl)), () => void submit());
  const edit = (next: readonly AclEntry[]): void => {
    setEntries(next);
    const rules = { isDirectory, isWhole: true };
    setProblem((before) => before && aclProblem(next, rules));
  };
  const add = (): void => {
    edit([...entries, { scope: "access", type: "user", id: "", permissions: "r--" }]);
  };
  return (
    <Section title="Access control list">
      <AclRows entries={entries} isDirectory={isDirectory} onChange={edit} />
      <Problem text={problem} onReload={onChanged} />
      <div class="editor-bar">
        <Button icon="plus" onClick={add}>
          Add entry
        </Button>
        <Button kind="main" onClick={() => void submit()}>
          Save list
        </Button>
      </div>
      {isDirectory && <ApplyBelow address={address} entries={entries} onDone={onChanged} />}
    </Section>
  );
}

interface ProblemProps {
  readonly text: string | undefined;
  readonly onReload: () => void;
}

function Problem({ text, onReload }: ProblemProps): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p class="problem" role="alert">
      {text}{" "}
      {text.includes("Reload") && (
        <Button kind="quiet" onClick={onReload}>
          Reload
        </Button>
      )}
    </p>
  );
}
