import type { JSX } from "preact";
import type { MessageInFlight } from "../admin/live.ts";
import { plural } from "../format.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import { putMessage, takeMessages, updateMessage, type QueuePlace } from "../rest/queue.ts";
import { readableText } from "./decoding.ts";
import { base64Of, rememberMessage, wholeText } from "./message-text.ts";

export interface MessageDialogProps {
  readonly place: QueuePlace;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const weekSeconds = 604_800;

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

export function PutDialog({ place, onClose, onDone }: MessageDialogProps): JSX.Element {
  const put = async (values: FormData): Promise<string | undefined> => {
    const result = await putMessage(place, {
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
        <Field label="Visibility timeout (seconds)" name="hidden" value="0" type="number" />
        <Field
          label="Time to live (seconds)"
          name="lives"
          value={String(weekSeconds)}
          type="number"
          hint="-1: never expires"
        />
      </div>
    </FormDialog>
  );
}

export function GetDialog({ place, onClose, onDone }: MessageDialogProps): JSX.Element {
  const take = async (values: FormData): Promise<string | undefined> => {
    const result = await takeMessages(place, {
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
        <Field label="Number of messages" name="howMany" value="1" type="number" autoFocus />
        <Field label="Visibility timeout (seconds)" name="hidden" value="30" type="number" />
      </div>
    </FormDialog>
  );
}

export interface EditDialogProps extends MessageDialogProps {
  readonly message: MessageInFlight;
}

/** Edits a message in flight. The pop receipt is the condition: the service rejects the change if
 *  another client has dequeued the message since. */
export function EditDialog({ place, message, onClose, onDone }: EditDialogProps): JSX.Element {
  const save = async (values: FormData): Promise<string | undefined> => {
    const result = await updateMessage(place, message, {
      hiddenSeconds: Number(textIn(values, "hidden")),
      text: messageText(values),
    });
    onDone();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  return (
    <FormDialog title="Edit message" action="Save" onClose={onClose} onSubmit={save}>
      <TextField text={wholeText(message.id, message.preview) ?? ""} />
      <Field label="Visibility timeout (seconds)" name="hidden" value="30" type="number" />
    </FormDialog>
  );
}
