import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failed, Waiting } from "./states.tsx";

const failure = { status: 0, code: "Unreachable", message: "A part of this page was not loaded" };

/** A component whose code is loaded when it is first shown, so that the first load stays small. */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props): JSX.Element {
    const [Found, setFound] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [hasFailed, setFailed] = useState(false);
    const begin = async (): Promise<void> => {
      try {
        loaded = await load();
        setFound(() => loaded);
        setFailed(false);
      } catch {
        setFailed(true);
      }
    };
    useEffect(() => {
      if (loaded === undefined) void begin();
    }, []);
    if (Found !== undefined) return <Found {...props} />;
    if (!hasFailed) return <Waiting />;
    return <Failed what="this view" failure={failure} onRetry={() => void begin()} />;
  };
}
