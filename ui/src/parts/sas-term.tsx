import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { nowMilliseconds } from "../clock.ts";
import { Choice, Field } from "./field.tsx";
import { textIn } from "./form-values.ts";
import { localTime, utcTime } from "./local-time.ts";

const terms = [
  ["60", "one hour"],
  ["1440", "one day"],
  ["10080", "one week"],
  ["525600", "one year"],
  ["custom", "until a chosen time"],
] as const;
const millisecondsPerMinute = 60_000;
const weekMilliseconds = 7 * 24 * 60 * millisecondsPerMinute;

/** The fields for start and expiry of a SAS; `minutesIn` reads them. */
export function SasTerm(): JSX.Element {
  const [term, setTerm] = useState("60");
  const nextWeek = new Date(nowMilliseconds() + weekMilliseconds).toISOString();
  return (
    <div class="row">
      <Choice label="For" name="minutes" value={term} options={terms} onChange={setTerm} />
      <Field label="Start (default now)" name="startsAt" type="datetime-local" />
      {term === "custom" && (
        <Field
          label="Expiry"
          name="expiresAt"
          type="datetime-local"
          required
          value={localTime(nextWeek)}
        />
      )}
    </div>
  );
}

export interface SasTime {
  readonly minutes: number;
  readonly startsAt: string | undefined;
}

/** Start and duration that the fields of `SasTerm` have, or what is wrong with them. */
export function minutesIn(values: FormData): SasTime | string {
  const startsAt = utcTime(textIn(values, "startsAt"));
  const term = textIn(values, "minutes");
  if (term !== "custom") return { minutes: Number(term), startsAt };
  const end = utcTime(textIn(values, "expiresAt"));
  if (end === undefined) return "Expiry is missing";
  const start = startsAt === undefined ? nowMilliseconds() : Date.parse(startsAt);
  const minutes = (Date.parse(end) - start) / millisecondsPerMinute;
  return minutes > 0 ? { minutes, startsAt } : "Expiry must be later than the start";
}
