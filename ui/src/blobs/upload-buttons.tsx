import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { sourcesOfInput, type Source } from "../upload/source.ts";

/** Buttons that open the browser's file and folder choosers. */
export function UploadButtons({
  onChoose,
}: {
  readonly onChoose: (sources: readonly Source[]) => void;
}): JSX.Element {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const choose = (input: HTMLInputElement): void => {
    onChoose(sourcesOfInput(input.files));
    input.value = "";
  };
  return (
    <>
      <Button icon="upload" kind="main" needs="write" onClick={() => files.current?.click()}>
        Upload
      </Button>
      <Button
        icon="folder"
        label="Upload folder"
        needs="write"
        onClick={() => folder.current?.click()}
      />
      <input
        ref={files}
        hidden
        type="file"
        multiple
        data-choose="files"
        onChange={(event) => choose(event.currentTarget)}
      />
      <input
        ref={folder}
        hidden
        type="file"
        multiple
        data-choose="folder"
        {...{ webkitdirectory: true }}
        onChange={(event) => choose(event.currentTarget)}
      />
    </>
  );
}
