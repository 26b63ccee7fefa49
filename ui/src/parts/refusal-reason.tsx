import type { JSX } from "preact";
import type { Refusal } from "../admin/feed.ts";
import { duration } from "../format.ts";

const actionPrefix = "Microsoft.Storage/storageAccounts/";

function shortActions(actions: readonly string[]): string {
  return actions.map((action) => action.replace(actionPrefix, "")).join(" and ");
}

/** Shows why a request was rejected: the expected and the actual value. */
export function RefusalReason({
  refusal,
}: {
  readonly refusal: Partial<Refusal>;
}): JSX.Element | null {
  const { condition, lease, message, code, missing } = refusal;
  if (missing !== undefined) {
    return (
      <span class="reason">
        no role grants <code>{missing.actions.map(shortActions).join(" or ")}</code>
        {missing.roles.length > 0 && <>; roles that do: {missing.roles.join(", ")}</>}
      </span>
    );
  }
  if (condition !== undefined) {
    const expected = [condition.expected].flat().join(", ");
    return (
      <span class="reason">
        <code>{condition.header}</code> expected <code>{expected}</code>, found{" "}
        <code>{condition.actual ?? "nothing"}</code>
      </span>
    );
  }
  if (lease !== undefined) {
    const left =
      typeof lease.secondsLeft === "number" ? `, ${duration(lease.secondsLeft)} left` : "";
    return (
      <span class="reason">
        lease given <code>{lease.given ?? "none"}</code>, held by{" "}
        <code>{lease.holder ?? "no client"}</code> ({lease.state}
        {left})
      </span>
    );
  }
  const words = (message ?? code ?? "").split("\n", 1)[0] ?? "";
  return words === "" ? null : <span class="reason">{words}</span>;
}
