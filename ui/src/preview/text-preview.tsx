import type { JSX } from "preact";
import { prettyJson } from "../blobs/pretty-json.ts";
import { CsvTable } from "./csv-table.tsx";

/** Characters up to which JSON is indented. */
const jsonCharactersMax = 1024 * 1024;

interface TextPreviewProps {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** Shows CSV as a table, JSON indented, and other texts as they are. */
export function TextPreview({ name, type, text }: TextPreviewProps): JSX.Element {
  if (/csv|tab-separated/.test(type) || /\.(csv|tsv)$/i.test(name)) {
    return <CsvTable text={text} separator={/tab|tsv$/i.test(type + name) ? "\t" : ","} />;
  }
  const isJson = /json/.test(type) || /\.json$/i.test(name);
  return (
    <pre class="preview-text" tabIndex={0}>
      {isJson && text.length <= jsonCharactersMax ? prettyJson(text) : text}
    </pre>
  );
}
