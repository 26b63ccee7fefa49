import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { useLoad } from "../load.ts";
import { Empty, Failed, Waiting } from "../parts/states.tsx";
import { failed, type Result } from "../result.ts";

const pdfBytesMax = 64 * 1024 * 1024;
const pdfStart = "%PDF-";
/** A PDF may begin with other bytes, up to here. */
const startBytesMax = 1024;

interface PdfViewProps {
  /** Identifies the content: another one is loaded if it changes. */
  readonly of: string;
  readonly name: string;
  readonly length: number;
  readonly read: (
    bytesMax: number,
    signal: AbortSignal,
  ) => Promise<Result<Uint8Array<ArrayBuffer>>>;
}

/** Shows a PDF with the viewer of the browser. Its frame gets the bytes under a type that the page
 *  has chosen, so that stored content is never a page with scripts; scripts of a PDF run in the
 *  viewer and cannot reach the page. The frame has no `sandbox`: browsers show no PDF in one. */
export function PdfView(props: PdfViewProps): JSX.Element {
  const { length, name } = props;
  if (!navigator.pdfViewerEnabled) {
    return <Empty>This browser has no viewer for PDF. Download the file to view it.</Empty>;
  }
  if (length > pdfBytesMax) {
    return <Empty>PDF files are shown up to {bytes(pdfBytesMax)}. Download it to view it.</Empty>;
  }
  return <Frame key={props.of} {...props} name={name} />;
}

function Frame({ of, name, read }: PdfViewProps): JSX.Element {
  const loaded = useLoad((signal) => load(read, signal), [of]);
  const [url, setUrl] = useState<string>();
  const content = loaded.value;
  useEffect(() => {
    if (content === undefined) return undefined;
    const made = URL.createObjectURL(new Blob([content], { type: "application/pdf" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  if (loaded.failure !== undefined) {
    return <Failed what="content" failure={loaded.failure} onRetry={loaded.reload} />;
  }
  if (url === undefined) return <Waiting />;
  return <iframe class="preview-pdf" title={name} src={url} />;
}

async function load(
  read: PdfViewProps["read"],
  signal: AbortSignal,
): Promise<Result<Uint8Array<ArrayBuffer>>> {
  const content = await read(pdfBytesMax, signal);
  if (!content.ok) return content;
  const start = new TextDecoder("latin1").decode(content.value.subarray(0, startBytesMax));
  if (start.includes(pdfStart)) return content;
  return failed({ status: 400, code: "NotShown", message: "this is no PDF file" });
}
