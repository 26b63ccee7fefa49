import type { JSX } from "preact";
import type { MessageInFlight } from "../admin/live.ts";
import { plural } from "../format.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import { putMessage, takeMessages, updateMessage, type QueueAddress } from "../rest/queue.ts";
import { readableText } from "./decoding.ts";
import { base64Of, rememberMessage, wholeText } from "./message-text.ts";

interface MessageDialogProps {
  readonly address: QueueAddress;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const weekSeconds = 604_800;

interface NumberRule {
  readonly label: string;
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

const hiddenRule = {
  label: "Visibility timeout (seconds)",
  name: "hidden",
  min: 0,
  max: weekSeconds,
} as const;
const livesRule = {
  label: "Time to live (seconds)",
  name: "lives",
  min: -1,
  max: 2 ** 31 - 1,
} as const;
const countRule = { label: "Number of messages", name: "howMany", min: 1, max: 32 } as const;

/** The first mistake in number fields, as a sentence that names the field. */
function numbersProblem(values: FormData, rules: readonly NumberRule[]): string | undefined {
  const wrong = rules.find(({ name, min, max }) => {
    const text = textIn(values, name);
    const value = Number(text);
    return text === "" || !Number.isInteger(value) || value < min || value > max;
  });
  return wrong && `${wrong.label}: must be a whole number from ${wrong.min} to ${wrong.max}.`;
}

function TextField({ text }: { readonly text: string }): JSX.Element {
  const readable = readableText(text);
  return (
    <>
      <label class="field">
        <span class="field-label">Text</span>
        <textarea name="text" rows={6} autoFocus required defaultValue={readable} />
      </label>
      <Check name="base64" checked={readable !== text}>
        Encode as Base64
      </Check>
    </>
  );
}

function messageText(values: FormData): string {
  const text = textIn(values, "text");
  return values.has("base64") ? base64Of(text) : text;
}

export function PutDialog({ address, onClose, onDone }: MessageDialogProps): JSX.Element {
  const put = async (values: FormData): Promise<string | undefined> => {
    const mistake = numbersProblem(values, [hiddenRule, livesRule]);
    if (mistake !== undefined) return mistake;
    const result = await putMessage(address, {
      text: messageText(values),
      hiddenSeconds: Number(textIn(values, "hidden")),
      livesSeconds: Number(textIn(values, "lives")),
    });
    onDone();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  return (
    <FormDialog title="Put message" action="Put" onClose={onClose} onSubmit={put}>
      <TextField text="" />
      <div class="row">
        <Field label={hiddenRule.label} name="hidden" value="0" type="number" />
        <Field
          label={livesRule.label}
          name="lives"
          value={String(weekSeconds)}
          type="number"
          hint="-1: never expires"
        />
      </div>
    </FormDialog>
  );
}

export function GetDialog({ address, onClose, onDone }: MessageDialogProps): JSX.Element {
  const take = async (values: FormData): Promise<string | undefined> => {
    const mistake = numbersProblem(values, [countRule, { ...hiddenRule, min: 1 }]);
    if (mistake !== undefined) return mistake;
    const result = await takeMessages(address, {
      howMany: Number(textIn(values, "howMany")),
      hiddenSeconds: Number(textIn(values, "hidden")),
    });
    onDone();
    if (!result.ok) return describeFailure(result.failure);
    for (const { id, text, popReceipt } of result.value) rememberMessage(id, text, popReceipt);
    notify("good", `Dequeued ${plural(result.value.length, "message")}`);
    return undefined;
  };
  return (
    <FormDialog title="Get messages" action="Get" onClose={onClose} onSubmit={take}>
      <p class="soft">
        The messages are invisible to other clients until the visibility timeout ends.
      </p>
      <div class="row">
        <Field label={countRule.label} name="howMany" value="1" type="number" autoFocus />
        <Field label={hiddenRule.label} name="hidden" value="30" type="number" />
      </div>
    </FormDialog>
  );
}

interface EditDialogProps extends MessageDialogProps {
  readonly message: MessageInFlight;
}

/** Edits a message in flight. The pop receipt is the condition: the service rejects the change if
 *  another client has dequeued the message since. */
export function EditDialog({ address, message, onClose, onDone }: EditDialogProps): JSX.Element {
  const save = async (values: FormData): Promise<string | undefined> => {
    const mistake = numbersProblem(values, [hiddenRule]);
    if (mistake !== undefined) return mistake;
    const result = await updateMessage(address, message, {
      hiddenSeconds: Number(textIn(values, "hidden")),
      text: messageText(values),
    });
    onDone();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  return (
    <FormDialog title="Edit message" action="Save" onClose={onClose} onSubmit={save}>
      <TextField text={wholeText(message.id, message.preview) ?? ""} />
      <Field label={hiddenRule.label} name="hidden" value="30" type="number" />
    </FormDialog>
  );
}
