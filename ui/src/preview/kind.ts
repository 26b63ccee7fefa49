export type PreviewKind = "image" | "audio" | "video" | "text" | "hex" | "avro" | "pdf" | "parquet";

const textTypes = /^text\/|json|xml|javascript|yaml|csv|toml|x-sh|sql/;
const textNames = /\.(txt|md|json|csv|tsv|xml|ya?ml|js|ts|css|html?|log|ini|toml|sh|sql|svg)$/i;
/** Types by name, for services and clients that store none. */
const mediaNames: readonly (readonly [RegExp, PreviewKind])[] = [
  [/\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i, "image"],
  [/\.(mp3|ogg|wav|flac|m4a)$/i, "audio"],
  [/\.(mp4|webm|mov|m4v)$/i, "video"],
];

/** How a content is shown, by its type or else by its name. */
export function previewKind(
  type: string,
  { name, length }: { readonly name: string; readonly length: number },
): PreviewKind {
  const media = /^(image|audio|video)\//.exec(type.toLowerCase())?.[1];
  if (media !== undefined) return media as PreviewKind;
  if (/avro/.test(type.toLowerCase()) || /\.avro$/i.test(name)) return "avro";
  if (type.toLowerCase().endsWith("/pdf") || /\.pdf$/i.test(name)) return "pdf";
  if (/parquet/.test(type.toLowerCase()) || /\.parquet$/i.test(name)) return "parquet";
  if (textTypes.test(type.toLowerCase()) || textNames.test(name) || length === 0) return "text";
  return mediaNames.find(([pattern]) => pattern.test(name))?.[1] ?? "hex";
}
